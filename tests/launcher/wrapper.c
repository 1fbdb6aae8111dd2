/* wrapper LIBRARIES PROGRAM [ARGUMENT ...]: executes a program with these libraries as LD_PRELOAD. It is
 * linked statically, so that none of Clump's libraries sees the call. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 3 || setenv("LD_PRELOAD", argv[1], 1) != 0) return 2;
  execv(argv[2], argv + 2);
  perror(argv[2]);
  return 127;
}
