/* Programs that leave something behind at MPI_Finalize: each is told once, with the line where it was made.
 */
#include "corpus.h"

static char large[kLarge];

/* CASE communicator
 * ranks: 4
 * options: --check
 * code: 0
 * lines: 2
 * says: check: this is left at MPI_Finalize:
 * says:   ranks 0-3 have not freed 1 communicator each of MPI_Comm_dup at ...@a */
static void communicator(void) {
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy); /* @a */
}

/* CASE communicators-of-some
 * ranks: 4
 * options: --check
 * code: 0
 * lines: 3
 * says:   ranks 1,3 have not freed 3 communicators each of MPI_Comm_split at ...@a
 * says:   rank 0 has not freed 1 communicator of MPI_Comm_split at ...@b */
static void communicators_of_some(void) {
  MPI_Comm part;
  for (int i = 0; i < 3; ++i) {
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &part); /* @a */
    if (rank % 2 == 0) MPI_Comm_free(&part);
  }
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : MPI_UNDEFINED, 0, &part); /* @b */
}

/* CASE nonblocking-duplicate
 * options: --check
 * code: 0
 * lines: 2
 * says:   ranks 0,1 have not freed 1 communicator each of MPI_Comm_idup at ...@a */
static void nonblocking_duplicate(void) {
  MPI_Comm copy;
  MPI_Request request;
  MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request); /* @a */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* CASE group
 * options: --check
 * code: 0
 * lines: 3
 * says:   ranks 0,1 have not freed 1 group each of MPI_Comm_group at ...@a
 * says:   ranks 0,1 have not freed 1 group each of MPI_Group_incl at ...@b */
static void group(void) {
  MPI_Group world, own;
  MPI_Comm_group(MPI_COMM_WORLD, &world); /* @a */
  MPI_Group_incl(world, 1, &rank, &own);  /* @b */
}

/* CASE datatype
 * options: --check
 * code: 0
 * lines: 3
 * says:   ranks 0,1 have not freed 2 datatypes each of MPI_Type_vector at ...@a
 * says:   rank 1 has not freed 1 datatype of MPI_Type_contiguous_c at ...@b */
static void datatype(void) {
  MPI_Datatype type;
  for (int i = 0; i < 2; ++i) MPI_Type_vector(2, 1, 2, MPI_INT, &type); /* @a */
  if (rank == 1) MPI_Type_contiguous_c(3, MPI_INT, &type);              /* @b */
}

/* CASE datatype-of-another-one
 * options: --check
 * code: 0
 * lines: 2
 * says:   rank 0 has not freed 1 datatype of MPI_Type_get_contents */
static void datatype_of_another_one(void) {
  MPI_Datatype row, matrix, found;
  int number;
  if (rank != 0) return;
  MPI_Type_contiguous(2, MPI_INT, &row);
  MPI_Type_contiguous(2, row, &matrix);
  MPI_Type_get_contents(matrix, 1, 0, 1, &number, NULL, &found);
  MPI_Type_free(&row);
  MPI_Type_free(&matrix);
}

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

/* CASE operation
 * options: --check
 * code: 0
 * lines: 2
 * says:   ranks 0,1 have not freed 1 operation each of MPI_Op_create at ...@a */
static void operation(void) {
  MPI_Op op;
  MPI_Op_create(add, 1, &op); /* @a */
  MPI_Allreduce(&one, &two, 1, MPI_INT, op, MPI_COMM_WORLD);
}

static void handle_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
}

/* CASE error-handler
 * options: --check
 * code: 0
 * lines: 2
 * says:   ranks 0,1 have not freed 1 error handler each of MPI_Comm_create_errhandler at ...@a */
static void error_handler(void) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(handle_error, &handler); /* @a */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
}

/* CASE info
 * options: --check
 * code: 0
 * lines: 3
 * says:   ranks 0,1 have not freed 1 info object each of MPI_Info_create at ...@a
 * says:   rank 0 has not freed 1 info object of MPI_Comm_get_info at ...@b */
static void info(void) {
  MPI_Info made, asked;
  MPI_Info_create(&made);                                   /* @a */
  if (rank == 0) MPI_Comm_get_info(MPI_COMM_WORLD, &asked); /* @b */
}

/* CASE info-before-init
 * options: --check
 * code: 0
 * lines: 2
 * says:   ranks 0,1 have not freed 1 info object each of a call before MPI_Init */
static void info_before_init(void) {}

/* CASE request-of-a-received-message
 * options: --check
 * code: 0
 * lines: 2
 * says:   rank 0 has not completed 1 request of MPI_Isend at ...@a */
static void request_of_a_received_message(void) {
  MPI_Request request;
  if (rank == 0) MPI_Isend(&one, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request); /* @a */
  if (rank == 1) MPI_Recv(&two, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* CASE request-of-a-large-receive
 * options: --check
 * code: 0
 * lines: 2
 * says:   rank 1 has not completed 1 request of MPI_Irecv at ...@a */
static void request_of_a_large_receive(void) {
  MPI_Request request;
  if (rank == 1) MPI_Irecv(large, kLarge, MPI_CHAR, 0, 3, MPI_COMM_WORLD, &request); /* @a */
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Send(large, kLarge, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
}

/* CASE request-of-a-collective
 * options: --check
 * code: 0
 * lines: 2
 * says:   rank 1 has not completed 1 request of MPI_Ibcast at ...@a */
static void request_of_a_collective(void) {
  MPI_Request request;
  MPI_Ibcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD, &request); /* @a */
  if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* CASE persistent-request
 * options: --check
 * code: 0
 * lines: 3
 * says:   rank 0 has not freed 1 persistent request of MPI_Send_init at ...@a
 * says:   rank 1 has not freed 1 persistent request of MPI_Recv_init at ...@b */
static void persistent_request(void) {
  MPI_Request request;
  if (rank == 0) MPI_Send_init(&one, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request); /* @a */
  if (rank == 1) MPI_Recv_init(&two, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request); /* @b */
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* CASE message-nobody-receives
 * options: --check
 * code: 0
 * lines: 3
 * says:   rank 1 has not received 3 messages of rank 0: MPI_Send(1 x MPI_INT, tag 7, MPI_COMM_WORLD) at ...@a
 * says:   rank 1 has not received 1 message of rank 0: MPI_Send(2 x MPI_DOUBLE, tag 8, MPI_COMM_WORLD) at
 * ...@b */
static void message_nobody_receives(void) {
  double numbers[2] = {1, 2};
  if (rank != 0) return;
  for (int i = 0; i < 3; ++i) MPI_Send(&one, 1, MPI_INT, 1, 7, MPI_COMM_WORLD); /* @a */
  MPI_Send(numbers, 2, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD);                       /* @b */
}

/* CASE messages-in-a-ring
 * ranks: 4
 * options: --check
 * code: 0
 * lines: 2
 * says:   ranks 0-3 have not received 1 message each of ranks 0-3: MPI_Send(1 x MPI_INT, tag 7,
 * MPI_COMM_WORLD) at ...@a */
static void messages_in_a_ring(void) {
  MPI_Send(&one, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD); /* @a */
}

/* CASE large-message-nobody-receives
 * options: --check
 * code: 0
 * lines: 2
 * says:   rank 1 has not received 1 message of rank 0: MPI_Isend(100000 x MPI_CHAR, tag 7, pair) at ...@a */
static void large_message_nobody_receives(void) {
  static MPI_Comm pair;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &pair);
  MPI_Comm_set_name(pair, "pair");
  int key; /* a communicator that somebody keeps as an attribute is not left */
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, pair);
  if (rank == 0) MPI_Isend(large, kLarge, MPI_CHAR, 1, 7, pair, &request); /* @a */
}

/* CASE synchronous-message-nobody-receives
 * options: --check
 * code: 0
 * lines: 2
 * says:   rank 1 has not received 1 message of rank 0: MPI_Issend(1 x MPI_INT, tag 7, MPI_COMM_WORLD) at
 * ...@a */
static void synchronous_message_nobody_receives(void) {
  MPI_Request request;
  if (rank != 0) return;
  MPI_Issend(&one, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request); /* @a */
  MPI_Request_free(&request);
}

/* CASE receive-nobody-sends-to
 * options: --check
 * code: 0
 * lines: 3
 * says:   rank 1 has got no message for 1 receive: MPI_Irecv(1 x MPI_INT from rank 0, tag 7, MPI_COMM_WORLD)
 * at ...@a says:   rank 1 has got no message for 2 receives: MPI_Irecv(1 x MPI_INT from MPI_ANY_SOURCE,
 * MPI_ANY_TAG, MPI_COMM_WORLD) at ...@b */
static void receive_nobody_sends_to(void) {
  static int room[3];
  MPI_Request request;
  if (rank != 1) return;
  MPI_Irecv(&room[0], 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request); /* @a */
  for (int i = 1; i < 3; ++i)
    MPI_Irecv(&room[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request); /* @b */
}

/* CASE probed-message
 * options: --check
 * code: 0
 * lines: 2
 * says:   rank 1 has not received 1 message of MPI_Mprobe at ...@a */
static void probed_message(void) {
  MPI_Message message;
  if (rank == 0) MPI_Send(&one, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
  if (rank == 1) MPI_Mprobe(0, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE); /* @a */
}

/* CASE wrong-tag
 * options: --check
 * code: 0
 * lines: 3
 * says:   rank 1 has got no message for 1 receive: MPI_Irecv(1 x MPI_INT from rank 0, tag 8, MPI_COMM_WORLD)
 * at ...@b says:   rank 1 has not received 1 message of rank 0: MPI_Isend(1 x MPI_INT, tag 7, MPI_COMM_WORLD)
 * at ...@a */
static void wrong_tag(void) {
  static int room;
  MPI_Request request;
  if (rank == 0) MPI_Isend(&one, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);  /* @a */
  if (rank == 1) MPI_Irecv(&room, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, &request); /* @b */
}

/* CASE attribute-key
 * options: --check
 * code: 0
 * lines: 3
 * says:   ranks 0,1 have not freed 2 attribute keys each of MPI_Comm_create_keyval at ...@a
 * says:   rank 1 has not freed 1 attribute key of MPI_Type_create_keyval at ...@b */
static void attribute_key(void) {
  int key;
  for (int i = 0; i < 2; ++i)
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL); /* @a */
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  if (rank == 1) MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL); /* @b */
}

/* CASE attached-buffer
 * options: --check
 * code: 0
 * lines: 3
 * says:   ranks 0,1 have not detached 1 buffer each of MPI_Buffer_attach at ...@a
 * says:   rank 0 has not detached 1 buffer of MPI_Comm_attach_buffer at ...@b */
static void attached_buffer(void) {
  static char attached[1000], more[1000];
  MPI_Buffer_attach(attached, sizeof attached);                              /* @a */
  if (rank == 0) MPI_Comm_attach_buffer(MPI_COMM_SELF, more, sizeof more); /* @b */
}

/* CASE written-and-left-attached
 * options: --check
 * code: 0
 * lines: 3
 * says:   rank 0 has not detached 1 buffer of MPI_Buffer_attach at ...@a
 * says:   rank 0 wrote into the buffer of MPI_Buffer_attach at ...@a while it was MPI's */
static void written_and_left_attached(void) {
  static char attached[1000];
  if (rank == 0) {
    MPI_Buffer_attach(attached, sizeof attached); /* @a */
    MPI_Bsend(&one, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    memset(attached, 7, sizeof attached);
  } else {
    MPI_Recv(&two, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* CASE never-started
 * options: --check
 * code: 0
 * lines: 3
 * says: check: this is allowed, but may not be what was meant:
 * says:   rank 0 waited for the request of MPI_Send_init at ...@a and never started it
 * says:   rank 1 waited for the request of MPI_Recv_init at ...@b and never started it */
static void never_started(void) {
  MPI_Request request;
  if (rank == 0) MPI_Send_init(&one, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request); /* @a */
  if (rank == 1) MPI_Recv_init(&two, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request); /* @b */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}

/* CASE never-started-collective
 * options: --check
 * code: 0
 * lines: 4
 * says:   ranks 0,1 have not freed 1 persistent request each of MPI_Barrier_init at ...@a
 * says:   ranks 0,1 waited for the request of MPI_Barrier_init at ...@a and never started it */
static void never_started_collective(void) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]); /* @a */
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* CASE never-started-is-no-error
 * options: --check=error
 * code: 0
 * lines: 2
 * says:   rank 0 waited for the request of MPI_Ssend_init at ...@a and never started it */
static void never_started_is_no_error(void) {
  MPI_Request request;
  int done;
  if (rank != 0) return;
  MPI_Ssend_init(&one, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request); /* @a */
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}

/* CASE freed-receive
 * options: --check
 * code: 0
 * lines: 2
 * says:   rank 1 has freed, before a message came, 1 receive: MPI_Irecv(1 x MPI_INT from rank 0, tag 3, ...@a */
static void freed_receive(void) {
  static int room;
  MPI_Request request;
  if (rank != 1) return;
  MPI_Irecv(&room, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request); /* @a */
  MPI_Request_free(&request);
}

/* CASE left-is-an-error
 * options: --check=error
 * code: 16
 * says: rank 0 of 2 aborted the job with code 16: MPI_Finalize: this is left (mpiexec --check=error):
 * says:   ranks 0,1 have not freed 1 communicator each of MPI_Comm_dup at ...@a */
static void left_is_an_error(void) {
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy); /* @a */
}

static void make_info(const char* name) {
  MPI_Info made;
  if (strcmp(name, "info-before-init") == 0) MPI_Info_create(&made);
}

int main(int argc, char** argv) {
  static const struct Case cases[] = {
      {"communicator", communicator},
      {"communicators-of-some", communicators_of_some},
      {"nonblocking-duplicate", nonblocking_duplicate},
      {"group", group},
      {"datatype", datatype},
      {"datatype-of-another-one", datatype_of_another_one},
      {"operation", operation},
      {"error-handler", error_handler},
      {"info", info},
      {"info-before-init", info_before_init},
      {"request-of-a-received-message", request_of_a_received_message},
      {"request-of-a-large-receive", request_of_a_large_receive},
      {"request-of-a-collective", request_of_a_collective},
      {"persistent-request", persistent_request},
      {"message-nobody-receives", message_nobody_receives},
      {"messages-in-a-ring", messages_in_a_ring},
      {"large-message-nobody-receives", large_message_nobody_receives},
      {"synchronous-message-nobody-receives", synchronous_message_nobody_receives},
      {"receive-nobody-sends-to", receive_nobody_sends_to},
      {"probed-message", probed_message},
      {"wrong-tag", wrong_tag},
      {"attribute-key", attribute_key},
      {"attached-buffer", attached_buffer},
      {"written-and-left-attached", written_and_left_attached},
      {"never-started", never_started},
      {"never-started-collective", never_started_collective},
      {"never-started-is-no-error", never_started_is_no_error},
      {"freed-receive", freed_receive},
      {"left-is-an-error", left_is_an_error},
      {NULL, NULL},
  };
  return run_case(argc, argv, cases, make_info);
}
