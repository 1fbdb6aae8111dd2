/* OpenMP's threadprivate inside ranks: three threads in each, every one with its own copy, kept from region
   to region, and globals that all threads of one rank share. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

static int mine = 11;
#pragma omp threadprivate(mine)
static int of_rank = 5;

int main(int argc, char** argv) {
  int provided, rank, size, failures = 0, all_failures = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  omp_set_dynamic(0);
  omp_set_num_threads(3);
  of_rank = rank;

#pragma omp parallel reduction(+ : failures)
  {
    if (omp_get_num_threads() != 3) ++failures;
    if (mine != 11) ++failures; /* a fresh copy for each thread */
    if (of_rank != rank) ++failures;
    mine = 100 * rank + omp_get_thread_num();
  }
  MPI_Barrier(MPI_COMM_WORLD);
#pragma omp parallel reduction(+ : failures)
  {
    if (mine != 100 * rank + omp_get_thread_num()) ++failures;
  }
  if (failures != 0) fprintf(stderr, "rank %d: %d failures\n", rank, failures);
  MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %d failures\n", size, all_failures);
  MPI_Finalize();
  return all_failures != 0;
}
