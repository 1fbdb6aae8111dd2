/* One-sided communication and files: accesses to the same bytes that nothing orders, told by the call that
 * finds them, with the place of both; windows and files that are left. Conflicts are looked for among ranks
 * of one process. */
// clang-format off
#define _GNU_SOURCE
#include <errno.h>
#include <unistd.h>

#include "corpus.h"

static int memory[64], value = 7, result[8];
static MPI_Win win;

static void make(void) { MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win); MPI_Win_set_name(win, "table"); }
static void put(int target, int at) { MPI_Put(&value, 1, MPI_INT, target, at, 1, MPI_INT, win); }

/* CASE two-puts
 * ranks: 3
 * options: --check
 * modes: fibers threads
 * code: 47
 * says: MPI_Put: two accesses to the same bytes of rank 0 of window 'table' are not ordered
 * says:   rank ... writes bytes 16 to 19: MPI_Put at ...@a
 * says:   what comes between them has to end the first one
 * says: MPI_ERR_RMA_CONFLICT */
static void two_puts(void) {
  make();
  MPI_Win_fence(0, win);
  if (rank > 0) MPI_Put(&value, 1, MPI_INT, 0, 4, 1, MPI_INT, win); /* @a */
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* CASE late-get
 * ranks: 3
 * options: --check
 * modes: fibers threads
 * code: 47
 * says: MPI_Get: two accesses to the same bytes of rank 1 of window 'table' are not ordered
 * says:   rank 0 writes bytes 8 to 11: MPI_Put at ...@a
 * says:   rank 2 reads bytes 0 to 15: MPI_Get at ...@b */
static void late_get(void) {
  make();
  MPI_Win_fence(0, win);
  if (rank == 0) {
    MPI_Put(&value, 1, MPI_INT, 1, 2, 1, MPI_INT, win); /* @a */
    MPI_Send(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
  } else if (rank == 2) {
    MPI_Recv(result, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Get(result, 4, MPI_INT, 1, 0, 4, MPI_INT, win); /* @b */
  }
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* CASE put-and-accumulate
 * options: --check
 * modes: fibers threads
 * code: 47
 * says: MPI_Accumulate: two accesses to the same bytes of rank 0
 * says:   rank 1 writes bytes 0 to 3: MPI_Put at
 * says:   rank 1 accumulates into bytes 0 to 3: MPI_Accumulate at */
static void put_and_accumulate(void) {
  make();
  MPI_Win_lock_all(0, win);
  if (rank == 1) {
    put(0, 0);
    MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

/* CASE shared-locks
 * ranks: 3
 * options: --check
 * modes: fibers threads
 * code: 47
 * says: MPI_Put: two accesses to the same bytes of rank 0
 * says:   rank 1 writes bytes 4 to 7: MPI_Put at
 * says:   rank 2 writes bytes 4 to 7: MPI_Put at */
static void shared_locks(void) {
  make();
  if (rank > 0) MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  if (rank == 1) {
    put(0, 1);
    MPI_Send(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    MPI_Recv(result, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == 2) {
    MPI_Recv(result, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    put(0, 1);
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  }
  if (rank > 0) MPI_Win_unlock(0, win);
  MPI_Win_free(&win);
}

/* CASE started
 * ranks: 3
 * options: --check
 * modes: fibers threads
 * code: 47
 * says: MPI_Rput: two accesses to the same bytes of rank 0
 * says:   rank 1 writes bytes 0 to 3: MPI_Put at
 * says:   rank 2 writes bytes 0 to 3: MPI_Rput at */
static void started(void) {
  MPI_Group all, others, first;
  MPI_Request request;
  const int none = 0;
  make();
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_excl(all, 1, &none, &others);
  MPI_Group_incl(all, 1, &none, &first);
  if (rank == 0) {
    MPI_Win_post(others, 0, win);
    MPI_Win_wait(win);
  } else {
    MPI_Win_start(first, 0, win);
    if (rank == 2) {
      MPI_Recv(result, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Rput(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      put(0, 0);
    }
    MPI_Win_complete(win);
    /* That its own epoch has ended orders nothing at the target. */
    if (rank == 1) MPI_Send(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&others);
  MPI_Group_free(&first);
  MPI_Win_free(&win);
}

/* CASE ordered
 * ranks: 3
 * options: --check
 * code: 0 */
static void ordered(void) {
  make();
  /* Fences; columns beside each other. */
  MPI_Datatype column;
  MPI_Type_vector(8, 1, size, MPI_INT, &column);
  MPI_Type_commit(&column);
  for (int i = 0; i < 3; ++i) {
    MPI_Win_fence(0, win);
    MPI_Put(memory, 8, MPI_INT, (rank + i) % size, 16 + (rank + i) % size, 1, column, win);
    MPI_Get(result, 8, MPI_INT, (rank + 1) % size, 0, 8, MPI_INT, win);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Type_free(&column);
  /* Locks of one rank alone, and flushes between. */
  for (int i = 0; i < 3; ++i) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    put(0, 0);
    MPI_Win_flush(0, win);
    MPI_Get(result, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
  }
  /* Accumulates of one type, whoever calls them. */
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < 3; ++i) {
    MPI_Accumulate(&value, 1, MPI_INT, 1, 3, 1, MPI_INT, MPI_SUM, win);
    MPI_Fetch_and_op(&value, &result[i], MPI_INT, 1, 3, MPI_SUM, win);
    MPI_Compare_and_swap(&value, &value, &result[4 + i], MPI_INT, 1, 3, win);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

/* CASE returned
 * options: --check
 * modes: fibers threads
 * code: 42
 * lines: 1
 * says: rank 1 of 2 ended with exit code 42 */
static void returned(void) {
  int class = MPI_SUCCESS;
  make();
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, win);
  if (rank == 1) {
    put(0, 0);
    MPI_Error_class(MPI_Get(result, 1, MPI_INT, 0, 0, 1, MPI_INT, win), &class);
    MPI_Win_flush(0, win);
    if (MPI_Get(result, 1, MPI_INT, 0, 0, 1, MPI_INT, win) != MPI_SUCCESS || result[0] != value) class = MPI_SUCCESS;
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  exit(rank == 1 && class == MPI_ERR_RMA_CONFLICT ? 42 : 0);
}

/* CASE shared-locks-in-turn
 * ranks: 3
 * options: --check
 * modes: fibers threads
 * code: 47
 * says: MPI_Put: two accesses to the same bytes of rank 0
 * says:   rank ... writes bytes 4 to 7: MPI_Put at
 * says:   rank ... writes bytes 4 to 7: MPI_Put at */
static void shared_locks_in_turn(void) {
  make();
  if (rank > 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    put(0, 1);
    MPI_Win_unlock(0, win);
  }
  MPI_Win_free(&win);
}

/* CASE all-locked-in-turn
 * ranks: 3
 * options: --check
 * modes: fibers threads
 * code: 47
 * says: two accesses to the same bytes of rank 0 */
static void all_locked_in_turn(void) {
  make();
  MPI_Win_lock_all(0, win);
  if (rank == 1) put(0, 1);
  if (rank == 2) MPI_Get(result, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&win);
}

/* CASE locks-that-order
 * ranks: 3
 * options: --check=error */
static void locks_that_order(void) {
  make();
  /* Each excludes the other. */
  for (int i = 0; rank > 0 && i < 3; ++i) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    put(0, 1);
    MPI_Win_unlock(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  /* A message tells of the first one, a barrier of the second, the lock of its own memory the owner. */
  if (rank > 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    if (rank == 2) MPI_Recv(result, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    put(0, 2);
    MPI_Win_flush(0, win);
    if (rank == 1) MPI_Send(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    MPI_Win_unlock(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    put(0, 2);
    MPI_Win_unlock(0, win);
  } else if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Send(memory + 2, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    MPI_Win_unlock(0, win);
  } else {
    MPI_Recv(result, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  /* The owner polls its memory. */
  MPI_Win_lock_all(0, win);
  if (rank == 1) {
    put(2, 4);
    MPI_Win_flush(2, win);
    MPI_Fetch_and_op(&value, result, MPI_INT, 2, 8, MPI_REPLACE, win);
    MPI_Win_flush(2, win);
  } else if (rank == 2) {
    while (*(volatile int*)&memory[8] != value) MPI_Win_sync(win);
    MPI_Send(memory + 4, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(result, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

/* CASE only-locally-complete
 * options: --check
 * code: 47
 * says: MPI_Get: two accesses to the same bytes of rank 1
 * says:   rank 0 writes bytes 0 to 3: MPI_Put at */
static void only_locally_complete(void) {
  make();
  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    put(1, 0);
    MPI_Win_flush_local(1, win);
    MPI_Get(result, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

/* CASE received-into-a-window
 * options: --check
 * modes: fibers threads
 * code: 47
 * says: two accesses to the same bytes of rank 1 of window 'table' are not ordered
 * says: MPI_Put at
 * says: MPI_Recv */
static void received_into_a_window(void) {
  make();
  MPI_Win_fence(0, win);
  if (rank == 0) {
    put(1, 2);
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(memory, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* CASE received-before-a-put
 * options: --check
 * modes: fibers threads
 * code: 47
 * says: two accesses to the same bytes of rank 1 of window 'table' are not ordered */
static void received_before_a_put(void) {
  make();
  MPI_Win_fence(0, win);
  if (rank == 0) {
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    put(1, 0);
  } else {
    MPI_Recv(memory, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* CASE sent-from-a-window
 * options: --check
 * modes: fibers threads
 * code: 47
 * says: MPI_Send: two accesses to the same bytes of rank 1
 * says:   rank 0 accumulates into bytes 0 to 3: MPI_Accumulate at
 * says:   rank 1 reads bytes 0 to 15: MPI_Send at */
static void sent_from_a_window(void) {
  make();
  MPI_Win_fence(0, win);
  if (rank == 0) {
    MPI_Accumulate(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(result, 4, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(result, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(memory, 4, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* CASE got-into-a-window
 * options: --check
 * modes: fibers threads
 * code: 47
 * says: two accesses to the same bytes of rank 1 */
static void got_into_a_window(void) {
  make();
  MPI_Win_fence(0, win);
  if (rank == 0) put(1, 5);
  if (rank == 1) MPI_Get(memory + 4, 4, MPI_INT, 0, 0, 4, MPI_INT, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* CASE got-into-a-window-by-locks
 * options: --check
 * modes: fibers threads
 * code: 47
 * says: two accesses to the same bytes of rank 1 */
static void got_into_a_window_by_locks(void) {
  make();
  MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, win);
  if (rank == 0) put(1, 5);
  if (rank == 1) MPI_Get(memory + 4, 4, MPI_INT, 0, 0, 4, MPI_INT, win);
  MPI_Win_unlock(1 - rank, win);
  MPI_Win_free(&win);
}

/* CASE reduced-into-a-window
 * options: --check
 * modes: fibers threads
 * code: 47
 * says: MPI_Allreduce: two accesses to the same bytes of rank 1 */
static void reduced_into_a_window(void) {
  make();
  MPI_Win_fence(0, win);
  if (rank == 0) put(1, 3);
  MPI_Allreduce(&value, memory + 3, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* CASE own-memory-in-turn
 * options: --check=error */
static void own_memory_in_turn(void) {
  make();
  for (int i = 0; i < 3; ++i) {
    MPI_Win_fence(0, win);
    put(1 - rank, 5);
    MPI_Get(memory + 8, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win);
    MPI_Send(memory, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Recv(memory + 12, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, win);
    MPI_Allreduce(MPI_IN_PLACE, memory, 16, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    put(1, 5);
    MPI_Win_flush(1, win);
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(result, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(memory + 5, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Put(memory + 5, 1, MPI_INT, 0, 20, 1, MPI_INT, win);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

/* CASE left
 * options: --check
 * code: 0
 * lines: 3
 * says: check: this is left at MPI_Finalize:
 * says:   ranks 0,1 have not freed 1 window each of MPI_Win_create at ...@a
 * says:   ranks 0,1 have not closed 1 file each of MPI_File_open at ...@b */
static void left(void) {
  MPI_File file;
  MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win); /* @a */
  MPI_File_open(MPI_COMM_WORLD, "/dev/zero", MPI_MODE_RDONLY, MPI_INFO_NULL, &file); /* @b */
}

/* CASE met-others-before
 * options: --check=error
 * modes: fibers threads */
/* Rank 0 has met as many ranks as there are in the world, but others. */
static void met_others_before(void) {
  char* arguments[] = {"met-others-before", NULL};
  MPI_Comm between = MPI_COMM_NULL, merged;
  MPI_Comm_get_parent(&between);
  const int is_child = between != MPI_COMM_NULL;
  if (rank == 0 && !is_child)
    MPI_Comm_spawn(program_invocation_name, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between, MPI_ERRCODES_IGNORE);
  if (between != MPI_COMM_NULL) {
    MPI_Intercomm_merge(between, is_child, &merged);
    MPI_Barrier(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&between);
  }
  if (is_child) return;
  make();
  for (int turn = 0; turn < 2; ++turn) {
    if (rank == 0 && turn == 1) usleep(100000);
    if (rank == turn) {
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
      put(1, 0);
      MPI_Win_unlock(1, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_free(&win);
}

/* CASE ordered-by-another-window
 * options: --check=error */
static void ordered_by_another_window(void) {
  MPI_Win other;
  make();
  MPI_Win_create(result, sizeof result, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &other);
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Win_fence(0, other);
    /* Rank 0 calls nothing after the fence before rank 1 puts. */
    if (rank == 0 && turn == 1) usleep(100000);
    if (rank != turn) continue;
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    put(1, 0);
    MPI_Win_unlock(1, win);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, other);
  MPI_Win_free(&other);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  static const struct Case cases[] = {
      {"two-puts", two_puts},
      {"late-get", late_get},
      {"put-and-accumulate", put_and_accumulate},
      {"shared-locks", shared_locks},
      {"started", started},
      {"ordered", ordered},
      {"returned", returned},
      {"shared-locks-in-turn", shared_locks_in_turn},
      {"all-locked-in-turn", all_locked_in_turn},
      {"locks-that-order", locks_that_order},
      {"only-locally-complete", only_locally_complete},
      {"received-into-a-window", received_into_a_window},
      {"received-before-a-put", received_before_a_put},
      {"sent-from-a-window", sent_from_a_window},
      {"got-into-a-window", got_into_a_window},
      {"got-into-a-window-by-locks", got_into_a_window_by_locks},
      {"reduced-into-a-window", reduced_into_a_window},
      {"own-memory-in-turn", own_memory_in_turn},
      {"left", left},
      {"met-others-before", met_others_before},
      {"ordered-by-another-window", ordered_by_another_window},
      {NULL, NULL},
  };
  return run_case(argc, argv, cases, NULL);
}
