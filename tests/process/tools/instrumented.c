/* Has the section in which LLVM's -fprofile-instr-generate counts, and so is recognised as such a program. */
#include <mpi.h>

__attribute__((section("__llvm_prf_cnts"), used)) static long counts[4];

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  return 0;
}
