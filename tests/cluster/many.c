/* Many ranks on few hosts: all look at what they get. Rank 0 prints what each operation took, in
 * milliseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../mpi/check.h"

enum { kBlock = 256, kLong = 1 << 18, kHalo = 1024 };
static int rank, size, *block, *got;

static void barrier(void) { CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); }
static void allreduce(void) {
  int sum = 0;
  CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(sum, size * (size - 1) / 2);
}
static void alltoall(void) {
  for (int to = 0; to < size; ++to)
    for (int i = 0; i < kBlock; ++i) block[to * kBlock + i] = rank * size + to;
  CHECK_OK(MPI_Alltoall(block, kBlock, MPI_INT, got, kBlock, MPI_INT, MPI_COMM_WORLD));
  int wrong = 0;
  for (int i = 0; i < size * kBlock; ++i) wrong += got[i] != i / kBlock * size + rank;
  CHECK_EQ(wrong, 0);
}
static void allgather(void) {
  for (int i = 0; i < kBlock; ++i) block[i] = rank + i;
  CHECK_OK(MPI_Allgather(block, kBlock, MPI_INT, got, kBlock, MPI_INT, MPI_COMM_WORLD));
  int wrong = 0;
  for (int i = 0; i < size * kBlock; ++i) wrong += got[i] != i / kBlock + i % kBlock;
  CHECK_EQ(wrong, 0);
}
static void bcast(void) {
  int* const data = malloc(kLong * sizeof(int));
  for (int i = 0; i < kLong; ++i) data[i] = rank == size - 1 ? i : -1;
  CHECK_OK(MPI_Bcast(data, kLong, MPI_INT, size - 1, MPI_COMM_WORLD));
  int wrong = 0;
  for (int i = 0; i < kLong; ++i) wrong += data[i] != i;
  CHECK_EQ(wrong, 0);
  free(data);
}
static void halo(void) {
  static int out[kHalo], in[2][kHalo];
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  for (int i = 0; i < kHalo; ++i) out[i] = rank;
  MPI_Request all[4];
  CHECK_OK(MPI_Irecv(in[0], kHalo, MPI_INT, left, 1, MPI_COMM_WORLD, &all[0]));
  CHECK_OK(MPI_Irecv(in[1], kHalo, MPI_INT, right, 2, MPI_COMM_WORLD, &all[1]));
  CHECK_OK(MPI_Isend(out, kHalo, MPI_INT, right, 1, MPI_COMM_WORLD, &all[2]));
  CHECK_OK(MPI_Isend(out, kHalo, MPI_INT, left, 2, MPI_COMM_WORLD, &all[3]));
  CHECK_OK(MPI_Waitall(4, all, MPI_STATUSES_IGNORE));
  CHECK(in[0][0] == left && in[0][kHalo - 1] == left && in[1][0] == right && in[1][kHalo - 1] == right);
}
static void fence(void) {
  int* memory;
  MPI_Win win;
  CHECK_OK(
      MPI_Win_allocate(2 * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
  memory[0] = memory[1] = -1;
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_OK(MPI_Put(&rank, 1, MPI_INT, (rank + size / 2) % size, 0, 1, MPI_INT, win));
  CHECK_OK(MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 1, 1, MPI_INT, win));
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_EQ(memory[0], (rank + size - size / 2) % size);
  CHECK_EQ(memory[1], (rank + size - 1) % size);
  CHECK_OK(MPI_Win_free(&win));
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } all[] = {{"barrier", barrier},           {"allreduce of 4 bytes", allreduce},
             {"alltoall of 1 KB", alltoall}, {"allgather of 1 KB", allgather},
             {"bcast of 1 MB", bcast},       {"halo of 4 KB", halo},
             {"window and fence", fence}};
  CHECK_OK(MPI_Init(&argc, &argv));
  CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
  block = malloc(sizeof(int) * (size_t)size * kBlock);
  got = malloc(sizeof(int) * (size_t)size * kBlock);
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    double least = 1e9;
    for (int times = 0; times < 5; ++times) {
      CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
      const double begin = MPI_Wtime();
      all[i].run();
      CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
      const double took = MPI_Wtime() - begin;
      if (took < least) least = took;
    }
    if (rank == 0) printf("%-22s %8.2f ms\n", all[i].name, least * 1e3);
  }
  if (rank == 0) fflush(stdout);
  if (argc > 1 && rank == 0) getchar(); /* so that what the ranks have can be looked at */
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_OK(MPI_Finalize());
  free(block);
  free(got);
  return check_result();
}
