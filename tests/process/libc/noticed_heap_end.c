// An arena that grows by sbrk(), as old programs' do. Right: its pieces follow one another, and brk() gives back
// what is the rank's own.
#include "check.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  step();
  char* const base = sbrk(4096);
  int apart = 0;
  for (int i = 1; i < 50; ++i) {
    step();
    char* const piece = sbrk(4096);
    if (piece != base + 4096 * i) ++apart;
    memset(piece, rank, 4096);
  }
  check(apart == 0, "%d pieces are elsewhere", apart);
  check(brk(base) == 0 && sbrk(0) == base, "brk gives nothing back");
  return end();
}
