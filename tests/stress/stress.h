/* What the stress programs share: random numbers that a seed repeats, message contents that tell where they
   come from, disturbances, and failures that print the seed. Plain C and MPI. */
#ifndef CLUMP_TESTS_STRESS_H
#define CLUMP_TESTS_STRESS_H

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../seed_of_ranks.h"

static unsigned long stress_seed;
static int stress_round, stress_rank, stress_size;

/* Says what went wrong, and how to see it again, and ends the job. */
#define STRESS_FAIL(...)                                                                            \
  do {                                                                                              \
    fprintf(stderr, "rank %d, seed %lu, round %d, %s:%d: ", stress_rank, stress_seed, stress_round, \
            __FILE__, __LINE__);                                                                    \
    fprintf(stderr, __VA_ARGS__);                                                                   \
    fputc('\n', stderr);                                                                            \
    MPI_Abort(MPI_COMM_WORLD, 1);                                                                   \
  } while (0)

#define STRESS_CHECK(condition)                              \
  do {                                                       \
    if (!(condition)) STRESS_FAIL("not so: %s", #condition); \
  } while (0)

/* A generator of its own for each use: ranks that make one from the same numbers draw the same. */
typedef struct {
  uint64_t state;
} Random;

static inline uint64_t random_next(Random* random) {
  uint64_t mixed = random->state += 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 31);
}

static inline Random random_from(uint64_t a, uint64_t b, uint64_t c) {
  Random random = {stress_seed};
  random.state = random_next(&random) ^ a;
  random.state = random_next(&random) ^ b;
  random.state = random_next(&random) ^ c;
  return random;
}

/* From 0 to limit - 1. */
static inline int random_below(Random* random, int limit) {
  return (int)(random_next(random) % (uint64_t)limit);
}

/* Mostly small, now and then past every threshold of a protocol. */
static inline int random_bytes(Random* random) {
  switch (random_below(random, 8)) {
    case 0:
      return 0;
    case 1:
    case 2:
    case 3:
      return random_below(random, 64);
    case 4:
    case 5:
      return random_below(random, 2048);
    case 6:
      return random_below(random, 40000);
    default:
      return random_below(random, 300000);
  }
}

static inline double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline void compute(double how_long) {
  const double end = seconds() + how_long;
  volatile unsigned work = 0;
  while (seconds() < end) {
    for (int i = 0; i < 100; ++i) work = work + 1;
  }
}

/* What a program may do between two MPI calls. */
static inline void disturb(Random* random) {
  switch (random_below(random, 64)) {
    case 0:
      usleep((useconds_t)random_below(random, 400));
      break;
    case 1:
    case 2:
      sched_yield();
      break;
    case 3:
      compute(random_below(random, 200) * 1e-6);
      break;
    case 4:
      if (random_below(random, 20) == 0)
        compute(0.012 + random_below(random, 10) * 1e-3); /* loses its worker */
      break;
    case 5: {
      const struct timespec nap = {0, random_below(random, 100000)};
      nanosleep(&nap, NULL);
      break;
    }
    default:
      break;
  }
}

/* The bytes of message `index` from `source` in this round. */
static inline void fill(unsigned char* bytes, int count, int source, int index) {
  uint32_t value = (uint32_t)(stress_round * 7919 + source * 104729 + index * 1299709 + count);
  for (int i = 0; i < count; ++i) {
    value = value * 1664525u + 1013904223u;
    bytes[i] = (unsigned char)(value >> 24);
  }
}

static inline void verify(const unsigned char* bytes, int count, int source, int index) {
  uint32_t value = (uint32_t)(stress_round * 7919 + source * 104729 + index * 1299709 + count);
  for (int i = 0; i < count; ++i) {
    value = value * 1664525u + 1013904223u;
    if (bytes[i] != (unsigned char)(value >> 24))
      STRESS_FAIL("message %d from rank %d: byte %d of %d is %d, expected %d", index, source, i, count,
                  bytes[i], (int)(value >> 24));
  }
}

/* MPI_Init_thread, and the seed: the one that is given, or that of tests (seed.h). */
static inline void stress_begin(int* argc, char*** argv, const char* seed) {
  int provided;
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &stress_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &stress_size);
  stress_seed = seed != NULL ? strtoul(seed, NULL, 10) : (unsigned long)seed_of_ranks(20261128);
}

#endif
