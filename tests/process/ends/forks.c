// Children leave by exit(): that runs their destructors, but those that have begun, and writes nothing of
// what other ranks are printing.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kGood = 7, kOfConstructor };

static int is_child, bad;

static void make_child(int code) {
  const pid_t child = fork();
  if (child == 0) {
    is_child = code;
    exit(code);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != kGood) bad = 1;
}

__attribute__((constructor)) static void begin(void) { make_child(kOfConstructor); }

__attribute__((destructor)) static void end(void) {
  if (is_child == kOfConstructor) _exit(kGood);
  if (is_child) return;
  make_child(kGood);
  if (bad) _exit(1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; rank == 0 && i < 20000; ++i) puts("line");
  for (int i = 0; rank != 0 && i < 20; ++i) make_child(kGood);
  MPI_Finalize();
  if (rank == 0) printf("finalized last\n");
  return 0;
}
