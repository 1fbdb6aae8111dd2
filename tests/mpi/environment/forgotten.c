/* Ends with objects that it should have freed, and perhaps (argv[1] is its rank) with memory of its own that
   nobody knows any more: a leak checker has to see the one, and not the other. */
#include "check.h"

static __attribute__((noinline)) void lose_memory(void) {
  char* volatile memory = malloc(1234);
  memory[0] = 1;
  memory = NULL;
}

int main(int argc, char** argv) {
  int rank = -1, size = 0, sum = 0;
  MPI_Comm copy, half;
  MPI_Group group;
  MPI_Datatype type;
  MPI_Info info;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
  CHECK_OK(MPI_Comm_split(copy, rank % 2, rank, &half));
  CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half));
  CHECK_OK(MPI_Comm_group(half, &group));
  CHECK_OK(MPI_Type_vector(3, 1, 2, MPI_INT, &type));
  CHECK_OK(MPI_Type_commit(&type));
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "key", "value"));
  CHECK_OK(MPI_Recv_init(&sum, 1, MPI_INT, MPI_ANY_SOURCE, 0, copy, &request));
  CHECK_OK(MPI_Start(&request));
  if (argc > 1 && atoi(argv[1]) == rank) lose_memory();
  MPI_Finalize();
  return check_result();
}
