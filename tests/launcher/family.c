/* Rank 0 starts a process that outlives it, tells its number, and all ranks sleep. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
  MPI_Init(NULL, NULL);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    if (system("setsid sleep 300 >/dev/null 2>&1 & echo child $!") != 0) return 1;
    printf("host %d\n", (int)getpid());
    fflush(stdout);
  }
  sleep(300);
  MPI_Finalize();
  return 0;
}
