/* A thread of the rank watches while the main thread communicates. */
#include "../../own_core.h"

#include <pthread.h>
#include <stdatomic.h>

#include "tools.h"

enum { kRounds = 10, kMessages = 500 }; /* of a round: no more than are kept until they are told */
static atomic_int over, told, wrong;

static void on_message(MPI_T_event_instance instance, MPI_T_event_registration registration,
                       MPI_T_cb_safety safety, void* user_data) {
  int tag = -1;
  (void)registration;
  (void)safety;
  (void)user_data;
  if (MPI_T_event_read(instance, 1, &tag) != MPI_SUCCESS || tag != 4) atomic_fetch_add(&wrong, 1);
  atomic_fetch_add(&told, 1);
}

static void* watch(void* unused) {
  MPI_T_pvar_session session;
  MPI_T_pvar_handle queue, mark, counter;
  unsigned long long value = 0, last = 0;
  int count, failures = 0;
  (void)unused;
  failures += MPI_T_pvar_session_create(&session) != MPI_SUCCESS;
  failures += MPI_T_pvar_handle_alloc(session, meter("unexpected_messages", MPI_T_PVAR_CLASS_LEVEL), NULL,
                                      &queue, &count) != MPI_SUCCESS;
  failures += MPI_T_pvar_handle_alloc(session, meter("messages_sent_direct", MPI_T_PVAR_CLASS_COUNTER), NULL,
                                      &counter, &count) != MPI_SUCCESS;
  failures += MPI_T_pvar_start(session, counter) != MPI_SUCCESS;
  while (!atomic_load(&over)) {
    failures +=
        MPI_T_pvar_handle_alloc(session, meter("most_unexpected_messages", MPI_T_PVAR_CLASS_HIGHWATERMARK),
                                NULL, &mark, &count) != MPI_SUCCESS;
    failures += MPI_T_pvar_start(session, mark) != MPI_SUCCESS;
    failures += MPI_T_pvar_read(session, counter, &value) != MPI_SUCCESS;
    failures += value < last; /* counters only rise */
    last = value;
    failures += MPI_T_pvar_read(session, queue, &value) != MPI_SUCCESS;
    failures += value > 64;
    failures += MPI_T_pvar_read(session, mark, &value) != MPI_SUCCESS;
    failures += value > 64;
    failures += MPI_T_pvar_handle_free(session, &mark) != MPI_SUCCESS;
  }
  failures += MPI_T_pvar_session_free(&session) != MPI_SUCCESS;
  atomic_fetch_add(&wrong, failures);
  return NULL;
}

/* What a thread has made is not freed by the end of another one's use, even if that was the last for a
 * moment. */
static void* use_for_a_moment(void* number) {
  int failures = 0, provided, count;
  unsigned long long value = 0;
  MPI_T_pvar_session session;
  MPI_T_pvar_handle queue;
  take_core(*(int*)number % 2);
  for (int i = 0; i < 20000; ++i) {
    failures += MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS;
    failures += MPI_T_pvar_session_create(&session) != MPI_SUCCESS;
    failures += MPI_T_pvar_handle_alloc(session, meter("unexpected_messages", MPI_T_PVAR_CLASS_LEVEL), NULL,
                                        &queue, &count) != MPI_SUCCESS;
    failures += MPI_T_pvar_read(session, queue, &value) != MPI_SUCCESS;
    failures += MPI_T_pvar_session_free(&session) != MPI_SUCCESS;
    failures += MPI_T_finalize() != MPI_SUCCESS;
  }
  atomic_fetch_add(&wrong, failures);
  return NULL;
}

static void begun_and_ended(void) {
  enum { kThreads = 4 };
  pthread_t threads[kThreads];
  int numbers[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    numbers[i] = i;
    pthread_create(&threads[i], NULL, use_for_a_moment, &numbers[i]);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
}

int main(int argc, char** argv) {
  int provided, rank;
  char byte = 0;
  pthread_t thread;
  MPI_T_event_registration registration;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  begun_and_ended();
  start_tool();
  T_OK(MPI_T_event_handle_alloc(event("unexpected_message"), NULL, MPI_INFO_NULL, &registration));
  T_OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, on_message));
  CHECK_EQ(pthread_create(&thread, NULL, watch, NULL), 0);
  for (int round = 1; round <= kRounds; ++round) {
    for (int i = 0; i < kMessages; ++i) {
      CHECK_OK(MPI_Send(&byte, 1, MPI_CHAR, 0, 4, MPI_COMM_SELF));
      CHECK_OK(MPI_Recv(&byte, 1, MPI_CHAR, 0, 4, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    }
    /* Either thread tells them; each is told once. */
    for (int flag; atomic_load(&told) < round * kMessages;)
      CHECK_OK(MPI_Iprobe(0, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
  }
  T_OK(MPI_T_event_handle_free(registration, NULL, NULL));
  CHECK_EQ(atomic_load(&told), kRounds * kMessages);
  atomic_store(&over, 1);
  pthread_join(thread, NULL);
  CHECK_EQ(atomic_load(&wrong), 0);
  T_OK(MPI_T_finalize());
  MPI_Finalize();
  return check_result();
}
