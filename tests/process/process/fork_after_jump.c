// A rank leaves getaddrinfo() by siglongjmp() out of a handler, as libcurl does. fork() in another rank waits
// for ranks that are in such functions, a while at most. Right: not for one that has left it. Counted is how
// often the thread that forks has gone to sleep.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <resolv.h>
#include <setjmp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "../signals/check.h"

static sigjmp_buf out;
static void jump(int number) {
  (void)number;
  siglongjmp(out, 1);
}

/// Asks a server that never answers. 0: the question was not sent, as this machine asks no server.
static int leave_a_question(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t bytes = sizeof address;
  const int silent = socket(AF_INET, SOCK_DGRAM, 0);
  CHECK(bind(silent, (struct sockaddr*)&address, sizeof address) == 0);
  CHECK(getsockname(silent, (struct sockaddr*)&address, &bytes) == 0);
  res_init();
  _res.nscount = 1;
  _res.nsaddr_list[0] = address;
  _res.retrans = 60;
  _res.retry = 1;
  install(SIGALRM, jump, 0);
  int has_left = 1;
  if (sigsetjmp(out, 1) == 0) {
    const struct itimerval soon = {{0, 0}, {0, 50000}}, never = {{0, 0}, {0, 0}};
    struct addrinfo* found = NULL;
    setitimer(ITIMER_REAL, &soon, NULL);
    if (getaddrinfo("no-such-host.example.", "80", NULL, &found) == 0) freeaddrinfo(found);
    setitimer(ITIMER_REAL, &never, NULL);
    has_left = 0;
  }
  close(silent);
  return has_left;
}

static long sleeps(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

/// The least that one of several fork() takes, as other things may make one of them sleep.
static long sleeps_in_fork(void) {
  long least = 1000000;
  for (int i = 0; i < 5; ++i) {
    const long before = sleeps();
    const pid_t child = fork();
    if (child == 0) _exit(0);
    const long count = sleeps() - before;
    if (count < least) least = count;
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
  }
  return least;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  int has_left = 0;
  if (rank == 0) has_left = leave_a_question();
  MPI_Bcast(&has_left, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0 && !has_left) printf("this machine asks no server for names: nothing is left\n");
  if (rank == 1) {
    const long count = sleeps_in_fork();
    if (count > 100) printf("fork() has slept %ld times\n", count);
    CHECK(count <= 100);  // 500 where it waits
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return end();
}
