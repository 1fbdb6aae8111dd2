/* Checks for MPI test programs. A failed check is printed with its rank and place, and counted; `return
   check_result();` at the end of main turns the count into the exit code. Plain C11 (and C++), plain MPI:
   these tests run under any MPI library. */
#ifndef CLUMP_TESTS_CHECK_H
#define CLUMP_TESTS_CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_failures;

/* The rank in MPI_COMM_WORLD, or -1 outside of MPI. */
static inline int check_rank(void) {
  int initialized = 0, finalized = 0, rank = -1;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized && !finalized) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/* After 20 failures a rank says no more, so that a broken loop stays readable. */
#define CHECK_FAILED(...)                                                    \
  do {                                                                       \
    if (++check_failures <= 20) {                                            \
      fprintf(stderr, "rank %d, %s:%d: ", check_rank(), __FILE__, __LINE__); \
      fprintf(stderr, __VA_ARGS__);                                          \
      fputc('\n', stderr);                                                   \
    }                                                                        \
  } while (0)

/* CHECK(condition) */
#define CHECK(condition)                              \
  do {                                                \
    if (!(condition)) CHECK_FAILED("%s", #condition); \
  } while (0)

/* CHECK_EQ(actual, expected) for whole numbers; handles too (they fit a pointer). */
#define CHECK_EQ(actual, expected)                                                              \
  do {                                                                                          \
    const long long check_actual = (long long)(actual), check_expected = (long long)(expected); \
    if (check_actual != check_expected)                                                         \
      CHECK_FAILED("%s is %lld, expected %s, that is %lld", #actual, check_actual, #expected,   \
                   check_expected);                                                             \
  } while (0)

/* CHECK_NEAR(actual, expected, tolerance) for floating-point numbers. */
#define CHECK_NEAR(actual, expected, tolerance)                                                        \
  do {                                                                                                 \
    const double check_actual = (double)(actual), check_expected = (double)(expected);                 \
    const double check_off =                                                                           \
        check_actual < check_expected ? check_expected - check_actual : check_actual - check_expected; \
    if (!(check_off <= (tolerance)))                                                                   \
      CHECK_FAILED("%s is %.17g, expected %s, that is %.17g", #actual, check_actual, #expected,        \
                   check_expected);                                                                    \
  } while (0)

#define CHECK_STR(actual, expected)                                                         \
  do {                                                                                      \
    const char *check_actual = (actual), *check_expected = (expected);                      \
    if (strcmp(check_actual, check_expected) != 0)                                          \
      CHECK_FAILED("%s is \"%s\", expected \"%s\"", #actual, check_actual, check_expected); \
  } while (0)

/* CHECK_CLASS(MPI_Send(...), MPI_ERR_TAG): the call returns an error of this class (MPI_SUCCESS: it
   succeeds). The communicator's error handler must be MPI_ERRORS_RETURN where an error is expected. */
#define CHECK_CLASS(call, expected)                                                           \
  do {                                                                                        \
    const int check_code = (call);                                                            \
    int check_class = MPI_SUCCESS;                                                            \
    if (check_code != MPI_SUCCESS) MPI_Error_class(check_code, &check_class);                 \
    if (check_class != (expected)) {                                                          \
      char check_text[MPI_MAX_ERROR_STRING] = "";                                             \
      int check_length = 0;                                                                   \
      if (check_code != MPI_SUCCESS) MPI_Error_string(check_code, check_text, &check_length); \
      CHECK_FAILED("%s gives class %d, expected %s (%d); %s", #call, check_class, #expected,  \
                   (int)(expected), check_text);                                              \
    }                                                                                         \
  } while (0)

#define CHECK_OK(call) CHECK_CLASS(call, MPI_SUCCESS)

/* The exit code of main: after MPI_Finalize, so that every rank gets to say what it found. */
static inline int check_result(void) {
  if (check_failures != 0) fprintf(stderr, "%d checks failed\n", check_failures);
  return check_failures == 0 ? 0 : 1;
}

#endif
