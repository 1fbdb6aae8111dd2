/* Buffers that are named by MPI_BOTTOM and types of absolute addresses, so that all of them have the same
   base. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"

static int size, rank;

/* A block of `count` ints from `first` on; more of them follow each other. */
static MPI_Datatype type_of(int* first, int count) {
  MPI_Aint address;
  MPI_Datatype block, type;
  CHECK_OK(MPI_Get_address(first, &address));
  CHECK_OK(MPI_Type_create_hindexed(1, &count, &address, MPI_INT, &block));
  CHECK_OK(MPI_Type_create_resized(block, address, (MPI_Aint)count * (MPI_Aint)sizeof(int), &type));
  CHECK_OK(MPI_Type_commit(&type));
  CHECK_OK(MPI_Type_free(&block));
  return type;
}

/* Of rank `from`. */
static int value(int turn, int from, int i) { return 1000 * turn + 10 * from + i; }

static void expect(const int* all, int count, int turn, int arrived) {
  int wrong = 0;
  for (int i = 0; i < size * count; ++i)
    wrong += all[i] != (arrived ? value(turn, i / count, i % count) : -1);
  CHECK_EQ(wrong, 0);
}

static void test(int count) {
  int* const mine = malloc((size_t)count * sizeof *mine);
  int* const all = malloc((size_t)(size * count) * sizeof *all);
  MPI_Datatype from = type_of(mine, count), to = type_of(all, count);
  for (int turn = 0; turn < 3; ++turn) {
    const int root = turn % size;
    for (int i = 0; i < count; ++i) mine[i] = value(turn, rank, i);
    memset(all, -1, (size_t)(size * count) * sizeof *all);
    CHECK_OK(MPI_Allgather(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, to, MPI_COMM_WORLD));
    expect(all, count, turn, 1);
    memset(all, -1, (size_t)(size * count) * sizeof *all);
    CHECK_OK(MPI_Gather(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, to, root, MPI_COMM_WORLD));
    expect(all, count, turn, rank == root);

    for (int i = 0; i < size * count; ++i) all[i] = value(turn + 1, i / count, i % count);
    CHECK_OK(MPI_Scatter(MPI_BOTTOM, 1, to, MPI_BOTTOM, 1, from, root, MPI_COMM_WORLD));
    int wrong = 0;
    for (int i = 0; i < count; ++i) wrong += mine[i] != value(turn + 1, rank, i);
    CHECK_EQ(wrong, 0);
  }
  CHECK_OK(MPI_Type_free(&to));
  CHECK_OK(MPI_Type_free(&from));
  free(all);
  free(mine);
}

int main(int argc, char** argv) {
  CHECK_OK(MPI_Init(&argc, &argv));
  CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
  CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  static const int counts[] = {1, 100, 5000, 100000};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) test(counts[i]);
  CHECK_OK(MPI_Finalize());
  return check_result();
}
