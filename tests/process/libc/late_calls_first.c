// Another program of the same job, which has no libm: late_calls.c comes into its process.
#include "check.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  for (int i = 0; i < 5; ++i) step();
  return end();
}
