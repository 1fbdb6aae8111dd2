/* Families of functions that families.c uses by several threads of a rank: those whose objects are the
   thread's own. */
#ifndef CLUMP_TESTS_FAMILIES_H
#define CLUMP_TESTS_FAMILIES_H

#include <stdatomic.h>

#include "stress.h"

enum { kThreads = 8, kMostRanks = 64 };

typedef struct {
  int number;
  MPI_Comm comm; /* with the threads of this number of all ranks */
  Random own;    /* of this thread alone */
  Random common; /* the same for the threads of this number of all ranks */
} Thread;

static unsigned long families_job; /* in the names of files */
static atomic_long attributes_set, attributes_deleted;
static _Thread_local int errors_told;

static int delete_of_comm(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)extra;
  atomic_fetch_add(&attributes_deleted, (long)value);
  return MPI_SUCCESS;
}
static int delete_of_type(MPI_Datatype type, int key, void* value, void* extra) {
  (void)type, (void)key, (void)extra;
  atomic_fetch_add(&attributes_deleted, (long)value);
  return MPI_SUCCESS;
}
static int delete_of_win(MPI_Win win, int key, void* value, void* extra) {
  (void)win, (void)key, (void)extra;
  atomic_fetch_add(&attributes_deleted, (long)value);
  return MPI_SUCCESS;
}

static void count_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++errors_told;
}

/* By oneself. */

static void types(Thread* me) {
  MPI_Datatype vector, pair, copy, parts[2] = {MPI_INT, MPI_DOUBLE};
  const int lengths[2] = {1, 1 + random_below(&me->own, 9)};
  const MPI_Aint places[2] = {0, 8};
  int size = 0, integers, addresses, kinds, combiner, position = 0;
  int values[6] = {0, 1, 2, 3, 4, 5}, back[6] = {0};
  char packed[64];
  MPI_Type_create_struct(2, lengths, places, parts, &pair);
  MPI_Type_dup(pair, &copy);
  MPI_Type_free(&pair);
  MPI_Type_size(copy, &size);
  STRESS_CHECK(size == 4 + 8 * lengths[1]);
  MPI_Type_get_envelope(copy, &integers, &addresses, &kinds, &combiner);
  STRESS_CHECK(combiner == MPI_COMBINER_DUP);
  MPI_Type_free(&copy);
  MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  MPI_Pack(values, 1, vector, packed, sizeof packed, &position, me->comm);
  position = 0;
  MPI_Unpack(packed, sizeof packed, &position, back, 1, vector, me->comm);
  STRESS_CHECK(back[0] == 0 && back[2] == 2 && back[4] == 4);
  MPI_Type_free(&vector);
  MPI_Type_create_f90_real(15, MPI_UNDEFINED, &copy);
  MPI_Type_size(copy, &size);
  STRESS_CHECK(size == 8);
}

static void tools(Thread* me) {
  MPI_T_pvar_session session;
  MPI_T_pvar_handle meter;
  MPI_T_cvar_handle control;
  int provided, index = -1, count = 0, value = 0, controls = 0;
  unsigned long long seen = 0;
  STRESS_CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS);
  STRESS_CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
  STRESS_CHECK(MPI_T_pvar_get_index("unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, &index) == MPI_SUCCESS);
  STRESS_CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &meter, &count) == MPI_SUCCESS);
  STRESS_CHECK(MPI_T_pvar_read(session, meter, &seen) == MPI_SUCCESS);
  STRESS_CHECK(MPI_T_pvar_handle_free(session, &meter) == MPI_SUCCESS);
  STRESS_CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
  STRESS_CHECK(MPI_T_cvar_get_num(&controls) == MPI_SUCCESS && controls > 0);
  if (MPI_T_cvar_get_index("allreduce_algorithm", &index) == MPI_SUCCESS) {
    STRESS_CHECK(MPI_T_cvar_handle_alloc(index, NULL, &control, &count) == MPI_SUCCESS);
    STRESS_CHECK(MPI_T_cvar_read(control, &value) == MPI_SUCCESS);
    STRESS_CHECK(MPI_T_cvar_handle_free(&control) == MPI_SUCCESS);
  }
  STRESS_CHECK(MPI_T_finalize() == MPI_SUCCESS);
  (void)me;
}

/* Messages to itself, in all modes. */
static void messages(Thread* me) {
  int out = random_below(&me->own, 1 << 30), in = -1, flag = 0, index = 0, rank;
  MPI_Request requests[2];
  MPI_Message message;
  MPI_Status status;
  MPI_Comm_rank(me->comm, &rank);
  MPI_Irecv(&in, 1, MPI_INT, rank, 1, me->comm, &requests[0]);
  MPI_Isend(&out, 1, MPI_INT, rank, 1, me->comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  STRESS_CHECK(in == out);
  MPI_Recv_init(&in, 1, MPI_INT, rank, 2, me->comm, &requests[0]);
  MPI_Send_init(&out, 1, MPI_INT, rank, 2, me->comm, &requests[1]);
  for (int i = 0; i < 2; ++i) {
    in = -1;
    MPI_Startall(2, requests);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    STRESS_CHECK(in == out);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  MPI_Isend(&out, 1, MPI_INT, rank, 3, me->comm, &requests[0]);
  MPI_Mprobe(rank, 3, me->comm, &message, &status);
  MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  STRESS_CHECK(in == out);
  while (!flag) MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
  MPI_Irecv(&in, 1, MPI_INT, rank, 4, me->comm, &requests[0]);
  MPI_Cancel(&requests[0]);
  MPI_Wait(&requests[0], &status);
  MPI_Test_cancelled(&status, &flag);
  STRESS_CHECK(flag);
}

static int query(void* extra, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_INT, *(int*)extra);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = 0;
  status->MPI_TAG = 0;
  return MPI_SUCCESS;
}
static int free_extra(void* extra) {
  free(extra);
  return MPI_SUCCESS;
}
static int cancel(void* extra, int complete) {
  (void)extra, (void)complete;
  return MPI_SUCCESS;
}
static void* complete(void* argument) {
  MPI_Grequest_complete(*(MPI_Request*)argument);
  return NULL;
}

/* Completed by another thread while this one waits, now and then. */
static void generalized(Thread* me) {
  MPI_Request request;
  MPI_Status status;
  pthread_t other;
  int count = 0;
  int* const extra = malloc(sizeof *extra);
  const int elements = *extra = 1 + random_below(&me->own, 100);
  MPI_Grequest_start(query, free_extra, cancel, extra, &request);
  MPI_Request copy = request;
  if (elements % 4 != 0) {
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
  } else {
    if (pthread_create(&other, NULL, complete, &copy) != 0) STRESS_FAIL("no thread");
    MPI_Wait(&request, &status);
    pthread_join(other, NULL);
  }
  MPI_Get_elements(&status, MPI_INT, &count);
  STRESS_CHECK(count == elements);
}

static void ports(Thread* me) {
  char port[MPI_MAX_PORT_NAME];
  (void)me;
  MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Close_port(port);
}

/* With the threads of the same number of the other ranks. */

static void communicators(Thread* me) {
  MPI_Comm copy, part, made;
  MPI_Group group;
  MPI_Request request;
  int result = -1, sum = 0, rank, size;
  MPI_Comm_dup(me->comm, &copy);
  MPI_Comm_compare(copy, me->comm, &result);
  STRESS_CHECK(result == MPI_CONGRUENT);
  MPI_Comm_rank(copy, &rank);
  MPI_Comm_split(copy, rank % 2, -rank, &part);
  MPI_Comm_size(part, &size);
  MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, part);
  STRESS_CHECK(sum == size);
  MPI_Comm_free(&part);
  MPI_Comm_group(copy, &group);
  MPI_Comm_create_group(copy, group, 5, &made);
  MPI_Comm_free(&copy);
  MPI_Group_free(&group);
  MPI_Comm_idup(made, &copy, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&made);
  MPI_Barrier(copy);
  MPI_Comm_free(&copy);
}

static void add_pairs(void* in, void* inout, int* length, MPI_Datatype* type) {
  int size = 0;
  MPI_Type_size(*type, &size);
  STRESS_CHECK(size == 2 * (int)sizeof(int));
  for (int i = 0; i < 2 * *length; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

/* Operations and types of its own, which it frees while the operation goes on. */
static void reductions(Thread* me) {
  MPI_Op op;
  MPI_Datatype pair;
  MPI_Request requests[2];
  int in[4] = {1, 2, 3, 4}, out[4] = {0}, sums[4] = {0};
  MPI_Op_create(add_pairs, 1, &op);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Iallreduce(in, out, 2, pair, op, me->comm, &requests[0]);
  MPI_Iallreduce(in, sums, 4, MPI_INT, MPI_SUM, me->comm, &requests[1]);
  MPI_Type_free(&pair);
  MPI_Op_free(&op);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 4; ++i) STRESS_CHECK(out[i] == in[i] * stress_size && sums[i] == out[i]);
}

static void topologies(Thread* me) {
  MPI_Comm grid;
  const int period = 1;
  int rank, from, to, in[2] = {-1, -1}, kind = 0;
  MPI_Cart_create(me->comm, 1, &stress_size, &period, 0, &grid);
  MPI_Topo_test(grid, &kind);
  STRESS_CHECK(kind == MPI_CART);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_shift(grid, 0, 1, &from, &to);
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, grid);
  STRESS_CHECK(in[0] == from && in[1] == to);
  MPI_Comm_free(&grid);
}

static void own_windows(Thread* me) {
  MPI_Win win;
  long* base;
  int rank;
  MPI_Comm_rank(me->comm, &rank);
  const long mine = rank;
  MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, me->comm, &base, &win);
  MPI_Win_fence(0, win);
  MPI_Put(&mine, 1, MPI_LONG, (rank + 1) % stress_size, 0, 1, MPI_LONG, win);
  MPI_Win_fence(0, win);
  STRESS_CHECK(*base == (rank + stress_size - 1) % stress_size);
  MPI_Win_free(&win);
}

static void own_files(Thread* me) {
  char name[64];
  MPI_File file;
  int rank, back = -1;
  if (random_below(&me->common, 4) != 0) return; /* it takes long */
  snprintf(name, sizeof name, "families-%lu-%d-own-%d", families_job, stress_round, me->number);
  MPI_Comm_rank(me->comm, &rank);
  MPI_File_open(me->comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                &file);
  MPI_File_set_view(file, (MPI_Offset)sizeof(int) * rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_write_at_all(file, 0, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_read_at_all(file, 0, &back, 1, MPI_INT, MPI_STATUS_IGNORE);
  STRESS_CHECK(back == rank);
  MPI_File_close(&file);
}

static void partitions(Thread* me) {
  enum { kParts = 4 };
  int out[kParts], in[kParts], rank;
  MPI_Request requests[2];
  MPI_Comm_rank(me->comm, &rank);
  for (int i = 0; i < kParts; ++i) out[i] = rank * kParts + i, in[i] = -1;
  const int to = (rank + 1) % stress_size, from = (rank + stress_size - 1) % stress_size;
  MPI_Psend_init(out, kParts, 1, MPI_INT, to, 6, me->comm, MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(in, kParts, 1, MPI_INT, from, 6, me->comm, MPI_INFO_NULL, &requests[1]);
  MPI_Startall(2, requests);
  for (int i = 0; i < kParts; ++i) MPI_Pready(i, requests[0]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kParts; ++i) STRESS_CHECK(in[i] == from * kParts + i);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void buffers(Thread* me) {
  char room[4096];
  void* detached;
  int size = 0, rank, in = -1;
  MPI_Comm_rank(me->comm, &rank);
  MPI_Comm_attach_buffer(me->comm, room, sizeof room);
  MPI_Bsend(&rank, 1, MPI_INT, (rank + 1) % stress_size, 7, me->comm);
  MPI_Recv(&in, 1, MPI_INT, (rank + stress_size - 1) % stress_size, 7, me->comm, MPI_STATUS_IGNORE);
  STRESS_CHECK(in == (rank + stress_size - 1) % stress_size);
  MPI_Comm_detach_buffer(me->comm, &detached, &size);
  STRESS_CHECK(detached == room && size == (int)sizeof room);
}

#endif
