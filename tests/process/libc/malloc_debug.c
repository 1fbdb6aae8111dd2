// A program that asks the C library to watch its memory, as ABINIT's do. Right: nothing is watched, because
// that is in libc_malloc_debug.so alone, and the ranks share their process.
#include <mcheck.h>

#include "check.h"

int main(int argc, char** argv) {
  const int watched = mcheck(NULL);
  mtrace();
  begin(&argc, &argv);
  step();
  void* const block = malloc(100);
  memset(block, rank, 100);
  check(watched != 0, "mcheck() is %d", watched);
  check(mprobe(block) == MCHECK_DISABLED, "mprobe() is %d", (int)mprobe(block));
  free(block);
  muntrace();
  return end();
}
