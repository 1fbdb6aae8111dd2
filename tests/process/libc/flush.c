// A job of two programs in one process: the first flushes denormals, as what is linked with -ffast-math does
// in a constructor. Right: each rank computes as its own program does. Run as `mpiexec -n 2 flush flushes :
// -n 2 flush_plain keeps`.
#include "check.h"

#include <string.h>

static volatile double tiny = 1e-310, two = 2;

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int flushes = !strcmp(argv[1], "flushes");
  check((tiny / two == 0) == flushes, "1e-310 / 2 is %g in a program that %s denormals", tiny / two, argv[1]);
  return end();
}
