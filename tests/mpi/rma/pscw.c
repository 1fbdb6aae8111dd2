/* General active targets: MPI_Win_post, start, complete, wait and test, with groups of any ranks. */
#include "check.h"

static int rank, size;

static MPI_Group group_of(const int* ranks, int n) {
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, n, ranks, &group);
  MPI_Group_free(&world);
  return group;
}

/* Each rank exposes its memory to its left neighbour and writes into its right one, many times. */
static void test_ring(MPI_Win win, int* mine, int asserted) {
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Group from = group_of(&left, 1), to = group_of(&right, 1);
  for (int round = 0; round < 20; ++round) {
    const int value = 1000 * round + rank;
    if (asserted) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_post(from, asserted, win);
    if (asserted) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_start(to, asserted, win);
    MPI_Put(&value, 1, MPI_INT, right, 3, 1, MPI_INT, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    CHECK_EQ(mine[3], 1000 * round + left);
  }
  MPI_Group_free(&from);
  MPI_Group_free(&to);
}

/* All write to rank 0, which asks with MPI_Win_test; it does so itself, too. */
static void test_all_to_one(MPI_Win win, int* mine) {
  const int zero = 0, value = 50 + rank;
  MPI_Group everyone = MPI_GROUP_NULL, root = group_of(&zero, 1);
  MPI_Comm_group(MPI_COMM_WORLD, &everyone);
  for (int i = 0; i < size; ++i) mine[i] = -1;
  if (rank == 0) MPI_Win_post(everyone, 0, win);
  MPI_Win_start(root, 0, win);
  MPI_Put(&value, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
  MPI_Win_complete(win);
  if (rank == 0) {
    int done = 0;
    while (!done) MPI_Win_test(win, &done);
    for (int i = 0; i < size; ++i) CHECK_EQ(mine[i], 50 + i);
  }
  MPI_Group_free(&everyone);
  MPI_Group_free(&root);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* An empty group needs nobody. */
static void test_empty(MPI_Win win) {
  MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
  MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
  MPI_Win_complete(win);
  int done = 0;
  MPI_Win_test(win, &done);
  CHECK_EQ(done, 1);
}

int main(int argc, char** argv) {
  int memory[64] = {0}, *base = NULL;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  test_ring(win, memory, 0);
  test_ring(win, memory, MPI_MODE_NOCHECK);
  test_all_to_one(win, memory);
  test_empty(win);
  MPI_Win_free(&win);
  MPI_Win_allocate(sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  test_ring(win, base, 0);
  test_all_to_one(win, base);
  MPI_Win_free(&win);
  MPI_Finalize();
  return check_result();
}
