/* Ranks wait while one of them spawns a program that asks for floating-point exceptions (<fenv.h>): they go
   on with no exception raised, and without a trap. Argument: that program, float_flags_child.c. */
#define _GNU_SOURCE
#include <fenv.h>

#include "check.h"

/* Leaves ones in the stack below the caller, as a deeper call with negative numbers does. */
__attribute__((noinline)) static void fill_stack_below(void) {
  volatile unsigned char bytes[4096];
  for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = 0xff;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW); /* as gfortran -ffpe-trap does */
  MPI_Comm children = MPI_COMM_NULL;
  fill_stack_below();
  if (rank == 0) {
    CHECK_OK(MPI_Comm_spawn(argv[1], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
                            MPI_ERRCODES_IGNORE));
    for (int to = 1; to < size; ++to) MPI_Send(NULL, 0, MPI_BYTE, to, 1, MPI_COMM_WORLD);
  } else {
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
#if defined(__x86_64__)
  unsigned short status = 0;
  __asm__ volatile("fnstsw %0" : "=m"(status));
  CHECK_EQ(status & 0x381f, 0); /* the x87 exceptions but inexact, and where its stack begins */
#endif
  volatile long double sum = 0, one = 1; /* would trap if an exception were pending */
  for (int i = 1; i <= 8; ++i) sum += one / i;
  CHECK_NEAR(sum, 2.717857, 1e-5);
  if (rank == 0) MPI_Comm_disconnect(&children);
  MPI_Finalize();
  return check_result();
}
