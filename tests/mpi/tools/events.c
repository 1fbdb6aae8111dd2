/* Events: what callbacks are told, and that they are told exactly what happened. */
#include "tools.h"

static int rank, size, told, freed;
static struct {
  int source, tag;
  MPI_Count bytes, time;
} last;

static void on_message(MPI_T_event_instance instance, MPI_T_event_registration registration,
                       MPI_T_cb_safety safety, void* user_data) {
  struct {
    int source, tag;
    MPI_Count bytes;
  } whole = {-1, -1, -1};
  int source_index = -1;
  (void)registration;
  CHECK_EQ(safety, MPI_T_CB_REQUIRE_NONE);
  CHECK(user_data == &told);
  ++*(int*)user_data;
  T_OK(MPI_T_event_read(instance, 0, &last.source));
  T_OK(MPI_T_event_read(instance, 1, &last.tag));
  T_OK(MPI_T_event_read(instance, 2, &last.bytes));
  T_OK(MPI_T_event_get_timestamp(instance, &last.time));
  T_OK(MPI_T_event_get_source(instance, &source_index));
  CHECK_EQ(source_index, 0);
  T_OK(MPI_T_event_copy(instance, &whole));
  CHECK_EQ(whole.source, last.source);
  CHECK_EQ(whole.tag, last.tag);
  CHECK_EQ(whole.bytes, last.bytes);
  CHECK_EQ(MPI_T_event_read(instance, 3, &last.source), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_event_read(instance, 0, NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_event_copy(instance, NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_event_get_timestamp(instance, NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_event_get_source(instance, NULL), MPI_T_ERR_INVALID);
}

static void on_free(MPI_T_event_registration registration, MPI_T_cb_safety safety, void* user_data) {
  (void)registration;
  CHECK_EQ(safety, MPI_T_CB_REQUIRE_NONE);
  *(int*)user_data += 1;
}

static void let_tell(void) {
  int flag;
  CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
}

static void message_to_myself(MPI_Comm comm, int tag, int bytes) {
  char data[64] = "";
  int self;
  MPI_Comm_rank(comm, &self);
  CHECK_OK(MPI_Send(data, bytes, MPI_CHAR, self, tag, comm));
  CHECK_OK(MPI_Recv(data, sizeof data, MPI_CHAR, self, tag, comm, MPI_STATUS_IGNORE));
}

static void messages(void) {
  MPI_T_event_registration registration;
  MPI_Count before = 0, after = 0;
  MPI_Comm other;
  T_OK(MPI_T_event_handle_alloc(event("unexpected_message"), NULL, MPI_INFO_NULL, &registration));
  message_to_myself(MPI_COMM_SELF, 1, 8); /* nobody has asked yet */
  T_OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &told, on_message));
  let_tell();
  CHECK_EQ(told, 0);
  T_OK(MPI_T_source_get_timestamp(0, &before));
  message_to_myself(MPI_COMM_SELF, 21, 8);
  T_OK(MPI_T_source_get_timestamp(0, &after));
  CHECK_EQ(told, 1);
  CHECK_EQ(last.source, 0);
  CHECK_EQ(last.tag, 21);
  CHECK_EQ(last.bytes, 8);
  CHECK(before <= last.time && last.time <= after);
  /* A receive that is there makes no event. */
  MPI_Request request;
  char in = 0, out = 0;
  CHECK_OK(MPI_Irecv(&in, 1, MPI_CHAR, 0, 22, MPI_COMM_SELF, &request));
  CHECK_OK(MPI_Send(&out, 1, MPI_CHAR, 0, 22, MPI_COMM_SELF));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  let_tell();
  CHECK_EQ(told, 1);
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &other));
  message_to_myself(other, 23, 3);
  let_tell();
  CHECK_EQ(told, 2);
  CHECK_EQ(last.tag, 23);
  T_OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, NULL));
  message_to_myself(other, 24, 3);
  let_tell();
  CHECK_EQ(told, 2);
  T_OK(MPI_T_event_handle_free(registration, &freed, on_free));
  CHECK_EQ(freed, 1);

  /* Of one communicator. */
  T_OK(MPI_T_event_handle_alloc(event("comm_unexpected_message"), &other, MPI_INFO_NULL, &registration));
  T_OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, &told,
                                     on_message));
  message_to_myself(MPI_COMM_SELF, 25, 1);
  message_to_myself(other, 26, 2);
  let_tell();
  CHECK_EQ(told, 3);
  CHECK_EQ(last.tag, 26);
  T_OK(MPI_T_event_handle_free(registration, NULL, NULL));
  CHECK_OK(MPI_Comm_free(&other));
}

/* From the next rank, while this one looks away. */
static void from_others(void) {
  MPI_T_event_registration registration;
  int value = 0;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  T_OK(MPI_T_event_handle_alloc(event("unexpected_message"), NULL, MPI_INFO_NULL, &registration));
  T_OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &told, on_message));
  told = 0;
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_OK(MPI_Send(&rank, 1, MPI_INT, next, 31, MPI_COMM_WORLD));
  CHECK_OK(MPI_Send(&rank, 1, MPI_INT, next, 32, MPI_COMM_WORLD));
  MPI_Status status;
  CHECK_OK(MPI_Probe(previous, 32, MPI_COMM_WORLD, &status)); /* so both have come */
  CHECK_OK(MPI_Recv(&value, 1, MPI_INT, previous, 31, MPI_COMM_WORLD, &status));
  CHECK_OK(MPI_Recv(&value, 1, MPI_INT, previous, 32, MPI_COMM_WORLD, &status));
  CHECK_EQ(value, previous);
  let_tell();
  CHECK_EQ(told, 2);
  CHECK_EQ(last.source, previous);
  CHECK_EQ(last.tag, 32);
  CHECK_EQ(last.bytes, 4);
  T_OK(MPI_T_event_handle_free(registration, NULL, NULL));
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static int collectives, registration_is_gone;
static MPI_Count largest;

static void on_collective(MPI_T_event_instance instance, MPI_T_event_registration registration,
                          MPI_T_cb_safety safety, void* user_data) {
  int collective = -1;
  MPI_Count bytes = -1;
  (void)safety;
  (void)user_data;
  T_OK(MPI_T_event_read(instance, 0, &collective));
  T_OK(MPI_T_event_read(instance, 2, &bytes));
  CHECK(collective >= 0);
  ++collectives;
  if (bytes > largest) largest = bytes;
  /* Callbacks may call everything, and free their own registration. */
  int flag;
  CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
  if (collectives < 3) return;
  T_OK(MPI_T_event_handle_free(registration, &registration_is_gone, on_free));
}

static void collective_operations(void) {
  MPI_T_event_registration registration;
  double in[10] = {0}, out[10];
  MPI_Comm other;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
  T_OK(MPI_T_event_handle_alloc(event("comm_collective"), &other, MPI_INFO_NULL, &registration));
  T_OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, NULL,
                                     on_collective));
  CHECK_OK(MPI_Allreduce(in, out, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  let_tell();
  CHECK_EQ(collectives, 0);
  CHECK_OK(MPI_Bcast(in, 10, MPI_DOUBLE, 0, other));
  let_tell();
  CHECK_EQ(collectives, size > 1);
  CHECK_EQ(largest, size > 1 ? 80 : 0);
  for (int i = 0; i < 4; ++i) CHECK_OK(MPI_Barrier(other));
  let_tell();
  /* A rank alone has nothing to broadcast, but barriers count. */
  CHECK_EQ(collectives, 3);
  CHECK_EQ(registration_is_gone, 1);
  CHECK_EQ(MPI_T_event_handle_free(registration, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
  CHECK_OK(MPI_Comm_free(&other));
}

/* A callback that frees another registration, or gives it another callback: what that one has had before is
   not called any more. The order in which the two are told is not the standard's. */
static MPI_T_event_registration pair[2];
static int pair_calls, second_calls, is_gone[2], second_data;

static void on_second(MPI_T_event_instance instance, MPI_T_event_registration registration,
                      MPI_T_cb_safety safety, void* user_data) {
  (void)instance, (void)registration, (void)safety;
  CHECK(user_data == &second_data);
  ++second_calls;
}

static void on_either(MPI_T_event_instance instance, MPI_T_event_registration registration,
                      MPI_T_cb_safety safety, void* user_data) {
  const int mine = registration == pair[1], frees = user_data != NULL;
  (void)instance, (void)safety;
  ++pair_calls;
  CHECK(!is_gone[mine]);
  if (frees)
    T_OK(MPI_T_event_handle_free(pair[!mine], &is_gone[!mine], on_free));
  else
    T_OK(MPI_T_event_register_callback(pair[!mine], MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &second_data,
                                       on_second));
}

static void callbacks_that_change_others(void) {
  for (int frees = 0; frees < 2; ++frees) {
    pair_calls = second_calls = is_gone[0] = is_gone[1] = 0;
    for (int i = 0; i < 2; ++i) {
      T_OK(MPI_T_event_handle_alloc(event("unexpected_message"), NULL, MPI_INFO_NULL, &pair[i]));
      T_OK(MPI_T_event_register_callback(pair[i], MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, frees ? &told : NULL,
                                         on_either));
    }
    message_to_myself(MPI_COMM_SELF, 41, 1);
    let_tell();
    CHECK_EQ(pair_calls, 1);
    CHECK_EQ(second_calls, !frees);
    CHECK_EQ(is_gone[0] + is_gone[1], frees);
    for (int i = 0; i < 2; ++i)
      if (!is_gone[i]) T_OK(MPI_T_event_handle_free(pair[i], NULL, NULL));
  }
}

static void hints_and_errors(void) {
  MPI_T_event_registration registration = NULL, none = (MPI_T_event_registration)4242;
  MPI_T_event_instance instance = (MPI_T_event_instance)&told;
  MPI_Info info = MPI_INFO_NULL, stale;
  MPI_Comm null_comm = MPI_COMM_NULL;
  MPI_Count time;
  int count = 0, keys = -1, index = event("unexpected_message");
  const MPI_T_cb_safety safe = MPI_T_CB_REQUIRE_NONE, odd = (MPI_T_cb_safety)0x11;
  CHECK_OK(MPI_Info_create(&info));
  stale = info;
  T_OK(MPI_T_event_handle_alloc(index, NULL, info, &registration));
  T_OK(MPI_T_event_handle_set_info(registration, info));
  T_OK(MPI_T_event_register_callback(registration, safe, info, &told, on_message));
  T_OK(MPI_T_event_callback_set_info(registration, safe, info));
  CHECK_OK(MPI_Info_free(&info));
  T_OK(MPI_T_event_handle_get_info(registration, &info));
  CHECK_OK(MPI_Info_get_nkeys(info, &keys));
  CHECK_EQ(keys, 0);
  CHECK_OK(MPI_Info_free(&info));
  T_OK(MPI_T_event_callback_get_info(registration, safe, &info));
  CHECK_OK(MPI_Info_free(&info));
  CHECK_EQ(MPI_T_event_handle_set_info(registration, stale), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_event_callback_set_info(registration, odd, MPI_INFO_NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_event_callback_get_info(registration, odd, &info), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_event_callback_get_info(registration, safe, NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_event_register_callback(registration, odd, MPI_INFO_NULL, NULL, on_message),
           MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_event_register_callback(registration, safe, stale, NULL, on_message), MPI_T_ERR_INVALID);
  T_OK(MPI_T_event_handle_free(registration, NULL, NULL));

  T_OK(MPI_T_event_get_num(&count));
  CHECK_EQ(MPI_T_event_handle_alloc(count, NULL, MPI_INFO_NULL, &registration), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, NULL), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_event_handle_alloc(index, NULL, stale, &registration), MPI_T_ERR_INVALID);
  index = event("comm_collective");
  CHECK_EQ(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_event_handle_alloc(index, &null_comm, MPI_INFO_NULL, &registration), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_event_handle_free(none, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_handle_set_info(none, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_handle_get_info(none, &info), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_callback_set_info(none, safe, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_callback_get_info(none, safe, &info), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_register_callback(none, safe, MPI_INFO_NULL, NULL, on_message),
           MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_set_dropped_handler(none, NULL), MPI_T_ERR_INVALID_HANDLE);
  /* Outside of its callback an instance is nothing. */
  CHECK_EQ(MPI_T_event_read(instance, 0, &count), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_copy(NULL, &count), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_get_timestamp(instance, &time), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_get_source(instance, &count), MPI_T_ERR_INVALID_HANDLE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  start_tool();
  messages();
  from_others();
  collective_operations();
  callbacks_that_change_others();
  hints_and_errors();
  T_OK(MPI_T_finalize());
  MPI_Finalize();
  return check_result();
}
