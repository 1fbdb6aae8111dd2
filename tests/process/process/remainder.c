// A rank that is done with MPI becomes another program. Run with: echo | code | signal | failing.
//
// Stands for programs that end with exec of a script or of a tool that looks at their results. Right: the
// output of all is there, exit handlers do not run, the job ends with the code or the signal of what ran
// last, and exec of what is no program returns with errno.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char** environ;
static int bad, rank;

static void check(int result, int wanted, const char* what) {
  if (result == -1 && errno == wanted) return;
  printf("rank %d: %s: %d, %s\n", rank, what, result, strerror(errno));
  bad = 1;
}

static void failing(void) {
  char* words[] = {"x", NULL};
  check(execv("/no/such", words), ENOENT, "execv of nothing");
  check(execl("/etc/passwd", "x", (char*)NULL), EACCES, "execl of a file that is no program");
  check(execvp("no-such-program-anywhere", words), ENOENT, "execvp of nothing");
  check(execlp("", "x", (char*)NULL), ENOENT, "execlp of an empty name");
  check(execle("/bin/sh/x", "x", (char*)NULL, environ), ENOTDIR, "execle below a file");
  check(execvpe("/etc", words, environ), EACCES, "execvpe of a folder");
  check(execveat(AT_FDCWD, "", words, environ, 0), ENOENT, "execveat of an empty path");
  check(fexecve(12345, words, environ), EBADF, "fexecve of a closed descriptor");
  const size_t bytes = 3 << 20;
  char* const long_word = malloc(bytes);
  memset(long_word, 'x', bytes - 1);
  long_word[bytes - 1] = '\0';
  char* too_long[] = {"x", long_word, NULL};
  check(execv("/bin/true", too_long), E2BIG, "execv with 3 MB of arguments");
  free(long_word);
}

static void never(void) { printf("rank %d: an exit handler runs\n", rank), fflush(stdout); }

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "echo";
  int sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!strcmp(mode, "failing")) failing();
  MPI_Allreduce(&bad, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (!strcmp(mode, "failing")) {
    if (rank == 0) printf("failing: %s\n", sum ? "WRONG" : "ok");
    return sum != 0;
  }
  atexit(never);
  char number[16], here[4096];
  snprintf(number, sizeof number, "%d", rank);
  setenv("REMAINDER_RANK", number, 1);  // each rank its own
  if (rank == 1 && chdir("/") != 0) return 3;
  if (!strcmp(mode, "code")) execlp("sh", "sh", "-c", rank == 2 ? "exit 7" : "exit 0", (char*)NULL);
  if (!strcmp(mode, "signal")) execlp("sh", "sh", "-c", rank == 2 ? "kill -TERM $$" : "exit 0", (char*)NULL);
  snprintf(here, sizeof here,
           "echo \"rank $REMAINDER_RANK of $0 in $([ \"$PWD\" = / ] && echo root || echo home)\"");
  execlp("sh", "sh", "-c", here, "remainder", (char*)NULL);
  perror("execlp");
  return 4;
}
