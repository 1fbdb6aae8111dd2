// Floating-point exceptions: a rank asks whether its own computation has divided by zero, in double (SSE) and in
// long double (x87). Right: flags of other ranks do not come, and its own do not go.
#include "check.h"

#include <fenv.h>

static volatile long double zero = 0, one = 1;
static volatile double short_zero = 0, short_one = 1;

static void divide(int is_long) {
  if (is_long) {
    volatile long double result = one / zero;
    (void)result;
  } else {
    volatile double result = short_one / short_zero;
    (void)result;
  }
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  int wrong[2] = {0, 0}, ignored = 0;
  for (int round = 0; round < 100; ++round) {
    step();
    feclearexcept(FE_ALL_EXCEPT);
    step();
    if (rank % 2 != 0) divide(round % 2);
    MPI_Sendrecv(&round, 0, MPI_INT, (rank + 1) % ranks, 0, &ignored, 0, MPI_INT, (rank + ranks - 1) % ranks, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    step();
    if ((fetestexcept(FE_DIVBYZERO) != 0) != (rank % 2 != 0)) ++wrong[round % 2];
    check(one / 3 > 0.333L && one / 3 < 0.334L, "one third is %Lf", one / 3);
  }
  check(wrong[0] == 0, "FE_DIVBYZERO is wrong %d times after double", wrong[0]);
  check(wrong[1] == 0, "FE_DIVBYZERO is wrong %d times after long double", wrong[1]);
  return end();
}
