/* Much data, of which some ranks, or cores, have far more than others: those who are done help. Each round
 * has other contents, so that what a round before left is not taken for the result. */
#include <mpi.h>
#include <stdlib.h>

#include "../check.h"

enum { kMost = 1 << 20, kRounds = 8 };

static int rank, size;
static int *mine, *theirs;

static int value(int from, int to, int round, int i) { return ((from * 64 + to) * kRounds + round) * 7 + i; }

static void fill(int* data, int count, int from, int to, int round) {
  for (int i = 0; i < count; ++i) data[i] = value(from, to, round, i);
}

static void check(const int* data, int count, int from, int to, int round) {
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += data[i] != value(from, to, round, i);
  CHECK_EQ(wrong, 0);
}

/* One rank gets nearly all: an int from each, and a long block from `giver`. */
static void one_gets_all(int round) {
  const int taker = round % size, giver = (round + 1) % size;
  int *out = calloc(4 * size, sizeof(int)), *in = out + size, *out_at = in + size, *in_at = out_at + size;
  for (int r = 0; r < size; ++r) {
    out[r] = rank == giver && r == taker ? kMost - size : 1;
    in[r] = rank == taker && r == giver ? kMost - size : 1;
    out_at[r] = r == 0 ? 0 : out_at[r - 1] + out[r - 1];
    in_at[r] = r == 0 ? 0 : in_at[r - 1] + in[r - 1];
    fill(mine + out_at[r], out[r], rank, r, round);
  }
  CHECK_OK(MPI_Alltoallv(mine, out, out_at, MPI_INT, theirs, in, in_at, MPI_INT, MPI_COMM_WORLD));
  for (int r = 0; r < size; ++r) check(theirs + in_at[r], in[r], r, rank, round);

  for (int r = 0; r < size; ++r) {
    out[r] = r == taker ? kMost - size : 1;
    out_at[r] = r == 0 ? 0 : out_at[r - 1] + out[r - 1];
    if (rank == giver) fill(mine + out_at[r], out[r], rank, r, round);
  }
  CHECK_OK(MPI_Scatterv(mine, out, out_at, MPI_INT, theirs, out[rank], MPI_INT, giver, MPI_COMM_WORLD));
  check(theirs, out[rank], giver, rank, round);
  free(out);
}

/* Equal parts for ranks: with three of them on two cores one core has twice as much as the other. */
static void all_get_the_same(int round) {
  const int root = round % size;
  fill(mine, kMost, rank, 0, round);
  CHECK_OK(MPI_Bcast(mine, kMost, MPI_INT, root, MPI_COMM_WORLD));
  check(mine, kMost, root, 0, round);

  fill(mine, kMost, rank, 0, round);
  CHECK_OK(MPI_Allreduce(mine, theirs, kMost, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  check(theirs, kMost, size - 1, 0, round);

  const int block = kMost / size;
  CHECK_OK(MPI_Allgather(mine, block, MPI_INT, theirs, block, MPI_INT, MPI_COMM_WORLD));
  for (int r = 0; r < size; ++r) check(theirs + r * block, block, r, 0, round);
}

int main(int argc, char** argv) {
  CHECK_OK(MPI_Init(&argc, &argv));
  CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
  mine = malloc((kMost + (size_t)size) * sizeof(int));
  theirs = malloc((kMost + (size_t)size) * sizeof(int));
  for (int round = 0; round < kRounds; ++round) {
    one_gets_all(round);
    all_get_the_same(round);
  }
  free(mine);
  free(theirs);
  CHECK_OK(MPI_Finalize());
  return check_result();
}
