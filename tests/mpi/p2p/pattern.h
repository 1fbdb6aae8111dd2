/* Buffers whose contents tell who sent them and which bytes of the message they are. */
#ifndef CLUMP_TESTS_PATTERN_H
#define CLUMP_TESTS_PATTERN_H

#include <stddef.h>

static inline unsigned char pattern_byte(int seed, size_t i) {
  return (unsigned char)(seed * 131 + i * 7 + i / 251);
}

static inline void pattern_fill(unsigned char* buffer, size_t size, int seed) {
  for (size_t i = 0; i < size; ++i) buffer[i] = pattern_byte(seed, i);
}

/* The index of the first byte that differs, or -1. */
static inline long pattern_differs(const unsigned char* buffer, size_t size, int seed) {
  for (size_t i = 0; i < size; ++i)
    if (buffer[i] != pattern_byte(seed, i)) return (long)i;
  return -1;
}

/* Sizes on both sides of every protocol limit. */
static const int pattern_sizes[] = {0,     1,     8,     63,    64,    255,   256,   257,    4096,
                                    16383, 16384, 16385, 32768, 32769, 65536, 65537, 100000, 3000000};
enum { PATTERN_SIZES = sizeof pattern_sizes / sizeof pattern_sizes[0], PATTERN_LARGEST = 3000000 };

#endif
