/* Functions that do the same inside, where one rank calls another one than the others: all are told by name.
 */
#include "corpus.h"

/* CASE barrier-and-finalize
 * ranks: 4
 * modes: fibers threads processes per2
 * code: 16
 * says: calls MPI_Barrier
 * says: rank 2 calls MPI_Finalize */
static void barrier_and_finalize(void) {
  if (rank != 2) MPI_Barrier(MPI_COMM_WORLD);
}

/* CASE fence-and-free
 * modes: fibers threads processes per2
 * code: 16
 * says: rank 0 calls MPI_Win_fence
 * says: rank 1 calls MPI_Win_free */
static void fence_and_free(void) {
  MPI_Win window;
  int* memory;
  MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  if (rank == 0) MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

/* CASE barrier-and-split
 * ranks: 3
 * modes: fibers threads processes per2
 * code: 16
 * says: calls MPI_Comm_split
 * says: rank 1 calls MPI_Barrier */
static void barrier_and_split(void) {
  MPI_Comm made;
  if (rank != 1)
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);
  else
    MPI_Barrier(MPI_COMM_WORLD);
}

/* CASE barrier-and-dup
 * ranks: 3
 * modes: fibers threads processes per2
 * code: 16
 * says: calls MPI_Comm_dup
 * says: rank 1 calls MPI_Barrier */
static void barrier_and_dup(void) {
  MPI_Comm made;
  if (rank != 1)
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
  else
    MPI_Barrier(MPI_COMM_WORLD);
}

/* CASE bcast-and-dup
 * modes: fibers threads processes per2
 * code: 16
 * says: rank 0 calls MPI_Comm_dup
 * says: rank 1 calls MPI_Bcast */
static void bcast_and_dup(void) {
  MPI_Comm made;
  int two_contexts[2];
  if (rank == 0)
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
  else
    MPI_Bcast(two_contexts, 2, MPI_INT, 0, MPI_COMM_WORLD);
}

/* CASE barrier-and-disconnect
 * modes: fibers threads processes per2
 * says: rank 0 waits in MPI_Comm_disconnect at @a ...: rank 1 calls MPI_Barrier there
 * says: rank 1 waits in MPI_Barrier at @b ...: rank 0 calls MPI_Comm_disconnect there */
static void barrier_and_disconnect(void) {
  MPI_Comm both;
  MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 3, &both);
  if (rank == 0) MPI_Comm_disconnect(&both); /* @a */
  if (rank == 1) MPI_Barrier(both);          /* @b */
}

/* CASE exchanges-of-two-kinds
 * modes: fibers threads
 * code: 16
 * says: rank 0 calls MPI_Alltoallv
 * says: rank 1 calls MPI_Alltoallw */
static void exchanges_of_two_kinds(void) {
  const int counts[2] = {1, 1}, places[2] = {0, 4};
  const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  int in[2], out[2] = {1, 2};
  if (rank == 0)
    MPI_Alltoallv(out, counts, counts, MPI_INT, in, counts, counts, MPI_INT, MPI_COMM_WORLD);
  else
    MPI_Alltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD);
}

/* CASE merge-without-one
 * ranks: 4
 * modes: fibers threads processes per2
 * says: wait in MPI_Intercomm_merge at @a ...: rank 2 does not take part (it waits in MPI_Barrier) */
/* Ranks 1 and 3 wait in an earlier step of it than rank 0, and all of them for rank 2. */
static void merge_without_one(void) {
  MPI_Comm half, both, merged;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &both);
  if (rank != 2) MPI_Intercomm_merge(both, rank % 2, &merged); /* @a */
  if (rank == 2) MPI_Barrier(half);
}

int main(int argc, char** argv) {
  static const struct Case cases[] = {
      {"barrier-and-finalize", barrier_and_finalize},
      {"fence-and-free", fence_and_free},
      {"barrier-and-split", barrier_and_split},
      {"barrier-and-dup", barrier_and_dup},
      {"bcast-and-dup", bcast_and_dup},
      {"barrier-and-disconnect", barrier_and_disconnect},
      {"exchanges-of-two-kinds", exchanges_of_two_kinds},
      {"merge-without-one", merge_without_one},
      {NULL, NULL},
  };
  return run_case(argc, argv, cases, NULL);
}
