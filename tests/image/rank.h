/* MPI, as far as these tests need it. */
#ifndef CLUMP_TESTS_IMAGE_RANK_H
#define CLUMP_TESTS_IMAGE_RANK_H

#include "mpi.h"

static inline int begin_rank(void) {
  int rank = -1;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

#endif
