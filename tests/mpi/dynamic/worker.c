/* Another program than its parents': each of its ranks adds its rank to what the parents' root sends, and
   sends it back. */
#include "check.h"

static int global = 40;

int main(int argc, char** argv) {
  int rank, value = 0;
  MPI_Comm parent;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK_OK(MPI_Comm_get_parent(&parent));
  CHECK(parent != MPI_COMM_NULL);
  CHECK_EQ(argc, 2);
  CHECK_STR(argv[1], "worker");
  CHECK_OK(MPI_Bcast(&value, 1, MPI_INT, 0, parent));
  global += value + rank;
  CHECK_OK(MPI_Send(&global, 1, MPI_INT, 0, 0, parent));
  CHECK_OK(MPI_Comm_disconnect(&parent));
  MPI_Finalize();
  return check_result();
}
