/* Memory that the processes of a node share and that a window has given back serves communicators next: what
   the window has left there does not matter. */
#include "check.h"

static int rank, size;

static void use_window(int dynamic) {
  int memory[4] = {0}, value = rank, seen = -1;
  MPI_Win win = MPI_WIN_NULL;
  if (dynamic)
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  else
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  if (!dynamic) {
    const int right = (rank + 1) % size;
    MPI_Accumulate(&value, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Get(&seen, 1, MPI_INT, right, 0, 1, MPI_INT, win);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  if (!dynamic) CHECK_EQ(seen, rank);
  MPI_Win_free(&win);
}

static void use_communicator(int ranks) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank / ranks, rank, &comm);
  for (int round = 0; round < 3; ++round) {
    int one = 1, sum = -1, members = 0;
    MPI_Comm_size(comm, &members);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQ(sum, members);
  }
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int ranks = 2; ranks <= 4; ++ranks) {
    for (int i = 0; i < 3; ++i) use_window(i % 2);
    use_communicator(ranks);
  }
  MPI_Finalize();
  return check_result();
}
