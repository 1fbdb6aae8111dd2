// What the programs of this folder share. Each is compiled twice: with its bug, and with it MENDED.
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

/// Ends the job, with a text that tells what was found instead of what was expected.
#define EXPECT(condition, ...)      \
  do {                              \
    if (!(condition)) {             \
      fprintf(stderr, __VA_ARGS__); \
      fputc('\n', stderr);          \
      MPI_Abort(MPI_COMM_WORLD, 1); \
    }                               \
  } while (0)

static inline int rank_in_world(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

static inline int size_of_world(void) {
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// As if a rank had so much to do before it goes on: who has least usually comes first.
static inline void work(int amount) { usleep((useconds_t)amount * 10000); }
