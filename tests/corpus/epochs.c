/* Epochs that overlap, and what a program promises about them by assertions and hints: each fault, and beside
 * it a program that keeps its word. */
// clang-format off
#include "corpus.h"

static int memory[64], value = 7;
static MPI_Win win;

static void make(void) { MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win); }
static void put(int at) { MPI_Put(&value, 1, MPI_INT, 1 - rank, at, 1, MPI_INT, win); }
static void locked_put(void) {
  MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, win); /* @lock */
  put(rank);
  MPI_Win_unlock(1 - rank, win);
}
static void receive(int* to) {
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(to, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* CASE locked-between-fences
 * options: --check
 * code: ...
 * says: MPI_Win_fence(win): rank ... has called operations on the window after MPI_Win_lock at
 * says: in the epoch that MPI_Win_fence at ...@a has begun and this call ends
 * says: MPI_ERR_RMA_SYNC */
static void locked_between_fences(void) {
  make();
  MPI_Win_fence(0, win); /* @a */
  locked_put();
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* CASE all-locked-between-fences
 * options: --check
 * code: ...
 * says: MPI_Win_fence(win): rank ... has called operations on the window after MPI_Win_lock_all at */
static void all_locked_between_fences(void) {
  make();
  MPI_Win_fence(0, win);
  MPI_Win_lock_all(0, win);
  put(rank);
  MPI_Win_unlock_all(win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* CASE locked-beside-fences
 * options: --check=error */
static void locked_beside_fences(void) {
  make();
  locked_put();
  MPI_Win_fence(0, win);
  put(4);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  locked_put();
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  put(4);
  MPI_Win_fence(0, win); /* no fence follows it, so it begins no epoch */
  MPI_Win_lock_all(0, win);
  MPI_Win_flush_all(win);
  MPI_Win_unlock_all(win);
  MPI_Win_fence(0, win);
  locked_put();
  MPI_Win_free(&win);
}

/* CASE something-precedes
 * options: --check
 * code: ...
 * says: MPI_Win_fence(assert): MPI_MODE_NOPRECEDE says that rank ... has called no operations on the window since the fence before, and it has
 * says: MPI_ERR_ASSERT */
static void something_precedes(void) {
  make();
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  put(0);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  MPI_Win_free(&win);
}

/* CASE something-succeeds
 * code: ...
 * says: MPI_Put(target_rank = ...): rank ... has no access epoch on the window
 * says: MPI_ERR_RMA_SYNC */
static void something_succeeds(void) {
  make();
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  put(0);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* CASE put-where-none-is-promised
 * options: --check
 * modes: fibers threads
 * code: ...
 * says: MPI_Put(target_rank = ...): rank ... has said by MPI_MODE_NOPUT that nothing is put into its memory of the window: MPI_Win_fence at ...@a */
static void put_where_none_is_promised(void) {
  make();
  MPI_Win_fence(MPI_MODE_NOPUT, win); /* @a */
  put(0);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

static void expose(int assert) {
  MPI_Group all, other;
  const int ranks[1] = {1 - rank};
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, ranks, &other);
  if (rank == 0) {
    MPI_Win_start(other, 0, win);
    put(0);
    MPI_Win_complete(win);
  } else {
    MPI_Win_post(other, assert, win); /* @post */
    MPI_Win_wait(win);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&other);
}

/* CASE put-where-none-is-posted
 * options: --check
 * modes: fibers threads
 * code: ...
 * says: MPI_Put(target_rank = 1): rank 1 has said by MPI_MODE_NOPUT that nothing is put into its memory of the window: MPI_Win_post at */
static void put_where_none_is_posted(void) {
  make();
  expose(0);
  expose(MPI_MODE_NOPUT);
  MPI_Win_free(&win);
}

/* CASE received-where-nothing-is-stored
 * options: --check
 * code: ...
 * says: MPI_Win_fence(assert): MPI_MODE_NOSTORE says that rank 1 has not written to its memory of the window since it last synchronised it, and MPI_Recv at */
static void received_where_nothing_is_stored(void) {
  make();
  MPI_Win_fence(0, win);
  receive(memory + 9);
  MPI_Win_fence(MPI_MODE_NOSTORE, win);
  MPI_Win_free(&win);
}

/* CASE locked-without-locks
 * options: --check
 * code: ...
 * says: MPI_Win_lock(win): the window was made with the hint no_locks = true, which promises that no rank locks it */
static void locked_without_locks(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "true");
  MPI_Win_create(memory, sizeof memory, sizeof(int), info, MPI_COMM_WORLD, &win);
  MPI_Info_free(&info);
  locked_put();
  MPI_Win_free(&win);
}

/* CASE promises-kept
 * options: --check=error */
static void promises_kept(void) {
  int other = 0;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "true");
  MPI_Win_create(memory, sizeof memory, sizeof(int), info, MPI_COMM_WORLD, &win);
  MPI_Info_free(&info);
  MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOPUT, win);
  MPI_Get(&other, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
  MPI_Win_fence(MPI_MODE_NOSTORE, win);
  put(0);
  receive(&other);
  MPI_Win_fence(MPI_MODE_NOSTORE, win);
  receive(memory + 9);
  MPI_Win_fence(0, win);
  MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED, win);
  expose(MPI_MODE_NOSTORE);
  MPI_Win_free(&win);
}

/* CASE stored-before-an-unlock
 * options: --check=error */
/* What has been stored is synchronised by the unlock of all; what goes around the memory is not stored. */
static void stored_before_an_unlock(void) {
  MPI_Datatype ends;
  MPI_Type_vector(2, 1, 63, MPI_INT, &ends);
  MPI_Type_commit(&ends);
  MPI_Win_create(memory + 1, sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  receive(memory + 1);
  MPI_Win_unlock_all(win);
  MPI_Sendrecv(memory + 2, 2, MPI_INT, 1 - rank, 1, memory, 1, ends, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Win_fence(MPI_MODE_NOSTORE, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Win_free(&win);
  MPI_Type_free(&ends);
}

int main(int argc, char** argv) {
  static const struct Case cases[] = {
      {"locked-between-fences", locked_between_fences},
      {"all-locked-between-fences", all_locked_between_fences},
      {"locked-beside-fences", locked_beside_fences},
      {"something-precedes", something_precedes},
      {"something-succeeds", something_succeeds},
      {"put-where-none-is-promised", put_where_none_is_promised},
      {"put-where-none-is-posted", put_where_none_is_posted},
      {"received-where-nothing-is-stored", received_where_nothing_is_stored},
      {"locked-without-locks", locked_without_locks},
      {"promises-kept", promises_kept},
      {"stored-before-an-unlock", stored_before_an_unlock},
      {NULL, NULL},
  };
  return run_case(argc, argv, cases, NULL);
}
