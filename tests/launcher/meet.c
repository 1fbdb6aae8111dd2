/* A rank of a job that meets another job by a port: meet accept|connect FILE [how [file]]. The server writes the name of
   its port into FILE. */
#include <signal.h>
#include <unistd.h>

#include "../mpi/dynamic/merged.h"
#include "port_file.h"

static int rank, size;

/* Every rank with every rank of the other side: a short message, a long one, and one of every other element. */
static void messages(MPI_Comm inter, int remote) {
  enum { kLong = 1 << 18 };
  int* const out = malloc(kLong * sizeof(int));
  int* const in = malloc(kLong * sizeof(int));
  MPI_Datatype strided;
  CHECK_OK(MPI_Type_vector(kLong / 2, 1, 2, MPI_INT, &strided));
  CHECK_OK(MPI_Type_commit(&strided));
  for (int i = 0; i < kLong; ++i) out[i] = rank * 7 + i;
  for (int step = 0; step < (remote > size ? remote : size); ++step) {
    /* Each with one at a time: pairs whose sum is `step`, modulo the larger side. */
    const int most = remote > size ? remote : size;
    const int peer = (step - rank + most) % most;
    if (peer >= remote) continue;
    int theirs = -1;
    CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, peer, 1, &theirs, 1, MPI_INT, peer, 1, inter, MPI_STATUS_IGNORE));
    CHECK_EQ(theirs, peer);
    memset(in, 0, kLong * sizeof(int));
    CHECK_OK(MPI_Sendrecv(out, kLong, MPI_INT, peer, 2, in, kLong, MPI_INT, peer, 2, inter, MPI_STATUS_IGNORE));
    int wrong = 0;
    for (int i = 0; i < kLong; ++i) wrong += in[i] != peer * 7 + i;
    CHECK_EQ(wrong, 0);
    memset(in, 0, kLong * sizeof(int));
    CHECK_OK(MPI_Sendrecv(out, 1, strided, peer, 3, in, 1, strided, peer, 3, inter, MPI_STATUS_IGNORE));
    for (int i = 0; i < kLong; ++i) wrong += in[i] != (i % 2 == 0 ? peer * 7 + i : 0);
    CHECK_EQ(wrong, 0);
  }
  /* Synchronous, truncated, from anybody, cancelled. */
  if (rank == 0) {
    MPI_Request send;
    MPI_Status status;
    int four[4] = {1, 2, 3, 4}, flag = 0;
    CHECK_OK(MPI_Issend(four, 4, MPI_INT, 0, 4, inter, &send));
    CHECK_CLASS(MPI_Recv(in, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status), MPI_ERR_TRUNCATE);
    CHECK_EQ(status.MPI_SOURCE, 0);
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Isend(out, kLong, MPI_INT, 0, 5, inter, &send));
    CHECK_OK(MPI_Cancel(&send));
    CHECK_OK(MPI_Wait(&send, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
  }
  CHECK_OK(MPI_Type_free(&strided));
  free(out);
  free(in);
}

static int* numbers(int count, int first) {
  int* const all = malloc((size_t)(count > 0 ? count : 1) * sizeof(int));
  for (int i = 0; i < count; ++i) all[i] = first + i;
  return all;
}

static void collectives(MPI_Comm inter, int remote) {
  int sum = 0;
  CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter));
  CHECK_EQ(sum, remote * (remote - 1) / 2);
  int* const out = numbers(remote, 100 * rank);
  int* const in = numbers(remote, 0);
  CHECK_OK(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, inter));
  for (int i = 0; i < remote; ++i) CHECK_EQ(in[i], 100 * i + rank);
  CHECK_OK(MPI_Allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, inter));
  for (int i = 0; i < remote; ++i) CHECK_EQ(in[i], i);
  MPI_Request request;
  CHECK_OK(MPI_Ibarrier(inter, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  free(out);
  free(in);
}

/* A communicator of both, and others that come of it. */
static void together(MPI_Comm inter, int remote, int is_client, const char* port_file) {
  MPI_Comm merged, copy, part, window_comm;
  int all = 0, mine = -1, sum = 0;
  CHECK_OK(MPI_Intercomm_merge(inter, is_client, &merged));
  CHECK_OK(MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_size(merged, &all));
  CHECK_OK(MPI_Comm_rank(merged, &mine));
  CHECK_EQ(all, size + remote);
  CHECK_EQ(mine, is_client ? remote + rank : rank);
  enum { kMany = 100000 };
  int* const data = numbers(kMany, mine == 0 ? 5 : 0);
  CHECK_OK(MPI_Bcast(data, kMany, MPI_INT, 0, merged));
  CHECK_EQ(data[kMany - 1], kMany + 4);
  for (int i = 0; i < kMany; ++i) data[i] = mine;
  CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, data, kMany, MPI_INT, MPI_SUM, merged));
  CHECK_EQ(data[kMany / 2], all * (all - 1) / 2);
  free(data);
  int* const out = numbers(all, 1000 * mine);
  int* const in = numbers(all, 0);
  CHECK_OK(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, merged));
  for (int i = 0; i < all; ++i) CHECK_EQ(in[i], 1000 * i + mine);
  free(out);
  free(in);
  CHECK_OK(MPI_Comm_dup(merged, &copy));
  CHECK_OK(MPI_Comm_split(copy, mine % 2, -mine, &part));
  CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, part));
  int expected = 0;
  for (int i = mine % 2; i < all; i += 2) expected += i;
  CHECK_EQ(sum, expected);
  /* The two parts, whose leaders, the last even and the last odd rank, are of one job or of two. */
  MPI_Comm again;
  int leader_sum = 0;
  const int last_even = (all - 1) / 2 * 2, last_odd = all / 2 * 2 - 1;
  CHECK_OK(MPI_Intercomm_create(part, 0, copy, mine % 2 == 0 ? last_odd : last_even, 9, &again));
  CHECK_OK(MPI_Allreduce(&mine, &leader_sum, 1, MPI_INT, MPI_SUM, again));
  CHECK_EQ(leader_sum, all * (all - 1) / 2 - expected);
  CHECK_OK(MPI_Comm_free(&again));
  CHECK_OK(MPI_Comm_split_type(merged, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &window_comm));
  CHECK_OK(MPI_Comm_size(window_comm, &sum));
  CHECK_EQ(sum, size);
  CHECK_OK(MPI_Comm_free(&window_comm));
  check_windows(merged);
  char name[4096];
  snprintf(name, sizeof name, "%s.data", port_file);
  check_files(merged, name);
  CHECK_OK(MPI_Comm_free(&part));
  CHECK_OK(MPI_Comm_free(&copy));
  CHECK_OK(MPI_Comm_free(&merged));
}

static void publish(const char* name, const char* port, int by_info) {
  MPI_Info info = MPI_INFO_NULL;
  if (by_info) {
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "ompi_global_scope", "true"));
  }
  const int code = MPI_Publish_name(name, info, port);
  if (by_info) CHECK_OK(MPI_Info_free(&info));
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length, error_class;
  MPI_Error_class(code, &error_class);
  MPI_Error_string(code, text, &length);
  printf("class %d: %s\n", error_class, text);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, error_class == MPI_ERR_SERVICE ? 3 : 4);
}

static void look_up(const char* name, char* port) {
  while (MPI_Lookup_name(name, MPI_INFO_NULL, port) != MPI_SUCCESS) usleep(1000);
}

/* The clients' rank 0 sends, forgets the request, disconnects and ends; the message is received later. */
static void receive_late(MPI_Comm inter, int is_client) {
  enum { kBytes = 1 << 20 };
  static char data[kBytes];
  MPI_Request request;
  if (rank != 0) return;
  if (is_client) {
    memset(data, 7, kBytes);
    CHECK_OK(MPI_Isend(data, kBytes, MPI_CHAR, 0, 11, inter, &request));
    CHECK_OK(MPI_Request_free(&request));
  } else {
    usleep(700000);
    CHECK_OK(MPI_Recv(data, kBytes, MPI_CHAR, 0, 11, inter, MPI_STATUS_IGNORE));
    CHECK_EQ(data[0] + data[kBytes - 1], 14);
  }
}

static int is(const char* how, const char* what) { return how != NULL && strcmp(how, what) == 0; }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* calls without a communicator */
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 9);
  const int is_client = strcmp(argv[1], "connect") == 0;
  const char* const how = argc > 3 ? argv[3] : NULL;
  const int rounds = is(how, "rounds") ? 20 : 1;
  char port[MPI_MAX_PORT_NAME] = "";
  int root = size - 1;
  MPI_Comm comm = MPI_COMM_WORLD;
  if (is(how, "alone")) { /* the last rank meets the other job by itself */
    if (rank != root) return MPI_Finalize();
    comm = MPI_COMM_SELF;
    rank = root = 0;
    size = 1;
  }
  const int by_name = is(how, "name") || is(how, "scope");
  if (!is_client && rank == root) {
    CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    if (by_name) publish(argv[4], port, is(how, "scope"));
    put_port(argv[2], port);
  }
  if (is_client && rank == root && by_name)
    look_up(argv[4], port);
  else if (is_client && rank == root)
    get_port(argv[2], port);
  /* "late": the server accepts once there is a file. */
  while (is(how, "late") && rank == root && access(argv[4], F_OK) != 0) usleep(1000);
  if (is(how, "leave")) { /* a client waits at the port by now, and nobody accepts it */
    usleep(700000);
    MPI_Finalize();
    return 0;
  }
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Info info = MPI_INFO_NULL;
    if (is(how, "timeout")) {
      CHECK_OK(MPI_Info_create(&info));
      CHECK_OK(MPI_Info_set(info, "timeout", "1"));
    }
    const int code = is_client ? MPI_Comm_connect(port, info, root, comm, &inter)
                               : MPI_Comm_accept(port, MPI_INFO_NULL, root, comm, &inter);
    if (code != MPI_SUCCESS) {
      char text[MPI_MAX_ERROR_STRING];
      int length, error_class;
      MPI_Error_class(code, &error_class);
      MPI_Error_string(code, text, &length);
      printf("rank %d: class %d: %s\n", rank, error_class, text);
      MPI_Finalize();
      return error_class == MPI_ERR_PORT ? 3 : 4;
    }
    int remote = 0;
    CHECK_OK(MPI_Comm_remote_size(inter, &remote));
    CHECK_OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    if (is(how, "late_receive")) {
      receive_late(inter, is_client);
    } else if (how == NULL) {
      messages(inter, remote);
      collectives(inter, remote);
      together(inter, remote, is_client, argv[2]);
    } else {
      collectives(inter, remote);
    }
    if (is(how, "die") && rank == root) raise(SIGKILL);
    if (is(how, "abort") && rank == root) MPI_Abort(inter, 5);
    if (is(how, "wait") || is(how, "die") || is(how, "abort")) MPI_Barrier(inter);
    if (is(how, "hang"))
      MPI_Recv(&remote, 1, MPI_INT, 0, 9, inter, MPI_STATUS_IGNORE); /* which no rank sends */
    if (is(how, "apart")) {
      /* The other side ends without a word, after it has left. */
      CHECK_OK(MPI_Comm_disconnect(&inter));
      if (is_client) MPI_Barrier(MPI_COMM_WORLD); /* all of its ranks have */
      if (is_client) MPI_Abort(MPI_COMM_WORLD, 6);
      usleep(300000);
      break;
    }
    if (!is(how, "finalize")) CHECK_OK(MPI_Comm_disconnect(&inter));
  }
  if (!is_client && rank == root && by_name) {
    CHECK_CLASS(MPI_Unpublish_name(argv[4], MPI_INFO_NULL, "another port"), MPI_ERR_SERVICE);
    CHECK_OK(MPI_Unpublish_name(argv[4], MPI_INFO_NULL, port));
    char none[MPI_MAX_PORT_NAME];
    CHECK_CLASS(MPI_Lookup_name(argv[4], MPI_INFO_NULL, none), MPI_ERR_NAME);
  }
  if (!is_client && rank == root) CHECK_OK(MPI_Close_port(port));
  MPI_Finalize();
  if (check_failures == 0 && rank == 0) printf("met\n");
  return check_result();
}
