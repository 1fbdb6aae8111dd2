// Output without the stream's lock, and with the lock held for long. Right: each line comes whole, as each
// rank is the only thread that uses its stdout, and a rank that holds the lock of its stdout lets others
// print.
#define _GNU_SOURCE
#include "check.h"

#include <stdio.h>

enum { kLines = 400 };

int main(int argc, char** argv) {
  begin(&argc, &argv);
  flockfile(stdout);
  step();
  for (int line = 0; line < kLines; ++line) {
    char text[64];
    snprintf(text, sizeof text, "rank %d line %d abcdefghijklmnopqrstuvwxyz\n", rank, line);
    switch (line % 4) {
      case 0:
        for (const char* at = text; *at != '\0'; ++at) putc_unlocked(*at, stdout);
        break;
      case 1:
        fputs_unlocked(text, stdout);
        break;
      case 2:
        fwrite_unlocked(text, 1, strlen(text), stdout);
        break;
      default:
        for (const char* at = text; *at != '\0'; ++at) putchar_unlocked(*at);
    }
    if (line % 50 == 0) step();
  }
  step();
  check(ftrylockfile(stdout) == 0, "the lock that the rank has cannot be taken again");
  funlockfile(stdout);
  funlockfile(stdout);
  return end();
}
