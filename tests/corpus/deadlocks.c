/* Programs whose ranks wait for ever, and what is said about them. What is expected has a line for itself,
 * however long. */
// clang-format off
#include <pthread.h>

#include "corpus.h"

static char large[kLarge];

static MPI_Comm make_dup(void) {
  MPI_Comm dup;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  return dup;
}

/* CASE send-send
 * says: deadlock: every rank waits for what cannot come any more
 * says: ranks 0,1 wait in MPI_Send(destination rank+1, tag 0, 100000 bytes, MPI_COMM_WORLD) at @a: that rank never receives it; it waits in MPI_Send
 * says: in a circle: rank 0 waits for rank 1 waits for rank 0 */
static void send_send(void) {
  MPI_Send(large, kLarge, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD); /* @a */
  MPI_Recv(large, kLarge, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* CASE ssend-ssend
 * says: ranks 0,1 wait in MPI_Ssend(destination rank+1, tag 4, 4 bytes, MPI_COMM_WORLD) at @a: that rank never receives it; it waits in MPI_Ssend */
static void ssend_ssend(void) {
  MPI_Ssend(&one, 1, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD); /* @a */
}

/* CASE cycle-of-three
 * ranks: 3
 * says: ranks 0-2 wait in MPI_Recv(source rank+1, tag 0, MPI_COMM_WORLD) at @a: that rank never sends it; it waits in MPI_Recv
 * says: in a circle: rank 0 waits for rank 1 waits for rank 2 waits for rank 0 */
static void cycle_of_three(void) {
  MPI_Recv(&two, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @a */
}

/* CASE wrong-tag
 * says: rank 1 waits in MPI_Recv(source 0, tag 7, MPI_COMM_WORLD) at @a: rank 0 never sends it; it has called MPI_Finalize; it sent tag 8 instead: 1 message of 4 bytes waits unmatched
 * says: rank 0 waits in MPI_Finalize at ... (MPI_COMM_WORLD): rank 1 does not take part (it waits in MPI_Recv) */
static void wrong_tag(void) {
  if (rank == 0) MPI_Send(&one, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(&two, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @a */
}

/* CASE wrong-tag-large
 * says: rank 1 waits in MPI_Recv(source 0, tag 7, MPI_COMM_WORLD) at @b: rank 0 never sends it; it waits in MPI_Send; it sent tag 8 instead: 1 message of 100000 bytes waits unmatched
 * says: rank 0 waits in MPI_Send(destination 1, tag 8, 100000 bytes, MPI_COMM_WORLD) at @a: rank 1 never receives it; it waits in MPI_Recv; it expects tag 7 instead */
static void wrong_tag_large(void) {
  if (rank == 0) MPI_Send(large, kLarge, MPI_CHAR, 1, 8, MPI_COMM_WORLD);                       /* @a */
  if (rank == 1) MPI_Recv(large, kLarge, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @b */
}

/* CASE wrong-source
 * ranks: 3
 * says: rank 0 waits in MPI_Recv(source 1, tag 5, MPI_COMM_WORLD) at @a: rank 1 never sends it; it has called MPI_Finalize; rank 2 sent one with tag 5: 3 messages of 4 bytes wait unmatched */
static void wrong_source(void) {
  for (int i = 0; i < 3 && rank == 2; ++i) MPI_Send(&one, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(&two, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @a */
}

/* CASE wrong-communicator
 * says: rank 1 waits in MPI_Recv(source 0, tag 3, MPI_COMM_WORLD) at @a: rank 0 never sends it; it has called MPI_Finalize; it sent it in a communicator of all ranks instead: 1 message of 4 bytes waits unmatched */
static void wrong_communicator(void) {
  const MPI_Comm dup = make_dup();
  if (rank == 0) MPI_Send(&one, 1, MPI_INT, 1, 3, dup);
  if (rank == 1) MPI_Recv(&two, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @a */
}

/* CASE named-communicator
 * says: rank 1 waits in MPI_Recv(source 0, tag 3, halo) at @a: rank 0 never sends it; it has called MPI_Finalize */
static void named_communicator(void) {
  const MPI_Comm dup = make_dup();
  MPI_Comm_set_name(dup, "halo");
  if (rank == 1) MPI_Recv(&two, 1, MPI_INT, 0, 3, dup, MPI_STATUS_IGNORE); /* @a */
}

/* CASE missing-in-allreduce
 * ranks: 4
 * says: ranks 0,2,3 wait in MPI_Allreduce at @b (MPI_COMM_WORLD): rank 1 does not take part (it waits in MPI_Recv)
 * says: rank 1 waits in MPI_Recv(source 0, tag 7, MPI_COMM_WORLD) at @a: rank 0 never sends it; it waits in MPI_Allreduce
 * says: in a circle: rank 0 waits for rank 1 waits for rank 0 */
static void missing_in_allreduce(void) {
  if (rank == 1) MPI_Recv(&two, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @a */
  MPI_Allreduce(&one, &two, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);                      /* @b */
}

/* CASE finalize-without-the-others
 * ranks: 5
 * says: ranks 0,4 wait in MPI_Finalize at ... (MPI_COMM_WORLD): ranks 1-3 do not take part (each: it waits in MPI_Recv)
 * says: ranks 1-3 wait in MPI_Recv(source 0, tag 0, MPI_COMM_WORLD) at @a: rank 0 never sends it; it has called MPI_Finalize */
static void finalize_without_the_others(void) {
  if (rank > 0 && rank < 4) MPI_Recv(&two, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @a */
}

/* CASE missing-in-large-bcast
 * ranks: 3
 * says: ...wait... in MPI_Bcast at @a (MPI_COMM_WORLD): rank 0 does not take part (it waits in MPI_Recv)
 * says: rank 0 waits in MPI_Recv(source 2, tag 0, MPI_COMM_WORLD) at @b: rank 2 never sends it; it waits in MPI_Bcast */
static void missing_in_large_bcast(void) {
  if (rank == 0) MPI_Recv(&two, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @b */
  MPI_Bcast(large, kLarge, MPI_CHAR, 0, MPI_COMM_WORLD);                               /* @a */
}

/* CASE wrong-root
 * modes: fibers threads processes per2
 * says: root
 * code: ... */
static void wrong_root(void) { MPI_Bcast(&one, 1, MPI_INT, rank, MPI_COMM_WORLD); }

/* CASE mismatched-collectives
 * says: calls ... where rank ... calls
 * hosts: must describe the same data
 * code: ... */
static void mismatched_collectives(void) {
  if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) MPI_Allreduce(&one, &two, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* CASE one-gather-too-many
 * ranks: 3
 * says: rank 0 waits in MPI_Recv(source 1, tag 1, MPI_COMM_WORLD) at @b: rank 1 never sends it; it waits in MPI_Gather
 * says: ranks 1,2 wait in MPI_Gather at @a (MPI_COMM_WORLD): rank 0 does not take part (it waits in MPI_Recv)
 * hosts: rank 0 waits in MPI_Recv(source 1, tag 1, MPI_COMM_WORLD) at @b: rank 1 never sends it; it waits in MPI_Barrier
 * hosts: ranks 1,2 wait in MPI_Barrier at @c (MPI_COMM_WORLD): rank 0 does not take part (it waits in MPI_Recv) */
static void one_gather_too_many(void) {
  int all[3];
  for (int i = 0; i < 1 + (rank != 0); ++i) MPI_Gather(&one, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD); /* @a */
  if (rank == 0) MPI_Recv(&two, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);                          /* @b */
  if (rank != 0) MPI_Barrier(MPI_COMM_WORLD);                                                                  /* @c */
}

/* CASE self-send
 * ranks: 1
 * says: rank 0 waits in MPI_Send(destination 0, tag 2, 100000 bytes, MPI_COMM_WORLD) at @a: the rank itself never receives it
 * says: rank 0 waits for itself */
static void self_send(void) {
  MPI_Send(large, kLarge, MPI_CHAR, rank, 2, MPI_COMM_WORLD); /* @a */
}

/* CASE self-receive
 * ranks: 1
 * says: rank 0 waits in MPI_Recv(source 0, tag 2, MPI_COMM_SELF) at @a: the rank itself never sends it */
static void self_receive(void) {
  MPI_Recv(&two, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE); /* @a */
}

/* CASE wait-for-receive
 * says: rank 0 waits in MPI_Wait at @a for a receive (source 1, tag 6, MPI_COMM_WORLD): rank 1 never sends it; it has called MPI_Finalize */
static void wait_for_receive(void) {
  MPI_Request request;
  if (rank != 0) return;
  MPI_Irecv(&two, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @a */
}

/* CASE wait-for-send
 * says: rank 0 waits in MPI_Wait at @a for a send (destination 1, tag 6, 100000 bytes, MPI_COMM_WORLD): rank 1 never receives it; it has called MPI_Finalize */
static void wait_for_send(void) {
  MPI_Request request;
  if (rank != 0) return;
  MPI_Isend(large, kLarge, MPI_CHAR, 1, 6, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @a */
}

/* CASE waitall
 * ranks: 3
 * says: rank 0 waits in MPI_Waitall at @a for 3 requests
 * says:     a receive (source 1, tag 1, MPI_COMM_WORLD): rank 1 never sends it; it has called MPI_Finalize
 * says:     a receive (source 2, tag 2, MPI_COMM_WORLD): rank 2 never sends it; it has called MPI_Finalize; it sent tag 3 instead: 1 message of 4 bytes waits unmatched
 * says:     a send (destination 2, tag 9, 100000 bytes, MPI_COMM_WORLD): rank 2 never receives it; it has called MPI_Finalize */
static void waitall(void) {
  MPI_Request requests[4];
  if (rank == 2) MPI_Send(&one, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  if (rank == 1) MPI_Send(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  MPI_Irecv(&two, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]); /* this one comes */
  MPI_Irecv(&two, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Irecv(&two, 1, MPI_INT, 2, 2, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(large, kLarge, MPI_CHAR, 2, 9, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE); /* @a */
}

/* CASE waitany
 * says: rank 0 waits in MPI_Waitany at @a for 2 requests
 * says:     a receive (source any, tag 1, MPI_COMM_WORLD): nobody sends it
 * says:     a receive (source 0, any tag, MPI_COMM_SELF): the rank itself never sends it */
static void waitany(void) {
  MPI_Request requests[2];
  int index;
  if (rank != 0) return;
  MPI_Irecv(&one, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&two, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_SELF, &requests[1]);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE); /* @a */
}

/* CASE probe
 * says: rank 1 waits in MPI_Probe(source any, tag 3, MPI_COMM_WORLD) at @a: nobody sends it; rank 0 sent tag 4 instead: 1 message of 4 bytes waits unmatched */
static void probe(void) {
  if (rank == 0) MPI_Send(&one, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
  if (rank == 1) MPI_Probe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @a */
}

/* CASE mprobe
 * says: rank 1 waits in MPI_Mprobe(source 0, any tag, MPI_COMM_WORLD) at @a: rank 0 never sends it; it has called MPI_Finalize */
static void mprobe(void) {
  MPI_Message message;
  if (rank == 1) MPI_Mprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE); /* @a */
}

/* CASE eaten-by-wildcard
 * says: rank 0 waits in MPI_Recv(source 1, tag 1, MPI_COMM_WORLD) at @a: rank 1 never sends it; it has called MPI_Finalize */
static void eaten_by_wildcard(void) {
  if (rank == 1) MPI_Send(&one, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  if (rank != 0) return;
  MPI_Recv(&two, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(&two, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @a */
}

/* CASE early-exit
 * says: rank 1 of 2 ended with exit code 0 before it called MPI_Finalize */
static void early_exit(void) {
  if (rank == 1) exit(0);
  MPI_Recv(&two, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* CASE intercommunicator
 * ranks: 3
 * says: rank 0 waits in MPI_Recv(source 2, tag 1, a communicator of all ranks) at @a: rank 2 never sends it; it has called MPI_Finalize */
static void intercommunicator(void) {
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 2 ? 0 : 2, 5, &inter);
  if (rank == 0) MPI_Recv(&two, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE); /* @a */
}

/* CASE intercommunicator-barrier
 * ranks: 3
 * says: ranks 0,1 wait in MPI_Barrier at @a (a communicator of all ranks): rank 2 does not take part (it has called MPI_Finalize) */
static void intercommunicator_barrier(void) {
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 2 ? 0 : 2, 5, &inter);
  if (rank != 2) MPI_Barrier(inter); /* @a */
}

/* CASE nonblocking-by-some
 * ranks: 3
 * says: ranks 1,2 wait in MPI_Wait at @a for MPI_Ibarrier (MPI_COMM_WORLD): rank 0 does not take part (it has called MPI_Finalize)
 * hosts: ranks 1,2 wait in MPI_Finalize at ... (MPI_COMM_WORLD): rank 0 does not take part (it has ended) */
static void nonblocking_by_some(void) {
  MPI_Request request;
  if (rank == 0) return;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @a */
}

static void keep_second(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)in, (void)inout, (void)length, (void)type;
}

/* CASE operation-of-the-users
 * ranks: 4
 * says: rank 0 waits in MPI_Recv(source 1, tag 0, MPI_COMM_WORLD) at @b: rank 1 never sends it; it waits in MPI_Wait
 * says: ranks 1-3 wait in MPI_Wait at @a for MPI_Iallreduce (MPI_COMM_WORLD): rank 0 does not take part (it waits in MPI_Recv) */
static void operation_of_the_users(void) {
  MPI_Request request;
  MPI_Op op;
  MPI_Op_create(keep_second, 0, &op);
  if (rank == 0) MPI_Recv(&two, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @b */
  MPI_Iallreduce(&one, &two, 1, MPI_INT, op, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @a */
}

/* CASE split-without-one
 * ranks: 3
 * says: ranks 0,2 wait in MPI_Comm_split at @a (MPI_COMM_WORLD): rank 1 does not take part (it waits in MPI_Recv) */
static void split_without_one(void) {
  MPI_Comm part;
  if (rank == 1) MPI_Recv(&two, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &part); /* @a */
}

/* CASE dup-without-one
 * ranks: 3
 * says: ...wait... in MPI_Comm_dup at @a (MPI_COMM_WORLD): rank 0 does not take part (it waits in MPI_Recv) */
static void dup_without_one(void) {
  MPI_Comm dup; /* the others wait for what rank 0 proposes; it waits for nobody */
  if (rank == 0) MPI_Recv(&two, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Comm_dup(MPI_COMM_WORLD, &dup); /* @a */
}

/* CASE barrier-of-a-part
 * ranks: 4
 * says: rank 0 waits in MPI_Barrier at @a (a communicator of ranks 0,2): rank 2 does not take part (it has called MPI_Finalize) */
static void barrier_of_a_part(void) {
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
  if (rank != 2) MPI_Barrier(part); /* @a */
}

/* CASE persistent-on-one-side
 * says: rank 0 waits in MPI_Wait at @a for a send (destination 1, tag 2, 100000 bytes, MPI_COMM_WORLD): rank 1 never receives it; it has called MPI_Finalize */
static void persistent_on_one_side(void) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Send_init(large, kLarge, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* @a */
  } else {
    MPI_Recv_init(large, kLarge, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &request); /* and never started */
  }
}

/* CASE partition-never-ready
 * says: rank 0 waits in MPI_Wait at @a for a partitioned send (destination 1, tag 2, MPI_COMM_WORLD): 1 of its partitions is never marked as ready (MPI_Pready)
 * says: rank 1 waits in MPI_Wait at @a for a partitioned receive (source 0, tag 2, MPI_COMM_WORLD): rank 0 never sends it; it waits in MPI_Wait */
static void partition_never_ready(void) {
  MPI_Request request;
  if (rank == 0)
    MPI_Psend_init(large, 2, 8, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  else
    MPI_Precv_init(large, 2, 8, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  if (rank == 0) MPI_Pready(1, request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @a */
}

/* CASE partitions-not-received
 * says: rank 0 waits in MPI_Wait at @a for a partitioned send (destination 1, tag 2, MPI_COMM_WORLD): rank 1 never starts to receive it; it has called MPI_Finalize
 * modes: fibers threads */
static void partitions_not_received(void) {
  MPI_Request request;
  if (rank != 0) return;
  MPI_Psend_init(large, 1, 8, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Pready(0, request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @a */
}

/* CASE bsend-not-received
 * says: rank 0 waits in MPI_Buffer_detach at @a for a send (destination 1, tag 2, 100000 bytes, MPI_COMM_WORLD): rank 1 never receives it; it has called MPI_Finalize */
static void bsend_not_received(void) {
  static char buffer[kLarge + 1000];
  void* had;
  int bytes;
  if (rank != 0) return;
  MPI_Buffer_attach(buffer, sizeof buffer);
  MPI_Bsend(large, kLarge, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
  MPI_Buffer_detach(&had, &bytes); /* @a */
}

/* CASE sendrecv-ring
 * ranks: 4
 * says: ranks 0-3 wait in MPI_Sendrecv(source rank+1, tag 1, MPI_COMM_WORLD) at @a: that rank never sends it; it waits in MPI_Sendrecv; rank-1 sent one with tag 1: 1 message of 4 bytes waits unmatched */
static void sendrecv_ring(void) {
  const int right = (rank + 1) % size; /* both ways: the source should be the left one */
  MPI_Sendrecv(&one, 1, MPI_INT, right, 1, &two, 1, MPI_INT, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @a */
}

/* CASE line
 * ranks: 6
 * says: ranks 0-3 wait in MPI_Send(destination rank+1, tag 0, 100000 bytes, MPI_COMM_WORLD) at @a: that rank never receives it; it waits in MPI_Send
 * says: rank 4 waits in MPI_Send(destination 5, tag 0, 100000 bytes, MPI_COMM_WORLD) at @a: rank 5 never receives it; it waits in MPI_Recv
 * says: rank 5 waits in MPI_Recv(source 0, tag 9, MPI_COMM_WORLD) at @b: rank 0 never sends it; it waits in MPI_Send */
static void line(void) {
  if (rank == size - 1) MPI_Recv(large, kLarge, MPI_CHAR, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @b */
  MPI_Send(large, kLarge, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD);                                      /* @a */
}

static void* receive_in_thread(void* unused) {
  (void)unused;
  MPI_Recv(&one, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @t */
  return NULL;
}

/* CASE threads
 * says: a thread of rank 0 waits in MPI_Recv(source 1, tag 8, MPI_COMM_WORLD) at @a: rank 1 never sends it; it has called MPI_Finalize
 * says: a thread of rank 0 waits in MPI_Recv(source 0, tag 9, MPI_COMM_WORLD) at @t: the rank itself never sends it */
static void threads(void) {
  pthread_t thread;
  if (rank != 0) return;
  pthread_create(&thread, NULL, receive_in_thread, NULL);
  MPI_Recv(&two, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @a */
}

static int query(void* state, MPI_Status* status) { return (void)state, (void)status, 0; }
static int release(void* state) { return (void)state, 0; }
static int cancel(void* state, int complete) { return (void)state, (void)complete, 0; }

/* CASE generalised-request
 * says: rank 0 waits in MPI_Wait at @a for a generalised request: the program never completes it (MPI_Grequest_complete) */
static void generalised_request(void) {
  MPI_Request request;
  if (rank != 0) return;
  MPI_Grequest_start(query, release, cancel, NULL, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @a */
}

/* CASE cart-without-one
 * ranks: 4
 * says: ...wait... in MPI_Neighbor_alltoall at @a (a communicator of all ranks): rank 3 does not take part (it has called MPI_Finalize) */
static void cart_without_one(void) {
  const int sizes[] = {4}, periods[] = {1};
  int in[2], out[2] = {0, 0};
  MPI_Comm cart;
  MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, periods, 0, &cart);
  if (rank != 3) MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, cart); /* @a */
}

/* CASE create-group-without-one
 * ranks: 4
 * says: ranks 2,3 wait in MPI_Comm_create_group at @a (MPI_COMM_WORLD)... */
static void create_group_without_one(void) {
  const int members[] = {0, 2, 3};
  MPI_Group all, some;
  MPI_Comm part;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 3, members, &some);
  if (rank >= 2) MPI_Comm_create_group(MPI_COMM_WORLD, some, 7, &part); /* @a */
}

/* CASE many-ranks
 * ranks: 400
 * modes: fibers hosts-fibers
 * says: ranks 0-398 wait in MPI_Recv(source rank+1, tag 0, MPI_COMM_WORLD) at @a: that rank never sends it; it waits in MPI_Recv
 * says: rank 399 waits in MPI_Recv(source 0, tag 1, MPI_COMM_WORLD) at @a: rank 0 never sends it; it waits in MPI_Recv
 * says: in a circle: rank 0 waits for rank 1 waits for rank 2...(400 ranks in all) waits for rank 399 waits for rank 0 */
static void many_ranks(void) {
  MPI_Recv(&two, 1, MPI_INT, (rank + 1) % size, rank == 399, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @a */
}

/* CASE test-for-ever
 * options: --hang-after 1
 * says: no progress: nothing has moved in MPI for 1 s (--hang-after), and all ranks are in it or asleep
 * says: rank 0 runs; the last call of MPI was MPI_Test
 * says: rank 1 waits in MPI_Finalize at ... */
static void test_for_ever(void) {
  MPI_Request request;
  int done = 0;
  if (rank != 0) return;
  MPI_Irecv(&two, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &request);
  while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  static const struct Case cases[] = {
      {"send-send", send_send},
      {"ssend-ssend", ssend_ssend},
      {"cycle-of-three", cycle_of_three},
      {"wrong-tag", wrong_tag},
      {"wrong-tag-large", wrong_tag_large},
      {"wrong-source", wrong_source},
      {"wrong-communicator", wrong_communicator},
      {"named-communicator", named_communicator},
      {"missing-in-allreduce", missing_in_allreduce},
      {"finalize-without-the-others", finalize_without_the_others},
      {"missing-in-large-bcast", missing_in_large_bcast},
      {"wrong-root", wrong_root},
      {"mismatched-collectives", mismatched_collectives},
      {"one-gather-too-many", one_gather_too_many},
      {"self-send", self_send},
      {"self-receive", self_receive},
      {"wait-for-receive", wait_for_receive},
      {"wait-for-send", wait_for_send},
      {"waitall", waitall},
      {"waitany", waitany},
      {"probe", probe},
      {"mprobe", mprobe},
      {"eaten-by-wildcard", eaten_by_wildcard},
      {"early-exit", early_exit},
      {"intercommunicator", intercommunicator},
      {"intercommunicator-barrier", intercommunicator_barrier},
      {"nonblocking-by-some", nonblocking_by_some},
      {"operation-of-the-users", operation_of_the_users},
      {"split-without-one", split_without_one},
      {"dup-without-one", dup_without_one},
      {"barrier-of-a-part", barrier_of_a_part},
      {"persistent-on-one-side", persistent_on_one_side},
      {"partition-never-ready", partition_never_ready},
      {"partitions-not-received", partitions_not_received},
      {"bsend-not-received", bsend_not_received},
      {"sendrecv-ring", sendrecv_ring},
      {"line", line},
      {"threads", threads},
      {"generalised-request", generalised_request},
      {"cart-without-one", cart_without_one},
      {"create-group-without-one", create_group_without_one},
      {"many-ranks", many_ranks},
      {"test-for-ever", test_for_ever},
      {NULL, NULL},
  };
  return run_case(argc, argv, cases, NULL);
}
