// A child of fork() flushes the streams that it opens, also those whose numbers other ranks have in the
// parent.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kStreams = 60 };

static int count_unwritten(void) {
  int unwritten = 0;
  for (int i = 0; i < kStreams; ++i) {
    char path[] = "/tmp/clump-fork-streams-XXXXXX";
    struct stat status;
    FILE* const stream = fdopen(mkstemp(path), "a");
    FILE* const opened = stream != NULL ? fopen(path, "a") : NULL;
    if (opened == NULL) return 1;
    fputs("text", stream);
    fputs("text", opened);
    fflush(NULL);
    unwritten += stat(path, &status) != 0 || status.st_size != 8;
    unlink(path);
  }
  return unwritten;
}

int main(int argc, char** argv) {
  int rank, status = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 30; ++i) (void)!fopen("/dev/null", "r");
  MPI_Barrier(MPI_COMM_WORLD);
  const pid_t child = rank == 0 ? fork() : -1;
  if (child == 0) _exit(count_unwritten());
  if (rank == 0 && (waitpid(child, &status, 0) != child || status != 0)) printf("%d\n", WEXITSTATUS(status));
  MPI_Finalize();
  return status != 0;
}
