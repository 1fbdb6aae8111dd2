// A library that uses libm and does not name it, as VTK's of Debian do. Right: the program starts, and its ranks
// are processes, in which ld.so binds such a reference when it is used.
#include "check.h"

double sum_of_both(double angle);

int main(int argc, char** argv) {
  begin(&argc, &argv);
  step();
  const double sum = sum_of_both(0.0);
  check(sum > 0.999 && sum < 1.001, "sin(0) + cos(0) is %g", sum);
  return end();
}
