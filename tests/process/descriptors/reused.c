// The number of a stream that one rank closes may be another rank's at once: what that rank has made of it, here
// a duplicate of its standard output, stays so, and its lines have tags.
#define _GNU_SOURCE
#include <fcntl.h>

#include "../files/check.h"

enum { kTimes = 3000 };

static void open_and_close(void) {
  for (int i = 0; i < kTimes; ++i) {
    FILE* const file = fopen("/dev/null", "w");
    check(file != NULL, "fopen: %s", strerror(errno));
    fclose(file);
  }
}

static void write_to_duplicates(void) {
  for (int i = 0; i < kTimes; ++i) {
    const int again = dup(1);
    check(again > 2, "dup: %s", strerror(errno));
    dprintf(again, "line\n");
    close(again);
  }
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank % 2 == 1)
    open_and_close();
  else
    write_to_duplicates();
  return check_end();
}
