// A handler without SA_RESTART ends a wait for a lock with EINTR; with it, the wait goes on. The holder gives
// the lock up when it hears from the rank that waits. For: alarm() around F_SETLKW, as mail programs and
// SQLite do.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/time.h>

#include "../signals/check.h"

static volatile int handled = 0;
static void count(int number) {
  (void)number;
  ++handled;
}

enum { kRecord, kDescription, kFile };

static int lock(int file, int kind, int waits) {
  struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (kind == kRecord) return fcntl(file, waits ? F_SETLKW : F_SETLK, &all);
  if (kind == kDescription) return fcntl(file, waits ? F_OFD_SETLKW : F_OFD_SETLK, &all);
  return flock(file, LOCK_EX | (waits ? 0 : LOCK_NB));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  char name[64] = "";
  if (rank == 0) snprintf(name, sizeof name, "/tmp/clump_interrupted_%d", (int)getpid());
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  install(SIGALRM, count, 0);
  for (int kind = kRecord; kind <= kFile; ++kind) {
    const int file = open(name, O_RDWR | O_CREAT, 0600);
    CHECK(file > 2);
    if (rank == 0) CHECK(lock(file, kind, 0) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
      const struct itimerval soon = {{0, 0}, {0, 3000}};
      handled = 0;
      setitimer(ITIMER_REAL, &soon, NULL);
      CHECK(lock(file, kind, 1) == -1 && errno == EINTR && handled == 1);
      MPI_Send(NULL, 0, MPI_INT, 0, kind, MPI_COMM_WORLD);
      install(SIGALRM, count, SA_RESTART);
      setitimer(ITIMER_REAL, &soon, NULL);
      CHECK(lock(file, kind, 1) == 0);
      install(SIGALRM, count, 0);
    } else if (rank == 0) {
      MPI_Recv(NULL, 0, MPI_INT, 1, kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    close(file);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) unlink(name);
  return end();
}
