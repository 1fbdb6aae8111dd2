/* Windows and files of a communicator whose ranks may be of several jobs: check_windows(), check_files(). */
#ifndef CLUMP_TESTS_MERGED_H
#define CLUMP_TESTS_MERGED_H

#include "../check.h"

/* Puts to all, and of much to the next rank; returns of fetches. */
static void check_fences(MPI_Comm comm, int rank, int size) {
  enum { kMany = 200000 };
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  int* base = NULL;
  MPI_Win window;
  CHECK_OK(MPI_Win_allocate((MPI_Aint)((size + kMany + 1) * sizeof *base), sizeof *base, MPI_INFO_NULL, comm,
                            &base, &window));
  base[size + kMany] = 0;
  int* const much = malloc(kMany * sizeof *much);
  for (int i = 0; i < kMany; ++i) much[i] = rank + i;
  CHECK_OK(MPI_Win_fence(0, window));
  for (int i = 0; i < size; ++i) CHECK_OK(MPI_Put(&rank, 1, MPI_INT, i, rank, 1, MPI_INT, window));
  CHECK_OK(MPI_Put(much, kMany, MPI_INT, next, size, kMany, MPI_INT, window));
  CHECK_OK(MPI_Win_fence(0, window));
  for (int i = 0; i < size; ++i) CHECK_EQ(base[i], i);
  CHECK_EQ(base[size + kMany - 1], before + kMany - 1);
  CHECK_OK(MPI_Get(much, kMany, MPI_INT, next, size, kMany, MPI_INT, window));
  CHECK_OK(MPI_Accumulate(&rank, 1, MPI_INT, 0, size + kMany, 1, MPI_INT, MPI_SUM, window));
  CHECK_OK(MPI_Win_fence(0, window));
  CHECK_EQ(much[7], rank + 7);
  if (rank == 0) CHECK_EQ(base[size + kMany], size * (size - 1) / 2);
  CHECK_OK(MPI_Win_free(&window));
  free(much);
}

/* All ranks want the lock of one; then all are open to all. */
static void check_locks(MPI_Comm comm, int rank, int size) {
  enum { kTimes = 20 };
  int numbers[2] = {0, -1}, seen = -1, found = -1;
  const int one = 1, last = size - 1, none = -1;
  MPI_Win window;
  CHECK_OK(MPI_Win_create(numbers, sizeof numbers, sizeof *numbers, MPI_INFO_NULL, comm, &window));
  for (int i = 0; i < kTimes; ++i) {
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, window));
    CHECK_OK(MPI_Get(&seen, 1, MPI_INT, last, 0, 1, MPI_INT, window));
    CHECK_OK(MPI_Win_flush(last, window));
    ++seen;
    CHECK_OK(MPI_Put(&seen, 1, MPI_INT, last, 0, 1, MPI_INT, window));
    CHECK_OK(MPI_Win_unlock(last, window));
  }
  CHECK_OK(MPI_Barrier(comm));
  CHECK_OK(MPI_Win_lock_all(0, window));
  CHECK_OK(MPI_Fetch_and_op(&one, &seen, MPI_INT, last, 0, MPI_SUM, window));
  CHECK_OK(MPI_Compare_and_swap(&rank, &none, &found, MPI_INT, 0, 1, window));
  CHECK_OK(MPI_Win_unlock_all(window));
  CHECK(seen >= kTimes * size && seen < (kTimes + 1) * size);
  int winners = found == none;
  CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &winners, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(winners, 1);
  CHECK_OK(MPI_Win_free(&window));
  if (rank == last) CHECK_EQ(numbers[0], (kTimes + 1) * size);
}

/* Each rank puts to the next one, by a type that names two pieces of memory. */
static void check_pieces(MPI_Comm comm, int rank, int size) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size, values[2] = {rank, rank + 100};
  int pieces[2][50] = {{0}, {0}};
  MPI_Aint places[2], theirs[2];
  MPI_Win window;
  MPI_Datatype both;
  MPI_Group all, origin, target;
  CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &window));
  for (int i = 0; i < 2; ++i) {
    CHECK_OK(MPI_Win_attach(window, pieces[i], sizeof pieces[i]));
    CHECK_OK(MPI_Get_address(pieces[i], &places[i]));
  }
  CHECK_OK(
      MPI_Sendrecv(places, 2, MPI_AINT, before, 1, theirs, 2, MPI_AINT, next, 1, comm, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Type_create_hindexed_block(2, 1, theirs, MPI_INT, &both));
  CHECK_OK(MPI_Type_commit(&both));
  CHECK_OK(MPI_Win_get_group(window, &all));
  CHECK_OK(MPI_Group_incl(all, 1, &before, &origin));
  CHECK_OK(MPI_Group_incl(all, 1, &next, &target));
  CHECK_OK(MPI_Win_post(origin, 0, window));
  CHECK_OK(MPI_Win_start(target, 0, window));
  CHECK_OK(MPI_Put(values, 2, MPI_INT, next, 0, 1, both, window));
  CHECK_OK(MPI_Win_complete(window));
  CHECK_OK(MPI_Win_wait(window));
  CHECK_EQ(pieces[0][0], before);
  CHECK_EQ(pieces[1][0], before + 100);
  for (int i = 0; i < 2; ++i) CHECK_OK(MPI_Win_detach(window, pieces[i]));
  CHECK_OK(MPI_Win_free(&window));
  CHECK_OK(MPI_Type_free(&both));
  CHECK_OK(MPI_Group_free(&all));
  CHECK_OK(MPI_Group_free(&origin));
  CHECK_OK(MPI_Group_free(&target));
}

static inline void check_windows(MPI_Comm comm) {
  int rank, size;
  CHECK_OK(MPI_Comm_rank(comm, &rank));
  CHECK_OK(MPI_Comm_size(comm, &size));
  check_fences(comm, rank, size);
  check_locks(comm, rank, size);
  check_pieces(comm, rank, size);
}

/* In views that lie between each other, in the background, and by the shared pointer. */
static inline void check_files(MPI_Comm comm, const char* name) {
  enum { kBlocks = 300 };
  int rank, size, found = -1;
  int data[kBlocks];
  MPI_Offset place;
  MPI_Request request;
  MPI_Datatype blocks;
  MPI_File file;
  CHECK_OK(MPI_Comm_rank(comm, &rank));
  CHECK_OK(MPI_Comm_size(comm, &size));
  const int next = (rank + 1) % size;
  CHECK_OK(MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                         MPI_INFO_NULL, &file));
  CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, size * (MPI_Aint)sizeof(int), &blocks));
  CHECK_OK(MPI_Type_commit(&blocks));
  CHECK_OK(MPI_File_set_view(file, rank * (MPI_Offset)sizeof(int), MPI_INT, blocks, "native", MPI_INFO_NULL));
  for (int i = 0; i < kBlocks; ++i) data[i] = rank + size * i;
  CHECK_OK(MPI_File_write_all(file, data, kBlocks / 2, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_iwrite_all(file, data + kBlocks / 2, kBlocks / 2, MPI_INT, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_sync(file));
  CHECK_OK(MPI_Barrier(comm));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_read_at_all(file, next * kBlocks, data, kBlocks, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 0; i < kBlocks; ++i) CHECK_EQ(data[i], next * kBlocks + i);
  CHECK_OK(MPI_File_set_atomicity(file, 1));
  CHECK_OK(MPI_File_write_ordered(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_read_at(file, next, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQ(found, next);
  CHECK_OK(MPI_File_write_shared(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Barrier(comm));
  CHECK_OK(MPI_File_get_position_shared(file, &place));
  CHECK_EQ(place, 2 * size);
  CHECK_OK(MPI_File_set_size(file, 0));
  CHECK_OK(MPI_File_close(&file));
  CHECK_OK(MPI_Type_free(&blocks));
}

#endif
