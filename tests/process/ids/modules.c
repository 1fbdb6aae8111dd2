// A library that another shared library opens by itself is the process's, and gets the process's id,
// whichever rank calls: iconv_open() of a character set in a module (module.c).
#include <iconv.h>

#include "../signals/check.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  // The last rank first: it is in no process the one that has the process's id.
  for (int turn = size - 1; turn >= 0; --turn) {
    if (turn == rank) {
      const iconv_t opened = iconv_open("UTF-8", "CLUMP-TEST");
      CHECK(opened != (iconv_t)-1);
      iconv_close(opened);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return end();
}
