/* The program that float_flags.c spawns. It asks for floating-point exceptions, so each rank has its own from
   then on. */
#include <fenv.h>

#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  feclearexcept(FE_ALL_EXCEPT);
  CHECK_EQ(fetestexcept(FE_ALL_EXCEPT), 0);
  MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return check_result();
}
