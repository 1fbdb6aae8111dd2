// select() in ranks with a hundred files each. Right: the numbers of a rank's descriptors are below FD_SETSIZE,
// or the job ends with an error before FD_SET() writes past the set.
#undef _FORTIFY_SOURCE
#define _FORTIFY_SOURCE 2
#include "check.h"

#include <sys/select.h>

int main(int argc, char** argv) {
  begin(&argc, &argv);
  for (int i = 0; i < 100; ++i) check(open("/dev/null", O_RDWR) >= 0, "open: %s", strerror(errno));
  step();
  int ends[2];
  check(pipe(ends) == 0 && write(ends[1], "x", 1) == 1, "pipe: %s", strerror(errno));
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  struct timeval limit = {10, 0};
  check(select(ends[0] + 1, &set, NULL, NULL, &limit) == 1, "select: %s", strerror(errno));
  return end();
}
