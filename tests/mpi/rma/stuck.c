/* Ranks that wait for each other in calls about a window for ever; the argument says in which. */
#include <mpi.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank = 0, value = 0, *base = NULL;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Group all = MPI_GROUP_NULL, other = MPI_GROUP_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_set_name(win, "table");
  MPI_Win_get_group(win, &all);
  const int them = 1 - rank;
  MPI_Group_incl(all, 1, &them, &other);
  if (strcmp(argv[1], "lock") == 0) {
    if (rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (strcmp(argv[1], "fence") == 0 && rank == 0) MPI_Win_fence(0, win);
  if (strcmp(argv[1], "start") == 0 && rank == 0) MPI_Win_start(other, 0, win);
  if (strcmp(argv[1], "wait") == 0 && rank == 0) {
    MPI_Win_post(other, 0, win);
    MPI_Win_wait(win);
  }
  if (strcmp(argv[1], "complete") == 0 && rank == 0) MPI_Win_start(other, 0, win);
  if (strcmp(argv[1], "complete") == 0 && rank == 1) {
    MPI_Win_post(other, 0, win);
    MPI_Win_wait(win);
  }
  MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
