/* The buffers of one-sided operations at their origin, which are the operation's until something completes it:
 * each fault, and beside it a program that does the same in order. */
// clang-format off
#include <sys/mman.h>

#include "corpus.h"

static int memory[64], in[8], out[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static MPI_Win win;

static void make(void) { MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win); }
static void lock(void) { make(); MPI_Win_lock_all(0, win); }
static void unlock(void) { MPI_Win_unlock_all(win); MPI_Win_free(&win); }
static void put(int at) { MPI_Put(out, 4, MPI_INT, 1, at, 4, MPI_INT, win); /* @put */ }
static void get(int at) { MPI_Get(in, 4, MPI_INT, 1, at, 4, MPI_INT, win); /* @get */ }

/* CASE gets-into-one-buffer
 * options: --check
 * code: 1
 * says: MPI_Get: the result buffer overlaps the result buffer of another operation in progress
 * says:   this one: MPI_Get(4 x MPI_INT) at
 * says:   the other one: MPI_Get(4 x MPI_INT) at
 * says: MPI_ERR_BUFFER */
static void gets_into_one_buffer(void) {
  make();
  MPI_Win_fence(0, win);
  if (rank == 0) { get(0); get(8); }
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* CASE gets-in-turn
 * options: --check=error */
static void gets_in_turn(void) {
  lock();
  if (rank == 0) { get(0); MPI_Win_flush_local(1, win); get(8); MPI_Win_flush_local_all(win); get(16); MPI_Win_flush(1, win); get(24); }
  unlock();
  make();
  for (int i = 0; i < 3; ++i) { MPI_Win_fence(0, win); if (rank == 0) get(i); }
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* CASE stored-after-a-put
 * options: --check
 * code: 1
 * says: MPI_Win_fence: the origin buffer has changed while it was MPI's
 * says:   it was given to MPI_Put(4 x MPI_INT) at
 * says:   and is the program's again with MPI_Win_fence at ...@a
 * says:   it must not be written before the operation is complete [MPI_ERR_BUFFER] */
static void stored_after_a_put(void) {
  make();
  MPI_Win_fence(0, win);
  if (rank == 0) { put(0); out[3] = 9; }
  MPI_Win_fence(0, win); /* @a */
  MPI_Win_free(&win);
}

/* CASE stored-after-a-get
 * options: --check
 * code: 1
 * says: MPI_Win_unlock_all: the result buffer has changed while it was MPI's */
static void stored_after_a_get(void) {
  lock();
  if (rank == 0) { get(0); in[0] = 9; }
  unlock();
}

/* CASE stored-after-a-flush
 * options: --check=error */
static void stored_after_a_flush(void) {
  lock();
  if (rank == 0) { put(0); MPI_Win_flush_local(1, win); out[3] = 9; get(8); MPI_Win_flush(1, win); in[0] = 9; }
  unlock();
}

/* CASE sent-before-it-is-there
 * options: --check
 * code: 1
 * says: MPI_Send: the send buffer overlaps the result buffer of another operation in progress
 * says:   this one: MPI_Send(1 x MPI_INT) at ...@a */
static void sent_before_it_is_there(void) {
  lock();
  if (rank == 0) { get(0); MPI_Send(in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); /* @a */ }
  else MPI_Recv(out, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  unlock();
}

/* CASE sent-when-it-is-there
 * options: --check=error */
static void sent_when_it_is_there(void) {
  lock();
  if (rank == 0) { get(0); MPI_Win_flush(1, win); MPI_Send(in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); put(8); MPI_Send(out, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); }
  else for (int i = 0; i < 2; ++i) MPI_Recv(out, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  unlock();
}

/* CASE received-into-an-origin
 * options: --check
 * code: 1
 * says: MPI_Irecv: the receive buffer overlaps the origin buffer of another operation in progress */
static void received_into_an_origin(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  lock();
  if (rank == 0) { put(0); MPI_Irecv(out + 3, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request); }
  else MPI_Send(in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  unlock();
}

/* CASE received-beside-an-origin
 * options: --check=error */
static void received_beside_an_origin(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  lock();
  if (rank == 0) { put(0); MPI_Irecv(out + 4, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request); }
  else MPI_Send(in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  unlock();
}

/* CASE put-from-a-receive
 * options: --check
 * code: 1
 * says: MPI_Put: the origin buffer overlaps the receive buffer of another operation in progress */
static void put_from_a_receive(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  lock();
  if (rank == 0) { MPI_Irecv(out, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request); put(0); }
  else MPI_Send(in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  unlock();
}

/* CASE broadcast-before-it-is-there
 * options: --check
 * code: 1
 * says: MPI_Bcast: the send buffer overlaps the result buffer of another operation in progress */
static void broadcast_before_it_is_there(void) {
  make();
  MPI_Win_fence(0, win);
  if (rank == 0) get(0);
  MPI_Bcast(in, 4, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* CASE broadcast-when-it-is-there
 * options: --check=error */
static void broadcast_when_it_is_there(void) {
  make();
  MPI_Win_fence(0, win);
  if (rank == 0) get(0);
  MPI_Win_fence(0, win);
  MPI_Bcast(in, 4, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Win_free(&win);
}

/* CASE stored-before-wait
 * options: --check
 * code: 1
 * says: MPI_Wait: the origin buffer has changed while it was MPI's
 * says:   it was given to MPI_Rput(4 x MPI_INT) at ...@a */
static void stored_before_wait(void) {
  MPI_Request request;
  lock();
  if (rank == 0) {
    MPI_Rput(out, 4, MPI_INT, 1, 0, 4, MPI_INT, win, &request); /* @a */
    out[0] = 9;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  unlock();
}

/* CASE put-before-wait
 * options: --check
 * code: 47
 * says: MPI_Rput: two accesses to the same bytes of rank 1 of the window are not ordered
 * says:   rank 0 reads bytes 0 to 15: MPI_Rget at ...@a
 * says:   rank 0 writes bytes 0 to 15: MPI_Rput at ...@b */
static void put_before_wait(void) {
  MPI_Request requests[2];
  lock();
  if (rank == 0) {
    MPI_Rget(in, 4, MPI_INT, 1, 0, 4, MPI_INT, win, &requests[0]); /* @a */
    MPI_Rput(out, 4, MPI_INT, 1, 0, 4, MPI_INT, win, &requests[1]); /* @b */
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  unlock();
}

/* CASE put-after-wait
 * options: --check=error */
static void put_after_wait(void) {
  MPI_Request request;
  lock();
  for (int i = 0; rank == 0 && i < 3; ++i) {
    MPI_Rget(in, 4, MPI_INT, 1, 0, 4, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Rput(in, 4, MPI_INT, 1, 0, 4, MPI_INT, win, &request);
    for (int done = 0; !done;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    in[0] = i;
    MPI_Win_flush(1, win);
  }
  if (rank == 0) {
    MPI_Get(out, 1, MPI_INT, 1, 40, 1, MPI_INT, win);
    MPI_Win_flush_local(1, win);
    MPI_Put(in, 1, MPI_INT, 1, 40, 1, MPI_INT, win);
    MPI_Raccumulate(in, 1, MPI_INT, 1, 44, 1, MPI_INT, MPI_SUM, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Rget_accumulate(NULL, 0, MPI_INT, out, 1, MPI_INT, 1, 48, 1, MPI_INT, MPI_NO_OP, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Put(in, 1, MPI_INT, 1, 48, 1, MPI_INT, win);
  }
  unlock();
}

/* CASE one-result-of-two
 * options: --check
 * code: 1
 * says: MPI_Fetch_and_op: the result buffer overlaps the result buffer of another operation in progress */
static void one_result_of_two(void) {
  lock();
  for (int i = 0; rank == 0 && i < 2; ++i) MPI_Fetch_and_op(out, in, MPI_INT, 1, i, MPI_SUM, win);
  unlock();
}

/* CASE compared-with-a-result
 * options: --check
 * code: 1
 * says: MPI_Compare_and_swap: the origin buffer overlaps the result buffer of another operation in progress */
static void compared_with_a_result(void) {
  lock();
  if (rank == 0) {
    MPI_Fetch_and_op(out, in, MPI_INT, 1, 0, MPI_SUM, win);
    MPI_Compare_and_swap(out, in, in + 1, MPI_INT, 1, 0, win);
  }
  unlock();
}

/* CASE results-of-their-own
 * options: --check=error */
static void results_of_their_own(void) {
  lock();
  for (int i = 0; rank == 0 && i < 2; ++i) MPI_Fetch_and_op(out, in + i, MPI_INT, 1, i, MPI_SUM, win);
  MPI_Win_flush_all(win);
  if (rank == 0) MPI_Compare_and_swap(out, in, in + 2, MPI_INT, 1, 0, win);
  /* What MPI_NO_OP does not read may be written, and it only reads at the target. */
  if (rank == 0) {
    MPI_Fetch_and_op(out + 1, in + 3, MPI_INT, 1, 9, MPI_NO_OP, win);
    out[1] = 10;
    MPI_Get(in + 4, 1, MPI_INT, 1, 9, 1, MPI_INT, win);
  }
  unlock();
}

static int* pages;
static int fresh(void) { pages = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); return pages == MAP_FAILED; }

/* CASE freed-origin
 * options: --check
 * code: 1
 * says: MPI_Win_unlock_all: the origin buffer was freed while it was MPI's
 * says:   it was given to MPI_Put(16 x MPI_INT) at ...@a */
static void freed_origin(void) {
  lock();
  if (rank == 0 && fresh() == 0) {
    MPI_Put(pages, 16, MPI_INT, 1, 0, 16, MPI_INT, win); /* @a */
    munmap(pages, 4096);
  }
  unlock();
}

/* CASE freed-after-a-flush
 * options: --check=error */
static void freed_after_a_flush(void) {
  lock();
  if (rank == 0 && fresh() == 0) {
    MPI_Put(pages, 16, MPI_INT, 1, 0, 16, MPI_INT, win);
    MPI_Win_flush_local(1, win);
    munmap(pages, 4096);
  }
  unlock();
}

/* CASE started-and-completed
 * options: --check
 * code: 1
 * says: MPI_Win_complete: the origin buffer has changed while it was MPI's */
static void started_and_completed(void) {
  MPI_Group all;
  const int ranks[1] = {1 - rank};
  MPI_Group group;
  make();
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, ranks, &group);
  if (rank == 0) {
    for (int i = 0; i < 2; ++i) {
      MPI_Win_start(group, 0, win);
      put(0);
      if (i == 1) out[0] = 11;
      MPI_Win_complete(win);
      out[1] = i;
    }
  } else {
    for (int i = 0; i < 2; ++i) {
      MPI_Win_post(group, 0, win);
      MPI_Win_wait(win);
    }
  }
  MPI_Group_free(&all);
  MPI_Group_free(&group);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  static const struct Case cases[] = {
      {"gets-into-one-buffer", gets_into_one_buffer},
      {"gets-in-turn", gets_in_turn},
      {"stored-after-a-put", stored_after_a_put},
      {"stored-after-a-get", stored_after_a_get},
      {"stored-after-a-flush", stored_after_a_flush},
      {"sent-before-it-is-there", sent_before_it_is_there},
      {"sent-when-it-is-there", sent_when_it_is_there},
      {"received-into-an-origin", received_into_an_origin},
      {"received-beside-an-origin", received_beside_an_origin},
      {"put-from-a-receive", put_from_a_receive},
      {"broadcast-before-it-is-there", broadcast_before_it_is_there},
      {"broadcast-when-it-is-there", broadcast_when_it_is_there},
      {"stored-before-wait", stored_before_wait},
      {"put-before-wait", put_before_wait},
      {"put-after-wait", put_after_wait},
      {"one-result-of-two", one_result_of_two},
      {"compared-with-a-result", compared_with_a_result},
      {"results-of-their-own", results_of_their_own},
      {"freed-origin", freed_origin},
      {"freed-after-a-flush", freed_after_a_flush},
      {"started-and-completed", started_and_completed},
      {NULL, NULL},
  };
  return run_case(argc, argv, cases, NULL);
}
