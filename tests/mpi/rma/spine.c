/* Windows of all kinds: made, filled by put, read by get between fences, freed. */
#include "check.h"

enum { kInts = 100 };

/* Each rank puts into its right neighbour, and gets from its left one. */
static void exchange(MPI_Win win, int* mine, MPI_Aint unit_of_target) {
  int rank = 0, size = 0, out[kInts], in[kInts];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  const MPI_Aint step = 4 / unit_of_target;
  for (int i = 0; i < kInts; ++i) out[i] = 1000 * rank + i, in[i] = -1;
  for (int i = 0; i < kInts; ++i) mine[i] = -2;
  MPI_Win_fence(0, win);
  MPI_Put(out, kInts / 2, MPI_INT, right, 0, kInts / 2, MPI_INT, win);
  MPI_Put(out + kInts / 2, kInts / 2, MPI_INT, right, kInts / 2 * step, kInts / 2, MPI_INT, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < kInts; ++i) CHECK_EQ(mine[i], 1000 * left + i);
  MPI_Get(in, kInts, MPI_INT, right, 0, kInts, MPI_INT, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < kInts; ++i) CHECK_EQ(in[i], 1000 * rank + i);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

int main(int argc, char** argv) {
  int rank = 0, memory[kInts], *base = NULL;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  CHECK(win != MPI_WIN_NULL);
  exchange(win, memory, 1);
  MPI_Win_free(&win);
  CHECK_EQ(win, MPI_WIN_NULL);

  MPI_Win_allocate(sizeof memory, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  CHECK(base != NULL);
  exchange(win, base, 4);
  MPI_Win_free(&win);

  MPI_Finalize();
  return check_result();
}
