// What a rank cannot do without taking something from others, and what Clump cannot follow: the rank is told
// which option helps, and nothing happens silently. Argument: replace | uring | clone3 | subreaper | memory |
// domain.
#define _GNU_SOURCE
#include <fcntl.h>
#include <libintl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../files/check.h"

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  const char* const what = argc > 1 ? argv[1] : "";
  const int file = open("/dev/null", O_RDONLY);
  int others = file;
  MPI_Bcast(&others, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (strcmp(what, "domain") == 0) {
    bindtextdomain("same", "/tmp");
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 1) bindtextdomain("same", "/usr");
  } else if (check_rank == 1) {
    char room[256];
    memset(room, 0, sizeof room);
    struct rlimit limit;
    if (strcmp(what, "replace") == 0) check(dup2(file, others) == others, "dup2: %s", strerror(errno));
    if (strcmp(what, "uring") == 0) close((int)syscall(SYS_io_uring_setup, 4, room));
    if (strcmp(what, "clone3") == 0) {
      const long child = syscall(SYS_clone3, room, 64L);
      if (child == 0) _exit(0);
      if (child > 0) waitpid((pid_t)child, NULL, __WALL);
    }
    if (strcmp(what, "subreaper") == 0) check(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0, "prctl");
    if (strcmp(what, "memory") == 0) {
      getrlimit(RLIMIT_AS, &limit);
      limit.rlim_cur = (rlim_t)1 << 40;
      check(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit: %s", strerror(errno));
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return check_end();
}
