/* Control variables: reading, writing where that is allowed, and that they do what they say. */
#include "tools.h"

static int rank, size;

static MPI_T_cvar_handle open_control(const char* name, int expected) {
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = -1;
  T_OK(MPI_T_cvar_handle_alloc(control(name), NULL, &handle, &count));
  CHECK(handle != MPI_T_CVAR_HANDLE_NULL);
  if (expected > 0) CHECK_EQ(count, expected);
  return handle;
}

static void close_control(MPI_T_cvar_handle* handle) {
  T_OK(MPI_T_cvar_handle_free(handle));
  CHECK_EQ(*handle, MPI_T_CVAR_HANDLE_NULL);
  CHECK_EQ(MPI_T_cvar_handle_free(handle), MPI_T_ERR_INVALID_HANDLE);
}

static void constants(void) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int value = -1, workers = -1, scheduler = -1;
  MPI_T_cvar_handle version = open_control("version", 0);
  T_OK(MPI_T_cvar_read(version, text));
  CHECK(strncmp(text, "Clump ", 6) == 0);
  CHECK_EQ(MPI_T_cvar_write(version, "other"), MPI_T_ERR_CVAR_SET_NEVER);
  close_control(&version);

  MPI_T_cvar_handle handle = open_control("workers", 1);
  T_OK(MPI_T_cvar_read(handle, &workers));
  CHECK(workers >= 0);
  CHECK_EQ(MPI_T_cvar_write(handle, &value), MPI_T_ERR_CVAR_SET_NEVER);
  close_control(&handle);
  handle = open_control("scheduler", 1);
  T_OK(MPI_T_cvar_read(handle, &scheduler));
  CHECK_EQ(scheduler, workers > 0);
  close_control(&handle);
  handle = open_control("home", 1);
  T_OK(MPI_T_cvar_read(handle, &value));
  CHECK(value >= 0 && (workers == 0 || value < workers));
  close_control(&handle);
}

/* Each rank has its own limits; and they are set back. */
static void sizes(const char* name, MPI_Count least, MPI_Count most) {
  MPI_T_cvar_handle handle = open_control(name, 1);
  MPI_Count before = -1, value = least + 100 + rank, after = -1;
  T_OK(MPI_T_cvar_read(handle, &before));
  CHECK(before > 0);
  T_OK(MPI_T_cvar_write(handle, &value));
  T_OK(MPI_T_cvar_read(handle, &after));
  CHECK_EQ(after, value);
  value = least - 1;
  CHECK_EQ(MPI_T_cvar_write(handle, &value), MPI_T_ERR_INVALID);
  value = most + 1;
  CHECK_EQ(MPI_T_cvar_write(handle, &value), MPI_T_ERR_INVALID);
  T_OK(MPI_T_cvar_write(handle, &before));
  close_control(&handle);
}

/* A message over the limit waits with its sender: the send is not complete before the receive. */
static void eager_limit(void) {
  MPI_T_cvar_handle handle = open_control("eager_limit", 1);
  MPI_Count limit = 8, before;
  MPI_Request small, large;
  char out[64] = "seven is a small number of bytes", in[64] = "";
  int flag = 0;
  T_OK(MPI_T_cvar_read(handle, &before));
  T_OK(MPI_T_cvar_write(handle, &limit));
  CHECK_OK(MPI_Isend(out, 8, MPI_CHAR, rank, 1, MPI_COMM_WORLD, &small));
  CHECK_OK(MPI_Test(&small, &flag, MPI_STATUS_IGNORE));
  CHECK_EQ(flag, 1);
  CHECK_OK(MPI_Isend(out, 9, MPI_CHAR, rank, 2, MPI_COMM_WORLD, &large));
  for (int i = 0; i < 10; ++i) {
    CHECK_OK(MPI_Test(&large, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 0);
  }
  CHECK_OK(MPI_Recv(in, 64, MPI_CHAR, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Recv(in, 64, MPI_CHAR, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Wait(&large, MPI_STATUS_IGNORE));
  CHECK(memcmp(in, out, 9) == 0);
  T_OK(MPI_T_cvar_write(handle, &before));
  close_control(&handle);
}

static void wrong(void) {
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0, number = 0;
  T_OK(MPI_T_cvar_get_num(&number));
  CHECK_EQ(MPI_T_cvar_handle_alloc(number, NULL, &handle, &count), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_cvar_handle_alloc(-1, NULL, &handle, &count), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_cvar_handle_alloc(0, NULL, NULL, &count), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_cvar_handle_alloc(0, NULL, &handle, NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_cvar_read(MPI_T_CVAR_HANDLE_NULL, &count), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_cvar_write((MPI_T_cvar_handle)4242, &count), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_cvar_handle_free(NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_cvar_handle_free(&handle), MPI_T_ERR_INVALID_HANDLE);
  handle = open_control("eager_limit", 1);
  CHECK_EQ(MPI_T_cvar_read(handle, NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_cvar_write(handle, NULL), MPI_T_ERR_INVALID);
  close_control(&handle);
}

/* Each algorithm of each collective that has several gives the same sum, and is used where it can be. */
static void algorithms(void) {
  char name[256];
  int index = control("allreduce_algorithm"), count = 0, items = 0, value = -1;
  MPI_T_enum enumeration;
  MPI_T_cvar_handle handle;
  T_OK(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, &enumeration, NULL, NULL, NULL, NULL));
  T_OK(MPI_T_enum_get_info(enumeration, &items, NULL, NULL));
  CHECK(items > 3);
  T_OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
  for (int i = items - 1; i >= 0; --i) {
    int length = sizeof name, in[5], out[5] = {0};
    T_OK(MPI_T_enum_get_item(enumeration, i, &value, name, &length));
    T_OK(MPI_T_cvar_write(handle, &value));
    for (int k = 0; k < 5; ++k) in[k] = rank + k;
    CHECK_OK(MPI_Allreduce(in, out, 5, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int k = 0; k < 5; ++k) CHECK_EQ(out[k], size * (size - 1) / 2 + k * size);
  }
  CHECK_EQ(value, 0); /* the first one: automatic */
  value = 99;
  CHECK_EQ(MPI_T_cvar_write(handle, &value), MPI_T_ERR_INVALID);
  close_control(&handle);
}

/* A communicator's hints stand above what the controls say. */
static void hints(void) {
  MPI_T_pvar_session session;
  MPI_Comm comm, other = MPI_COMM_WORLD;
  MPI_Info info;
  int in = rank, out = -1;
  T_OK(MPI_T_pvar_session_create(&session));
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "clump_allreduce_algorithm", "reduce_and_broadcast"));
  CHECK_OK(MPI_Info_set(info, "clump_reductions", "reproducible"));
  CHECK_OK(MPI_Info_set(info, "clump_unheard_of", "ignored"));
  CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
  MPI_T_pvar_handle used =
      open_meter(session, "algorithm_reduce_and_broadcast", MPI_T_PVAR_CLASS_COUNTER, NULL);
  T_OK(MPI_T_pvar_start(session, used));
  CHECK_OK(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(out, size * (size - 1) / 2);
  CHECK_EQ(read_meter(session, used), size > 1);
  CHECK_OK(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(read_meter(session, used), size > 1);
  CHECK_OK(MPI_Info_set(info, "clump_allreduce_algorithm", "automatic"));
  CHECK_OK(MPI_Comm_set_info(comm, info));
  CHECK_OK(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(read_meter(session, used), size > 1);
  CHECK_OK(MPI_Info_set(info, "clump_allreduce_algorithm", "magic"));
  CHECK_CLASS(MPI_Comm_set_info(comm, info), MPI_ERR_INFO_VALUE);
  CHECK_CLASS(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &other), MPI_ERR_INFO_VALUE);
  CHECK(other == MPI_COMM_NULL);
  CHECK_OK(MPI_Info_free(&info));
  CHECK_OK(MPI_Comm_free(&comm));
  T_OK(MPI_T_pvar_handle_free(session, &used));
  T_OK(MPI_T_pvar_session_free(&session));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  start_tool();
  constants();
  sizes("eager_limit", 0, 1 << 20);
  sizes("unexpected_limit", 1 << 20, (MPI_Count)1 << 40);
  if (rank == 0) sizes("lane_limit", 0, 128 << 10); /* of the process */
  eager_limit();
  wrong();
  algorithms();
  hints();
  T_OK(MPI_T_finalize());
  MPI_Finalize();
  return check_result();
}
