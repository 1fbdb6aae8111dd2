/* writable_code PLUGIN: a program and a library with code in a segment that may be written. */
#include "writable_code.h"
#include "plugin.h"

WRITABLE_CODE(code_of_program);

static void check(unsigned char* code, int rank) {
  int (*const function)(void) = (int (*)(void))(void*)code;
  EXPECT(function() == 42);
#if defined(__x86_64__)
  code[1] = (unsigned char)(100 + rank); /* the number in the instruction */
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(function() == 100 + rank);
#endif
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 2) return 2;
  check(code_of_program, rank);
  check(dlsym(opened(argv[1], RTLD_NOW), "code_of_plugin"), rank);
  MPI_Finalize();
  return failures != 0;
}
