/* Buffers for tests of collectives: arrays of int, described by a solid type or by one with gaps. Everything
   outside of the data is a guard value, and whole arrays are compared, so that a byte written too much is
   seen. */
#ifndef CLUMP_TESTS_BUFFERS_H
#define CLUMP_TESTS_BUFFERS_H

#include "check.h"

enum { kGuard = -77, kSolid = 0, kGappy = 1, kKinds = 2 };

static MPI_Datatype buffers_type[kKinds];
static const int buffers_extent[kKinds] = {1, 4}; /* in ints */
static const int buffers_ints[kKinds] = {1, 2}; /* data ints in an element; those of kGappy lie at 0 and 2 */

static inline void buffers_begin(void) {
  MPI_Datatype pair;
  buffers_type[kSolid] = MPI_INT;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 4 * (MPI_Aint)sizeof(int), &buffers_type[kGappy]);
  MPI_Type_commit(&buffers_type[kGappy]);
  MPI_Type_free(&pair);
}

static inline void buffers_end(void) { MPI_Type_free(&buffers_type[kGappy]); }

/* Room for `count` elements of `kind`, and some more, all guard values. */
static inline int* buffer_new(int kind, int count) {
  const size_t ints = (size_t)count * buffers_extent[kind] + 8;
  int* buffer = malloc(ints * sizeof(int));
  for (size_t i = 0; i < ints; ++i) buffer[i] = kGuard;
  return buffer;
}

/* What rank `from` sends to rank `to`: any number that differs for all three. */
static inline int buffer_value(int from, int to, int i) { return from * 7919 + to * 104729 + i * 31 + 1; }

/* Writes what `from` sends to `to` into the elements from `first` on. */
static inline void buffer_put(int kind, int* buffer, int first, int count, int from, int to) {
  int i = 0;
  for (int e = 0; e < count; ++e)
    for (int j = 0; j < buffers_ints[kind]; ++j, ++i)
      buffer[(size_t)(first + e) * buffers_extent[kind] + 2 * j] = buffer_value(from, to, i);
}

/* Compares with what should be there, and frees both. */
static inline void buffer_compare(int kind, int count, int* actual, int* expected, const char* what) {
  const size_t ints = (size_t)count * buffers_extent[kind] + 8;
  for (size_t i = 0; i < ints; ++i)
    if (actual[i] != expected[i]) {
      CHECK_FAILED("%s: kind %d, int %zu of %d elements is %d instead of %d", what, kind, i, count, actual[i],
                   expected[i]);
      break;
    }
  free(actual);
  free(expected);
}

#endif
