/* EXPECT(condition): says what is not as it should be, and counts it. */
#ifndef CLUMP_TESTS_IMAGE_EXPECT_H
#define CLUMP_TESTS_IMAGE_EXPECT_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                                                \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      const int expect_error = errno;                                                    \
      ++failures;                                                                        \
      fprintf(stderr, "%s:%d: not so: %s (errno: %s)\n", __FILE__, __LINE__, #condition, \
              strerror(expect_error));                                                   \
    }                                                                                    \
  } while (0)

#endif
