/* The seed of an MPI program that tests (seed.h): the same at all ranks, which all ask for it. Rank 0 prints
 * it. */
#ifndef CLUMP_TESTS_SEED_OF_RANKS_H
#define CLUMP_TESTS_SEED_OF_RANKS_H

#include <mpi.h>

#include "seed.h"

static inline unsigned long long seed_of_ranks(unsigned long long usual) {
  unsigned long long seed = seed_instead_of(usual);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
  return rank == 0 ? print_seed(seed) : seed;
}

#endif
