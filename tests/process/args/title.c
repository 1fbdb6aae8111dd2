// The arguments and the environment of a rank lie one after the other, as the kernel makes them for a
// process: programs write their title over them (setproctitle), as far as they find them without a gap.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, wrong;

static void check_next(const char* what, const char* entry, const char** end) {
  static const char* before;
  const int again = entry == before;  // the last one may be there twice, so that the vector stays aligned
  before = entry;
  if (*end != NULL && entry != *end && !again) {
    ++wrong;
    printf("rank %d: %s does not follow what is before it\n", rank, what);
  }
  *end = entry + strlen(entry) + 1;
}

int main(int argc, char** argv, char** environment) {
  const char* end = NULL;
  for (int i = 0; i < argc; ++i) check_next("an argument", argv[i], &end);
  for (char** entry = environment; *entry != NULL; ++entry) check_next(*entry, *entry, &end);
  if (argv[argc] != NULL || argv + argc + 1 != environment) ++wrong;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char title[64];
  snprintf(title, sizeof title, "title of rank %d", rank);
  strcpy(argv[0], title);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(argv[0], title) != 0) ++wrong;
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (all != 0 && rank == 0) printf("%d faults\n", all);
  return all != 0;
}
