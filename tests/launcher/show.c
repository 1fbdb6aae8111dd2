/* What a rank sees: "rank size argc argument... | variable=value... | working directory | line of standard
 * input". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(NULL, NULL);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("%d %d", rank, size);
  for (int i = 1; i < argc; ++i) printf(" %s", argv[i]);
  const char* names[] = {"LAUNCHER_A",  "LAUNCHER_B",   "LD_PRELOAD",
                         "LD_BIND_NOW", "CLUMP_JOB_FD", "CLUMP_CONTROL_FD"};
  printf(" |");
  for (unsigned i = 0; i < sizeof names / sizeof *names; ++i) {
    if (getenv(names[i]) != NULL) printf(" %s=%s", names[i], getenv(names[i]));
  }
  char directory[4096];
  printf(" | %s |", getcwd(directory, sizeof directory));
  char line[100];
  if (argc > 1 && argv[1][0] == 'i')
    printf(" %s", fgets(line, sizeof line, stdin) != NULL ? line : "nothing\n");
  else
    printf("\n");
  MPI_Finalize();
  return 0;
}
