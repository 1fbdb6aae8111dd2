/* jumps LIBRARY: while a rank is in dlopen(), fork() in another rank waits for it, also after a constructor
   has jumped within itself. It waits for 500 naps of 50 us at most; without a reason it takes none. */
#define _GNU_SOURCE
#include "plugin.h"

#include <sys/wait.h>
#include <unistd.h>

void constructor_has_jumped(void) {
  MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
  MPI_Recv(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 2) return 2;
  if (rank == 0) dlclose(opened(argv[1], RTLD_NOW));
  if (rank == 1) {
    MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double begin = MPI_Wtime();
    const pid_t child = fork();
    if (child == 0) _exit(0);
    EXPECT(MPI_Wtime() - begin >= 500 * 50e-6);
    EXPECT(child > 0 && waitpid(child, NULL, 0) == child);
    MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return failures != 0;
}
