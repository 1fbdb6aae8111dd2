/* Uses a function of libm that has variants, and is linked without -lm, so ld.so may bind it before libm is ready. */
#define _GNU_SOURCE
#include <gnu/libc-version.h>
#include <math.h>

int add_in_program(int value);

double sum_of_both(double angle) {
  double sine, cosine;
  sincos(angle, &sine, &cosine);
  return sine + cosine;
}

int call_program(int value) { return add_in_program(value); }

const char* version_of_c_library(void) { return gnu_get_libc_version(); }
