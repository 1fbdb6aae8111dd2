// A handler writes into a pipe of its rank, whose event loop polls it; and alarm() ends a read() that takes
// too long.
// For: event loops with the self-pipe trick (libuv, libevent, GLib), time-outs of blocking calls by alarm().
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/time.h>

#include "check.h"

static int ends[2];
static void tell(int number) {
  const int error = errno;
  const char byte = (char)number;
  (void)!write(ends[1], &byte, 1);
  errno = error;
}
static void nothing(int number) { (void)number; }

int main(int argc, char** argv) {
  begin(&argc, &argv);
  CHECK(pipe(ends) == 0 && fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
  install(SIGUSR1, tell, SA_RESTART);
  install(SIGALRM, tell, SA_RESTART);
  MPI_Barrier(MPI_COMM_WORLD);
  // Each rank has as many as its number, and one alarm.
  for (int i = 0; i < rank; ++i) raise(SIGUSR1);
  struct itimerval soon = {{0, 0}, {0, 100000}};
  setitimer(ITIMER_REAL, &soon, NULL);
  int users = 0, alarms = 0;
  while (alarms == 0) {
    struct pollfd one = {ends[0], POLLIN, 0};
    const int ready = poll(&one, 1, 10000);
    CHECK(ready == 1 || (ready == -1 && errno == EINTR));
    char byte;
    while (ready == 1 && poll(&one, 1, 0) == 1 && read(ends[0], &byte, 1) == 1) {
      users += byte == SIGUSR1;
      alarms += byte == SIGALRM;
    }
  }
  CHECK(users == rank && alarms == 1);
  MPI_Barrier(MPI_COMM_WORLD);
  install(SIGALRM, nothing, 0);
  setitimer(ITIMER_REAL, &soon, NULL);
  char byte;
  CHECK(read(ends[0], &byte, 1) == -1 && errno == EINTR);
  return end();
}
