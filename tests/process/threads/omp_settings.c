// Settings of OpenMP, by call and by environment, are a rank's own: load-balanced hybrid codes give ranks
// different numbers of threads (omp_set_num_threads, mpiexec's -env for each program).
// omp_settings FIRST: the ranks' OMP_NUM_THREADS is FIRST plus that of the ranks before its program. Right:
// each sees its own.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, failures = 0;

#define EXPECT(condition)                                                         \
  do {                                                                            \
    if (!(condition)) {                                                           \
      ++failures;                                                                 \
      printf("rank %d: line %d: %s does not hold\n", rank, __LINE__, #condition); \
    }                                                                             \
  } while (0)

static int threads_of_region(void) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  threads += 1;
  return threads;
}

int main(int argc, char** argv) {
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1) {
    const int named = atoi(argv[1]);
    EXPECT(atoi(getenv("OMP_NUM_THREADS")) == named);
    EXPECT(omp_get_max_threads() == named);
    EXPECT(threads_of_region() == named);
  }
  omp_set_dynamic(rank % 2);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(omp_get_dynamic() == rank % 2);
  omp_set_dynamic(0);
  omp_set_schedule(rank % 2 ? omp_sched_dynamic : omp_sched_guided, rank + 1);
  omp_set_max_active_levels(rank + 1);
  for (int round = 0; round < 5; ++round) {
    omp_set_num_threads(rank % 3 + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(omp_get_max_threads() == rank % 3 + 1);
    EXPECT(threads_of_region() == rank % 3 + 1);
    int chunk = 0;
    omp_sched_t kind;
    omp_get_schedule(&kind, &chunk);
    EXPECT(chunk == rank + 1 && kind == (rank % 2 ? omp_sched_dynamic : omp_sched_guided));
    EXPECT(omp_get_max_active_levels() == rank + 1);
  }
  MPI_Finalize();
  return failures;
}
