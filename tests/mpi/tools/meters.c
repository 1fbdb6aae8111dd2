/* Performance variables: sessions, handles, and counters that count exactly what was sent. */
#include "tools.h"

static int rank, size;
static MPI_T_pvar_session session;

static const char* const ways[] = {"direct", "lane", "reference"};

/* A handle that was never started shows what was written. */
static void never_started(void) {
  unsigned long long base = 1ull << 40;
  MPI_T_pvar_handle handle = open_meter(session, "bytes_sent_lane", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
  T_OK(MPI_T_pvar_write(session, handle, &base));
  CHECK_EQ(read_meter(session, handle), base);
  T_OK(MPI_T_pvar_handle_free(session, &handle));
}

/* Three messages of 100, 5,000 and 50,000 bytes to the next rank; what came is the same all around. */
static void traffic(void) {
  static char out[100000], in[100000];
  const int bytes[] = {100, 5000, 100000}, next = (rank + 1) % size, previous = (rank + size - 1) % size;
  MPI_T_pvar_handle messages[3], volumes[3], arrived[2], arrived_bytes[2];
  char name[64];
  for (int way = 0; way < 3; ++way) {
    snprintf(name, sizeof name, "messages_sent_%s", ways[way]);
    messages[way] = open_meter(session, name, MPI_T_PVAR_CLASS_COUNTER, NULL);
    snprintf(name, sizeof name, "bytes_sent_%s", ways[way]);
    volumes[way] = open_meter(session, name, MPI_T_PVAR_CLASS_AGGREGATE, NULL);
  }
  arrived[0] = open_meter(session, "messages_received_expected", MPI_T_PVAR_CLASS_COUNTER, NULL);
  arrived[1] = open_meter(session, "messages_received_unexpected", MPI_T_PVAR_CLASS_COUNTER, NULL);
  arrived_bytes[0] = open_meter(session, "bytes_received_expected", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
  arrived_bytes[1] = open_meter(session, "bytes_received_unexpected", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
  T_OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  /* Within one address space it needs no messages, and otherwise each rank gets as many as it sends. */
  unsigned long long before = 0;
  for (int way = 0; way < 3; ++way) before += read_meter(session, messages[way]);
  MPI_Request request;
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(MPI_Irecv(in, sizeof in, MPI_CHAR, previous, i, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Send(out, bytes[i], MPI_CHAR, next, i, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  T_OK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
  unsigned long long sum = 0, volume = 0, came = 0, came_bytes = 0;
  for (int way = 0; way < 3; ++way) {
    sum += read_meter(session, messages[way]);
    volume += read_meter(session, volumes[way]);
  }
  for (int luck = 0; luck < 2; ++luck) {
    came += read_meter(session, arrived[luck]);
    came_bytes += read_meter(session, arrived_bytes[luck]);
  }
  CHECK_EQ(sum, before + 3);
  CHECK_EQ(volume, 105100);
  CHECK_EQ(came, before + 3);
  CHECK_EQ(came_bytes, 105100);
  CHECK(read_meter(session, messages[2]) >= 1); /* the longest is left with its sender */
  CHECK(read_meter(session, volumes[2]) >= 100000);
  /* What comes while they are stopped is not counted. */
  CHECK_OK(
      MPI_Sendrecv(out, 1, MPI_CHAR, rank, 9, in, 1, MPI_CHAR, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  for (int way = 0; way < 3; ++way) sum -= read_meter(session, messages[way]);
  CHECK_EQ(sum, 0);
}

static void to_myself(int messages) {
  char byte = 0;
  for (int i = 0; i < messages; ++i)
    CHECK_OK(MPI_Sendrecv_replace(&byte, 1, MPI_CHAR, rank, 3, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Messages to oneself are shown directly. Start and stop, reset, write, and both at once. */
static void turning(void) {
  unsigned long long value = 77;
  MPI_T_pvar_handle handle = open_meter(session, "messages_sent_direct", MPI_T_PVAR_CLASS_COUNTER, NULL);
  CHECK_EQ(read_meter(session, handle), 0);
  to_myself(2);
  CHECK_EQ(read_meter(session, handle), 0);
  T_OK(MPI_T_pvar_start(session, handle));
  T_OK(MPI_T_pvar_start(session, handle)); /* it goes on */
  to_myself(3);
  CHECK_EQ(read_meter(session, handle), 3);
  T_OK(MPI_T_pvar_stop(session, handle));
  to_myself(4);
  CHECK_EQ(read_meter(session, handle), 3);
  T_OK(MPI_T_pvar_start(session, handle));
  to_myself(5);
  CHECK_EQ(read_meter(session, handle), 8);
  T_OK(MPI_T_pvar_write(session, handle, &value));
  to_myself(1);
  T_OK(MPI_T_pvar_readreset(session, handle, &value));
  CHECK_EQ(value, 78);
  to_myself(2);
  CHECK_EQ(read_meter(session, handle), 2);
  T_OK(MPI_T_pvar_reset(session, handle));
  CHECK_EQ(read_meter(session, handle), 0);
  T_OK(MPI_T_pvar_handle_free(session, &handle));
  CHECK_EQ(handle, MPI_T_PVAR_HANDLE_NULL);
}

/* What one session does, another does not see. */
static void isolation(void) {
  MPI_T_pvar_session other;
  T_OK(MPI_T_pvar_session_create(&other));
  MPI_T_pvar_handle mine = open_meter(session, "messages_sent_direct", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle its = open_meter(other, "messages_sent_direct", MPI_T_PVAR_CLASS_COUNTER, NULL);
  T_OK(MPI_T_pvar_start(session, mine));
  T_OK(MPI_T_pvar_start(other, MPI_T_PVAR_ALL_HANDLES));
  to_myself(2);
  T_OK(MPI_T_pvar_reset(other, MPI_T_PVAR_ALL_HANDLES));
  to_myself(1);
  CHECK_EQ(read_meter(session, mine), 3);
  CHECK_EQ(read_meter(other, its), 1);
  unsigned long long value;
  CHECK_EQ(MPI_T_pvar_read(other, mine, &value), MPI_T_ERR_INVALID_HANDLE);
  T_OK(MPI_T_pvar_session_free(&other));
  CHECK_EQ(other, MPI_T_PVAR_SESSION_NULL);
  CHECK_EQ(MPI_T_pvar_read(other, its, &value), MPI_T_ERR_INVALID_SESSION);
  CHECK_EQ(MPI_T_pvar_read(session, its, &value), MPI_T_ERR_INVALID_HANDLE);
  T_OK(MPI_T_pvar_handle_free(session, &mine));
}

static void objects(void) {
  MPI_T_pvar_handle handle = open_meter(session, "handles_communicators", MPI_T_PVAR_CLASS_LEVEL, NULL);
  MPI_Comm comm;
  const unsigned long long before = read_meter(session, handle);
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_EQ(read_meter(session, handle), before + 1);
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_EQ(read_meter(session, handle), before);
  T_OK(MPI_T_pvar_handle_free(session, &handle));
}

/* How many operations were counted for a collective, and for all algorithms together. */
static void collectives(void) {
  int count = 0, class = 0, algorithms = 0;
  char name[64];
  MPI_T_pvar_handle used[64];
  MPI_T_pvar_handle barriers = open_meter(session, "collective_barrier", MPI_T_PVAR_CLASS_COUNTER, NULL);
  T_OK(MPI_T_pvar_get_num(&count));
  for (int i = 0; i < count; ++i) {
    int length = sizeof name;
    T_OK(MPI_T_pvar_get_info(i, name, &length, NULL, &class, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    if (strncmp(name, "algorithm_", 10) == 0) used[algorithms++] = open_meter(session, name, class, NULL);
  }
  CHECK(algorithms > 10);
  T_OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
  for (int i = 0; i < 5; ++i) CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  T_OK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
  unsigned long long sum = 0;
  for (int i = 0; i < algorithms; ++i) {
    sum += read_meter(session, used[i]);
    T_OK(MPI_T_pvar_handle_free(session, &used[i]));
  }
  CHECK_EQ(read_meter(session, barriers), 5);
  CHECK_EQ(sum, 5);
  T_OK(MPI_T_pvar_handle_free(session, &barriers));
}

/* What a rank moves from and to windows and files. */
static void accesses(void) {
  static const char* const kNames[] = {"window_puts", "window_gets", "window_accumulates", "file_reads",
                                       "file_writes"};
  enum { kKinds = sizeof kNames / sizeof *kNames };
  MPI_T_pvar_handle calls[kKinds], bytes[kKinds];
  for (int i = 0; i < kKinds; ++i) {
    char name[64];
    snprintf(name, sizeof name, "%s_bytes", kNames[i]);
    calls[i] = open_meter(session, kNames[i], MPI_T_PVAR_CLASS_COUNTER, NULL);
    bytes[i] = open_meter(session, name, MPI_T_PVAR_CLASS_AGGREGATE, NULL);
  }
  T_OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
  int memory[4] = {0}, data[4] = {1, 2, 3, 4}, before = 0;
  MPI_Win win;
  CHECK_OK(MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_SELF, &win));
  CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(MPI_Put(data, 4, MPI_INT, 0, 0, 4, MPI_INT, win));
    CHECK_OK(MPI_Win_flush(0, win));
  }
  CHECK_OK(MPI_Get(data, 2, MPI_INT, 0, 0, 2, MPI_INT, win));
  CHECK_OK(MPI_Win_flush(0, win));
  CHECK_OK(MPI_Accumulate(data, 4, MPI_INT, 0, 0, 4, MPI_INT, MPI_SUM, win));
  CHECK_OK(MPI_Fetch_and_op(data, &before, MPI_INT, 0, 0, MPI_SUM, win));
  CHECK_OK(MPI_Put(data, 0, MPI_INT, 0, 0, 0, MPI_INT, win)); /* moves nothing */
  CHECK_OK(MPI_Win_unlock(0, win));
  CHECK_OK(MPI_Win_free(&win));
  MPI_File file;
  CHECK_OK(MPI_File_open(MPI_COMM_SELF, "/dev/zero", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  CHECK_OK(MPI_File_read(file, data, 4, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_read_all(file, data, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&file));
  CHECK_OK(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  MPI_Request request;
  CHECK_OK(MPI_File_iwrite_shared(file, data, 3, MPI_INT, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&file));
  T_OK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
  static const unsigned long long kCalls[] = {3, 1, 2, 2, 1}, kBytes[] = {48, 8, 20, 20, 12};
  for (int i = 0; i < kKinds; ++i) {
    CHECK_EQ(read_meter(session, calls[i]), kCalls[i]);
    CHECK_EQ(read_meter(session, bytes[i]), kBytes[i]);
    T_OK(MPI_T_pvar_handle_free(session, &calls[i]));
    T_OK(MPI_T_pvar_handle_free(session, &bytes[i]));
  }
}

static void wrong(void) {
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  MPI_T_pvar_session nobody = MPI_T_PVAR_SESSION_NULL;
  unsigned long long value = 0;
  int count = 0, number = 0;
  const int direct = meter("messages_sent_direct", MPI_T_PVAR_CLASS_COUNTER);
  const int bound = meter("comm_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL);
  MPI_Comm null_comm = MPI_COMM_NULL;
  T_OK(MPI_T_pvar_get_num(&number));
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, number, NULL, &handle, &count), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_pvar_handle_alloc(nobody, direct, NULL, &handle, &count), MPI_T_ERR_INVALID_SESSION);
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, direct, NULL, NULL, &count), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, bound, NULL, &handle, &count), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, bound, &null_comm, &handle, &count), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_pvar_session_free(&nobody), MPI_T_ERR_INVALID_SESSION);
  CHECK_EQ(MPI_T_pvar_session_free(NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_pvar_session_create(NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_pvar_start(nobody, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION);
  CHECK_EQ(MPI_T_pvar_start(session, MPI_T_PVAR_HANDLE_NULL), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_readreset(session, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_write(session, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_handle_free(session, &handle), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_handle_free(session, NULL), MPI_T_ERR_INVALID);
  handle = open_meter(session, "unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, NULL);
  CHECK_EQ(MPI_T_pvar_start(session, handle), MPI_T_ERR_PVAR_NO_STARTSTOP);
  CHECK_EQ(MPI_T_pvar_stop(session, handle), MPI_T_ERR_PVAR_NO_STARTSTOP);
  CHECK_EQ(MPI_T_pvar_reset(session, handle), MPI_T_ERR_PVAR_NO_WRITE);
  CHECK_EQ(MPI_T_pvar_write(session, handle, &value), MPI_T_ERR_PVAR_NO_WRITE);
  CHECK_EQ(MPI_T_pvar_readreset(session, handle, &value), MPI_T_ERR_PVAR_NO_ATOMIC);
  CHECK_EQ(MPI_T_pvar_read(session, handle, NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_pvar_write(session, handle, NULL), MPI_T_ERR_INVALID);
  T_OK(MPI_T_pvar_handle_free(session, &handle));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  start_tool();
  T_OK(MPI_T_pvar_session_create(&session));
  never_started();
  traffic();
  turning();
  isolation();
  objects();
  collectives();
  accesses();
  wrong();
  T_OK(MPI_T_pvar_session_free(&session));
  T_OK(MPI_T_finalize());
  MPI_Finalize();
  return check_result();
}
