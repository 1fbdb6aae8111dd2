/* The channel to every peer: of the world, of a part of it in another order, and of the other side of an
 * intercommunicator. */
#include <unistd.h>

#include "tools.h"

enum { kMost = 64 };

static int rank, size;
static MPI_T_pvar_session session;
static MPI_T_enum names;
static int pids[kMost], nodes[kMost]; /* of each rank of the world; a node is the first rank on it */

/* As the kernel counts: getpid() tells each rank another one. */
static int process(void) {
  int number = 0;
  FILE* file = fopen("/proc/self/stat", "r");
  CHECK(file != NULL && fscanf(file, "%d", &number) == 1);
  fclose(file);
  return number;
}

static void look_around(void) {
  MPI_Comm node;
  int pid = process(), first = rank;
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  CHECK_OK(MPI_Bcast(&first, 1, MPI_INT, 0, node));
  CHECK_OK(MPI_Comm_free(&node));
  CHECK_OK(MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD));
  CHECK_OK(MPI_Allgather(&first, 1, MPI_INT, nodes, 1, MPI_INT, MPI_COMM_WORLD));
}

static const char* name_of(int channel) {
  static char name[32];
  int count = 0, value = -1;
  T_OK(MPI_T_enum_get_info(names, &count, NULL, NULL));
  for (int i = 0; i < count; ++i) {
    int length = sizeof name;
    T_OK(MPI_T_enum_get_item(names, i, &value, name, &length));
    if (value == channel) return name;
  }
  CHECK_FAILED("channel %d has no name", channel);
  return "";
}

/* `first` and `stride` say which rank of the world a peer is. */
static void check_peers(MPI_Comm comm, int peers, int first, int stride) {
  MPI_T_pvar_handle handle;
  int count = -1, channels[kMost] = {0};
  T_OK(MPI_T_pvar_handle_alloc(session, meter("comm_channels", MPI_T_PVAR_CLASS_STATE), &comm, &handle,
                               &count));
  CHECK_EQ(count, peers);
  T_OK(MPI_T_pvar_read(session, handle, channels));
  for (int i = 0; i < peers; ++i) {
    const int peer = first + i * stride;
    const char* const name = name_of(channels[i]);
    const int same_process = pids[peer] == pids[rank] && nodes[peer] == nodes[rank];
    CHECK_EQ(strcmp(name, "self") == 0, same_process);
    CHECK_EQ(strcmp(name, "shm") == 0, !same_process && nodes[peer] == nodes[rank]);
    CHECK_EQ(strcmp(name, "ofi") == 0, nodes[peer] != nodes[rank]);
  }
  CHECK_EQ(MPI_T_pvar_start(session, handle), MPI_T_ERR_PVAR_NO_STARTSTOP);
  CHECK_EQ(MPI_T_pvar_write(session, handle, channels), MPI_T_ERR_PVAR_NO_WRITE);
  T_OK(MPI_T_pvar_handle_free(session, &handle));
}

static void backwards(void) {
  MPI_Comm comm;
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm));
  check_peers(comm, size, size - 1, -1);
  CHECK_OK(MPI_Comm_free(&comm));
}

/* Even ranks on one side, odd ones on the other. */
static void other_side(void) {
  MPI_Comm half, both;
  if (size < 2) return;
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
  CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &both));
  check_peers(both, rank % 2 == 0 ? size / 2 : (size + 1) / 2, 1 - rank % 2, 2);
  CHECK_OK(MPI_Comm_free(&both));
  CHECK_OK(MPI_Comm_free(&half));
}

/* A handle may live longer than its communicator. */
static void after_the_end(void) {
  MPI_Comm comm;
  MPI_T_pvar_handle handle;
  int count, channels[kMost], before[kMost];
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  T_OK(MPI_T_pvar_handle_alloc(session, meter("comm_channels", MPI_T_PVAR_CLASS_STATE), &comm, &handle,
                               &count));
  T_OK(MPI_T_pvar_read(session, handle, before));
  CHECK_OK(MPI_Comm_free(&comm));
  T_OK(MPI_T_pvar_read(session, handle, channels));
  CHECK_EQ(memcmp(channels, before, sizeof(int) * (size_t)size), 0);
  T_OK(MPI_T_pvar_handle_free(session, &handle));
}

int main(int argc, char** argv) {
  int bind = -1;
  MPI_Datatype type;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(size <= kMost);
  start_tool();
  T_OK(MPI_T_pvar_session_create(&session));
  T_OK(MPI_T_pvar_get_info(meter("comm_channels", MPI_T_PVAR_CLASS_STATE), NULL, NULL, NULL, NULL, &type,
                           &names, NULL, NULL, &bind, NULL, NULL, NULL));
  CHECK_EQ(type, MPI_INT);
  CHECK_EQ(bind, MPI_T_BIND_MPI_COMM);
  look_around();
  check_peers(MPI_COMM_WORLD, size, 0, 1);
  check_peers(MPI_COMM_SELF, 1, rank, 1);
  backwards();
  other_side();
  after_the_end();
  T_OK(MPI_T_pvar_session_free(&session));
  T_OK(MPI_T_finalize());
  MPI_Finalize();
  return check_result();
}
