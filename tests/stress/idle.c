/* idle SECONDS: all ranks wait for a message of rank 0, which sleeps: the process hardly ever wakes
 * meanwhile. */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/syscall.h>

#include "stress.h"

/* Of the process so far. The C library's function tells the processor time of the calling rank. */
static void used(double* processor_time, long* naps) {
  struct rusage usage;
  syscall(SYS_getrusage, RUSAGE_SELF, &usage);
  *processor_time = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
  *naps = usage.ru_nvcsw;
}

int main(int argc, char** argv) {
  stress_begin(&argc, &argv, "0");
  const int how_long = argc > 1 ? atoi(argv[1]) : 3;
  MPI_Barrier(MPI_COMM_WORLD);
  if (stress_rank == 0) {
    double time_before, time;
    long naps_before, naps;
    usleep(200000); /* until the others have come to their MPI_Recv */
    used(&time_before, &naps_before);
    sleep((unsigned)how_long);
    used(&time, &naps);
    time -= time_before, naps -= naps_before;
    printf("idle: %d ranks took %ld naps and %.2f %% of a core in %d s\n", stress_size, naps,
           time / how_long * 100, how_long);
    /* 14 naps were usual in 3 s. A thread that looks every 5 ms takes 600. */
    if (naps > 100L * how_long) STRESS_FAIL("%ld naps in %d s", naps, how_long);
    /* What does not nap at all uses a core, or half of it beside another program. */
    if (time > 0.25 * how_long) STRESS_FAIL("%.3f s of processor time in %d s", time, how_long);
    for (int rank = 1; rank < stress_size; ++rank) MPI_Send(NULL, 0, MPI_INT, rank, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
