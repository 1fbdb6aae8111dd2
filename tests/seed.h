/* The seed of a test that draws numbers. It is the same in each run, so that a failure is the failure of a
   change. The environment variable CLUMP_TEST_SEED sets another one: a number repeats a run, and `random`
   draws one, as ./dev test --nightly does. The seed that is used is printed. Plain C11 and C++;
   seed_of_ranks.h is for MPI programs, and tests/launcher/seed.py the same in Python. */
#ifndef CLUMP_TESTS_SEED_H
#define CLUMP_TESTS_SEED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What to use instead of `usual`; not printed. */
static inline unsigned long long seed_instead_of(unsigned long long usual) {
  const char* const wanted = getenv("CLUMP_TEST_SEED");
  char* end = NULL;
  if (wanted == NULL || *wanted == '\0') return usual;
  if (strcmp(wanted, "random") == 0) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const unsigned long long moment =
        (unsigned long long)now.tv_sec * 1000000000ULL + (unsigned long long)now.tv_nsec;
    return 1 + moment * 0x9e3779b97f4a7c15ULL % 999999999;
  }
  const unsigned long long number = strtoull(wanted, &end, 10);
  if (*end != '\0' || *wanted < '0' || *wanted > '9') {
    fprintf(stderr, "CLUMP_TEST_SEED=%s: it is a number of at least 0, or 'random'\n", wanted);
    exit(2);
  }
  return number;
}

static inline unsigned long long print_seed(unsigned long long seed) {
  printf("CLUMP_TEST_SEED=%llu\n", seed);
  fflush(stdout);
  return seed;
}

/* Of a program that is one process. */
static inline unsigned long long test_seed(unsigned long long usual) {
  return print_seed(seed_instead_of(usual));
}

#endif
