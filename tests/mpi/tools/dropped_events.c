/* More events than are kept until somebody fetches them: the rest is counted, and told before what follows.
 */
#include "tools.h"

enum { kSent = 3000 };
static int told, last_tag, told_before_drops;
static MPI_Count dropped;

static void on_message(MPI_T_event_instance instance, MPI_T_event_registration registration,
                       MPI_T_cb_safety safety, void* user_data) {
  int tag = -1;
  (void)registration;
  (void)safety;
  (void)user_data;
  T_OK(MPI_T_event_read(instance, 1, &tag));
  CHECK(tag > last_tag); /* in their order */
  last_tag = tag;
  ++told;
}

static void on_dropped(MPI_Count count, MPI_T_event_registration registration, int source,
                       MPI_T_cb_safety safety, void* user_data) {
  (void)registration;
  CHECK_EQ(safety, MPI_T_CB_REQUIRE_NONE);
  CHECK_EQ(source, 0);
  CHECK(user_data == &told);
  dropped += count;
  told_before_drops = told;
}

/* Of another registration, whose callback has data of its own. */
static int also_told;
static MPI_Count also_dropped;

static void on_same_message(MPI_T_event_instance instance, MPI_T_event_registration registration,
                            MPI_T_cb_safety safety, void* user_data) {
  (void)instance;
  (void)registration;
  (void)safety;
  ++*(int*)user_data;
}

static void on_also_dropped(MPI_Count count, MPI_T_event_registration registration, int source,
                            MPI_T_cb_safety safety, void* user_data) {
  (void)registration;
  (void)source;
  (void)safety;
  CHECK(user_data == &also_told);
  also_dropped += count;
}

/* One call of MPI that makes many messages: nobody can be told meanwhile. */
static void flood(void) {
  static MPI_Request requests[kSent];
  char byte = 0;
  for (int i = 0; i < kSent; ++i)
    CHECK_OK(MPI_Send_init(&byte, 1, MPI_CHAR, 0, i + 1, MPI_COMM_SELF, &requests[i]));
  CHECK_OK(MPI_Startall(kSent, requests));
  CHECK_OK(MPI_Waitall(kSent, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < kSent; ++i) {
    CHECK_OK(MPI_Recv(&byte, 1, MPI_CHAR, 0, i + 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&requests[i]));
  }
}

int main(int argc, char** argv) {
  MPI_T_event_registration registration, other;
  char byte = 0;
  MPI_Init(&argc, &argv);
  start_tool();
  T_OK(MPI_T_event_handle_alloc(event("unexpected_message"), NULL, MPI_INFO_NULL, &registration));
  T_OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &told, on_message));
  T_OK(MPI_T_event_set_dropped_handler(registration, on_dropped));
  T_OK(MPI_T_event_handle_alloc(event("unexpected_message"), NULL, MPI_INFO_NULL, &other));
  T_OK(MPI_T_event_register_callback(other, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &also_told,
                                     on_same_message));
  T_OK(MPI_T_event_set_dropped_handler(other, on_also_dropped));
  flood();
  CHECK_EQ(also_told, told);
  CHECK_EQ(also_dropped, dropped);
  T_OK(MPI_T_event_handle_free(other, NULL, NULL));
  CHECK(told > 0 && told < kSent);
  CHECK_EQ(told + dropped, kSent);
  CHECK_EQ(told_before_drops, told);
  CHECK_OK(MPI_Send(&byte, 1, MPI_CHAR, 0, kSent + 1, MPI_COMM_SELF));
  CHECK_OK(MPI_Recv(&byte, 1, MPI_CHAR, 0, kSent + 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK_EQ(last_tag, kSent + 1); /* it goes on afterwards */
  T_OK(MPI_T_event_set_dropped_handler(registration, NULL));
  last_tag = 0;
  dropped = 0;
  flood();
  CHECK_EQ(dropped, 0);
  T_OK(MPI_T_event_handle_free(registration, NULL, NULL));
  T_OK(MPI_T_finalize());
  MPI_Finalize();
  return check_result();
}
