/* OpenMP inside ranks: each thread of each rank has its own copy of a threadprivate variable. */
#include <omp.h>
#include <stdio.h>

#include "rank.h"

static int mine = 3;
#pragma omp threadprivate(mine)

int main(void) {
  const int rank = begin_rank();
  int sum = 0;
  mine = 100 * rank;
#pragma omp parallel num_threads(3) copyin(mine) reduction(+ : sum)
  {
    int seen = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &seen);
    mine += omp_get_thread_num() + seen - rank;
    sum += mine;
  }
  printf("sum %d, mine %d\n", sum - 300 * rank, mine - 100 * rank);
  MPI_Finalize();
  return 0;
}
