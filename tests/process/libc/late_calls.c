// A library that uses libm and does not name it, as VTK's of Debian do: ld.so cannot bind its calls at the
// start. Right: its calls reach libm, and the functions of the program, those of the rank that runs.
#include "check.h"

double sum_of_both(double angle);
int call_program(int value);
const char* version_of_c_library(void);

static int sum;

__attribute__((visibility("default"), noinline)) int add_in_program(int value) { return sum += value; }

int main(int argc, char** argv) {
  begin(&argc, &argv);
  step();
  const double both = sum_of_both(0.0);
  check(both > 0.999 && both < 1.001, "sin(0) + cos(0) is %g", both);
  step();
  for (int i = 0; i < 3; ++i) {
    call_program(rank + 1);
    step();
  }
  check(sum == 3 * (rank + 1), "the library has added %d", sum);
  check(strchr(version_of_c_library(), '.') != NULL, "the C library's version is \"%s\"",
        version_of_c_library());
  return end();
}
