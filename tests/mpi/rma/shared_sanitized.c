/* Built with ThreadSanitizer: ranks that are threads of one process load and store in a shared window, and
   each way to order that counts as one. A data race that the sanitizer sees ends the job with its exit code.
 */
#include "check.h"

int main(int argc, char** argv) {
  int rank = 0, size = 0, unit = 0;
  long *mine = NULL, *first = NULL;
  MPI_Aint bytes = 0;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win_allocate_shared(64, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  MPI_Win_shared_query(win, 0, &bytes, &unit, &first);

  MPI_Win_lock_all(0, win);
  for (int turn = 0; turn < 4; ++turn) {
    if (rank == turn % size) first[0] = turn;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
  }
  CHECK_EQ(first[0], 3);
  MPI_Win_unlock_all(win);

  MPI_Win_fence(0, win);
  for (int turn = 0; turn < 4; ++turn) {
    if (rank == turn % size) first[1] = turn;
    MPI_Win_fence(0, win);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);

  for (int turn = 0; turn < 20; ++turn) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    ++first[2];
    MPI_Win_unlock(0, win);
  }

  MPI_Group world, other;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const int peer = rank == 0 ? 1 : 0;
  MPI_Group_incl(world, 1, &peer, &other);
  for (int turn = 0; turn < 4; ++turn) {
    if (rank == 0) {
      first[3] = turn;
      MPI_Win_post(other, 0, win);
      MPI_Win_wait(win);
      CHECK_EQ(first[3], turn + 10);
    } else if (rank == 1) {
      MPI_Win_start(other, 0, win);
      first[3] += 10;
      MPI_Win_complete(win);
    }
  }
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  if (rank == 0) CHECK(first[2] > 0);
  MPI_Win_unlock(0, win);
  MPI_Group_free(&other);
  MPI_Group_free(&world);
  MPI_Win_free(&win);
  MPI_Finalize();
  return check_result();
}
