/* Uses a function of libm that has variants, and is linked without -lm, so ld.so may bind it before libm is ready. */
#define _GNU_SOURCE
#include <math.h>

double sum_of_both(double angle) {
  double sine, cosine;
  sincos(angle, &sine, &cosine);
  return sine + cosine;
}
