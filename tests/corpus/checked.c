/* Correct programs about which --check has nothing to say. So must all of silent.c be; what is here looks as
 * if it left something behind, as if types differed, or as if a buffer were written too early. */
#include <stddef.h>

#include "corpus.h"

static int numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static char large[kLarge], other[kLarge];

static void expect(int condition) {
  if (condition) return;
  fprintf(stderr, "rank %d: something else was received than sent\n", rank);
  exit(98);
}

/* CASE everything-freed
 * options: --check */
static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}
static void everything_freed(void) {
  MPI_Comm copy, part;
  MPI_Group group;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Info info;
  MPI_Errhandler handler;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(copy, rank, 0, &part);
  MPI_Comm_group(part, &group);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Op_create(add, 1, &op);
  MPI_Info_create(&info);
  MPI_Comm_get_errhandler(copy, &handler);
  MPI_Errhandler_free(&handler);
  MPI_Info_free(&info);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  MPI_Group_free(&group);
  MPI_Comm_free(&part);
  MPI_Comm_free(&copy);
}

/* CASE predefined
 * options: --check */
static void predefined(void) {
  MPI_Group empty;
  MPI_Errhandler handler;
  MPI_Datatype real, matching;
  MPI_Comm parent;
  MPI_Group none = MPI_GROUP_EMPTY;
  MPI_Group_union(none, none, &empty);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  MPI_Type_create_f90_real(6, MPI_UNDEFINED, &real);
  MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &matching);
  MPI_Comm_get_parent(&parent);
}

static int free_copy(MPI_Comm comm, int key, void* value, void* extra) {
  MPI_Comm copy = value;
  (void)comm;
  (void)key;
  (void)extra;
  return MPI_Comm_free(&copy);
}

/* CASE freed-by-an-attribute
 * options: --check */
static void freed_by_an_attribute(void) {
  MPI_Comm copy;
  int key;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_copy, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, copy);
  MPI_Comm_free_keyval(&key);
}

/* CASE kept-as-an-attribute
 * options: --check */
static void kept_as_an_attribute(void) {
  MPI_Comm copy;
  int key;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, copy);
}

/* CASE duplicate-in-flight
 * options: --check */
static void duplicate_in_flight(void) {
  MPI_Comm copy;
  MPI_Request request;
  MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&copy);
}

/* CASE free-while-in-use
 * options: --check */
static void free_while_in_use(void) {
  MPI_Datatype column;
  MPI_Comm copy;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Type_vector(100, 1, 2, MPI_CHAR, &column);
  MPI_Type_commit(&column);
  if (rank == 0) MPI_Isend(large, 400, column, 1, 7, copy, &request);
  if (rank == 1) MPI_Irecv(other, 400, column, 0, 7, copy, &request);
  MPI_Type_free(&column);
  MPI_Comm_free(&copy);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* CASE freed-active-requests
 * options: --check */
static void freed_active_requests(void) {
  MPI_Request request;
  if (rank == 1) {
    MPI_Irecv(other, kLarge, MPI_CHAR, 0, 7, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
  } else {
    memset(large, 7, kLarge);
    MPI_Isend(large, kLarge, MPI_CHAR, 1, 7, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
  }
  /* Nothing but the buffer tells when a freed receive is done (MPI 5.0, 3.7.3): later messages do not. */
  volatile char *first = other, *last = other + kLarge - 1;
  int flag;
  while (rank == 1 && (*first != 7 || *last != 7)) MPI_Iprobe(0, 8, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* CASE cancelled
 * options: --check */
static void cancelled(void) {
  MPI_Request requests[2];
  MPI_Status status;
  int done;
  if (rank != 1) return;
  MPI_Irecv(&two, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(large, kLarge, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < 2; ++i) {
    MPI_Cancel(&requests[i]);
    MPI_Wait(&requests[i], &status);
    MPI_Test_cancelled(&status, &done);
    expect(done);
  }
}

/* CASE cancelled-send
 * options: --check */
static void cancelled_send(void) {
  MPI_Request request;
  MPI_Status status;
  int done = 0;
  if (rank == 0) {
    MPI_Issend(&one, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &done);
  }
  MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 1 && !done) MPI_Recv(&two, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* CASE bytes-as-packed
 * options: --check */
static void bytes_as_packed(void) {
  char packed[64];
  int position = 0;
  if (rank == 0) {
    MPI_Pack(numbers, 4, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD);
    MPI_Send(packed, position, MPI_PACKED, 1, 0, MPI_COMM_WORLD);
    MPI_Send(numbers, 4, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Send(numbers, 16, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
    MPI_Send(packed, position, MPI_PACKED, 1, 3, MPI_COMM_WORLD);
  } else {
    int got[4];
    MPI_Recv(got, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(packed, sizeof packed, MPI_PACKED, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Unpack(packed, sizeof packed, &position, got, 4, MPI_INT, MPI_COMM_WORLD);
    expect(got[3] == 4);
    MPI_Recv(got, 16, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(got, 16, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* CASE longer-receive
 * options: --check */
static void longer_receive(void) {
  MPI_Status status;
  int count;
  if (rank == 0) {
    MPI_Send(numbers, 3, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Send(NULL, 0, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  } else {
    int got[8] = {0};
    MPI_Recv(got, 8, MPI_INT, 0, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    expect(count == 3 && got[2] == 3 && got[3] == 0);
    MPI_Recv(got, 8, MPI_INT, 0, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    expect(count == 0);
  }
}

/* CASE part-of-a-struct
 * options: --check */
static void part_of_a_struct(void) {
  struct Mixed {
    int a[3];
    double b;
  } got[2];
  const int lengths[] = {3, 1};
  const MPI_Aint places[] = {offsetof(struct Mixed, a), offsetof(struct Mixed, b)};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  MPI_Datatype mixed, resized;
  MPI_Status status;
  int count;
  MPI_Type_create_struct(2, lengths, places, types, &mixed);
  MPI_Type_create_resized(mixed, 0, sizeof(struct Mixed), &resized);
  MPI_Type_commit(&resized);
  if (rank == 0) MPI_Send(numbers, 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Recv(got, 2, resized, 0, 0, MPI_COMM_WORLD, &status); /* its first elements are two ints */
    MPI_Get_elements(&status, resized, &count);
    expect(count == 2 && got[0].a[1] == 2);
  }
  MPI_Type_free(&mixed);
  MPI_Type_free(&resized);
}

/* CASE derived-in-other-ways
 * options: --check */
static void derived_in_other_ways(void) {
  MPI_Datatype row, column;
  int got[8] = {0};
  MPI_Type_contiguous(4, MPI_INT, &row);
  MPI_Type_vector(2, 2, 4, MPI_INT, &column);
  MPI_Type_commit(&row);
  MPI_Type_commit(&column);
  if (rank == 0) MPI_Send(numbers, 1, row, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Recv(got, 1, column, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(got[1] == 2 && got[2] == 0 && got[5] == 4);
  }
  if (rank == 0) MPI_Send(numbers, 1, MPI_INT32_T, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(got, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free(&row);
  MPI_Type_free(&column);
}

/* CASE all-sends
 * options: --check */
static void all_sends(void) {
  static char attached[2 * kLarge];
  MPI_Request requests[4];
  int got[8];
  void* had;
  int bytes;
  if (rank == 0) {
    MPI_Buffer_attach(attached, sizeof attached);
    MPI_Send(numbers, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Ssend(numbers, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Bsend(numbers, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    MPI_Bsend(large, kLarge, MPI_CHAR, 1, 8, MPI_COMM_WORLD);
    MPI_Isend(numbers, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(numbers, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Ibsend(numbers, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(numbers, 1, MPI_INT, MPI_PROC_NULL, 6, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    numbers[0] = 70; /* they are over */
    MPI_Buffer_detach(&had, &bytes);
  } else {
    for (int tag = 0; tag < 6; ++tag) {
      MPI_Recv(got, 8, MPI_INT, tag % 2 ? MPI_ANY_SOURCE : 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      expect(got[0] == 1);
      MPI_Recv(got, 8, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Recv(other, kLarge, MPI_CHAR, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* CASE exchanges
 * options: --check */
static void exchanges(void) {
  MPI_Request request;
  MPI_Status status;
  int mine = rank, yours = -1, count;
  MPI_Sendrecv(&mine, 1, MPI_INT, 1 - rank, 0, &yours, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  expect(yours == 1 - rank && count == 1);
  MPI_Sendrecv_replace(&mine, 1, MPI_INT, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(mine == 1 - rank);
  MPI_Isendrecv_replace(&mine, 1, MPI_INT, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  expect(mine == rank);
  MPI_Isendrecv(large, kLarge, MPI_CHAR, 1 - rank, 0, other, kLarge, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD,
                &request);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_CHAR, &count);
  expect(count == kLarge);
}

/* CASE persistent-and-changed-between
 * options: --check */
static void persistent_and_changed_between(void) {
  MPI_Request request;
  static int value;
  if (rank == 0) MPI_Send_init(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
  if (rank == 1) MPI_Recv_init(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
  for (int i = 1; i < 4; ++i) {
    if (rank == 0) value = i;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(value == i);
    value = -1;
  }
  MPI_Request_free(&request);
}

/* CASE probes
 * options: --check */
static void probes(void) {
  MPI_Status status;
  MPI_Message message;
  MPI_Request request;
  int count, found = 0, got[4];
  if (rank == 0)
    for (int i = 0; i < 4; ++i) MPI_Send(numbers, 3, MPI_INT, 1, i, MPI_COMM_WORLD);
  if (rank != 1) return;
  MPI_Probe(0, 0, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  expect(count == 3);
  MPI_Recv(got, 3, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  while (!found) MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &found, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  expect(count == 3);
  MPI_Recv(got, 3, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Mprobe(0, 2, MPI_COMM_WORLD, &message, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  expect(count == 3);
  MPI_Mrecv(got, 4, MPI_INT, &message, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  expect(count == 3 && got[2] == 3);
  for (found = 0; !found;) MPI_Improbe(0, 3, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE);
  MPI_Imrecv(got, 4, MPI_INT, &message, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* CASE asked-before-completed
 * options: --check */
static void asked_before_completed(void) {
  MPI_Request request;
  MPI_Status status;
  int done = 0, got = 0;
  if (rank == 0) MPI_Isend(&one, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
  if (rank == 1) MPI_Irecv(&got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
  while (!done) MPI_Request_get_status(request, &done, &status);
  if (rank == 1) expect(got == 1);
  MPI_Wait(&request, &status);
}

/* CASE many-of-all-sizes
 * ranks: 4
 * options: --check */
static void many_of_all_sizes(void) {
  enum { kMany = 60, kMost = 40000 };
  static char room[kMany][kMost];
  MPI_Request requests[2 * kMany];
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kMany; ++i) {
      const int bytes = i * i * (i % 7 == 0 ? 20 : 1) % kMost;
      memset(large + i, round + rank, bytes);
      MPI_Irecv(room[i], kMost, MPI_CHAR, from, i, MPI_COMM_WORLD, &requests[i]);
      MPI_Isend(large + i, bytes, MPI_CHAR, to, i, MPI_COMM_WORLD, &requests[kMany + i]);
      MPI_Wait(&requests[kMany + i], MPI_STATUS_IGNORE);
    }
    MPI_Waitall(2 * kMany, requests, MPI_STATUSES_IGNORE);
    for (int i = 1; i < kMany; ++i) expect(room[i][0] == round + from);
  }
}

/* CASE messages-to-myself
 * options: --check */
static void messages_to_myself(void) {
  MPI_Request request;
  int got = 0;
  MPI_Irecv(&got, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
  MPI_Send(&one, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(got == 1);
  MPI_Isend(&one, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
  MPI_Recv(&got, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* CASE intercommunicator
 * options: --check */
static void intercommunicator(void) {
  MPI_Comm between;
  int got = 0;
  MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 0, &between);
  MPI_Sendrecv(&one, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, between, MPI_STATUS_IGNORE);
  expect(got == 1);
  MPI_Comm_free(&between);
}

/* CASE partitions
 * options: --check */
static void partitions(void) {
  MPI_Request request;
  if (rank == 0)
    MPI_Psend_init(large, 2, 8, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  else
    MPI_Precv_init(other, 2, 8, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  if (rank == 0) large[0] = 3; /* no partition is ready */
  for (int i = 0; i < 2 && rank == 0; ++i) MPI_Pready(i, request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 1) expect(other[0] == 3);
  MPI_Request_free(&request);
}

/* CASE collectives-in-flight
 * ranks: 3
 * options: --check */
static void collectives_in_flight(void) {
  MPI_Request requests[5];
  int all[3], sum[2] = {0}, same[3] = {1, 1, 1}, own = rank;
  MPI_Ibcast(numbers, 8, MPI_INT, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Iallgather(&own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &requests[1]);
  MPI_Iallreduce(&own, &sum[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
  MPI_Iallreduce(MPI_IN_PLACE, same, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[3]);
  MPI_Ireduce(&own, &sum[1], 1, MPI_INT, MPI_SUM, 2, MPI_COMM_WORLD, &requests[4]);
  MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
  expect(sum[0] == 3 && same[2] == 3 && all[1] == 1);
}

static int copy_and_talk(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  int mine = 1, sum = 0;
  (void)key;
  (void)extra;
  MPI_Sendrecv(&mine, 1, MPI_INT, 1 - rank, 5, &sum, 1, MPI_INT, 1 - rank, 5, comm, MPI_STATUS_IGNORE);
  *(void**)out = in;
  *flag = 1;
  return sum == 1 ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/* CASE messages-inside-of-a-call
 * options: --check */
static void messages_inside_of_a_call(void) {
  MPI_Comm copy, copies_copy;
  int key;
  MPI_Comm_create_keyval(copy_and_talk, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_attr(copy, key, &one);
  MPI_Comm_dup(copy, &copies_copy);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free(&copies_copy);
  MPI_Comm_free(&copy);
}

int main(int argc, char** argv) {
  static const struct Case cases[] = {
      {"everything-freed", everything_freed},
      {"predefined", predefined},
      {"freed-by-an-attribute", freed_by_an_attribute},
      {"kept-as-an-attribute", kept_as_an_attribute},
      {"duplicate-in-flight", duplicate_in_flight},
      {"free-while-in-use", free_while_in_use},
      {"freed-active-requests", freed_active_requests},
      {"cancelled", cancelled},
      {"cancelled-send", cancelled_send},
      {"bytes-as-packed", bytes_as_packed},
      {"longer-receive", longer_receive},
      {"part-of-a-struct", part_of_a_struct},
      {"derived-in-other-ways", derived_in_other_ways},
      {"all-sends", all_sends},
      {"exchanges", exchanges},
      {"persistent-and-changed-between", persistent_and_changed_between},
      {"probes", probes},
      {"asked-before-completed", asked_before_completed},
      {"many-of-all-sizes", many_of_all_sizes},
      {"messages-to-myself", messages_to_myself},
      {"intercommunicator", intercommunicator},
      {"partitions", partitions},
      {"collectives-in-flight", collectives_in_flight},
      {"messages-inside-of-a-call", messages_inside_of_a_call},
      {NULL, NULL},
  };
  return run_case(argc, argv, cases, NULL);
}
