/* idle SECONDS: all ranks wait for a message of rank 0, which sleeps: the process uses less than 1 % of a
   core. */
#include <sys/resource.h>

#include "stress.h"

static double processor_time(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

int main(int argc, char** argv) {
  stress_begin(&argc, &argv, "0");
  const int how_long = argc > 1 ? atoi(argv[1]) : 3;
  MPI_Barrier(MPI_COMM_WORLD);
  if (stress_rank == 0) {
    usleep(200000); /* until the others have come to their MPI_Recv */
    const double before = processor_time();
    sleep((unsigned)how_long);
    const double used = processor_time() - before;
    printf("idle: %d ranks used %.2f %% of a core\n", stress_size, used / how_long * 100);
    if (used > 0.01 * how_long) STRESS_FAIL("%.3f s of processor time in %d s", used, how_long);
    for (int rank = 1; rank < stress_size; ++rank) MPI_Send(NULL, 0, MPI_INT, rank, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
