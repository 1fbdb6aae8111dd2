/* What the scheduler counts and tells, while all ranks compute for longer than it lets them. */
#include <time.h>

#include "tools.h"

static int moves;

static void on_move(MPI_T_event_instance instance, MPI_T_event_registration registration,
                    MPI_T_cb_safety safety, void* user_data) {
  int worker = -1, source = -1;
  (void)registration;
  (void)safety;
  (void)user_data;
  T_OK(MPI_T_event_read(instance, 0, &worker));
  CHECK(worker >= 0);
  T_OK(MPI_T_event_get_source(instance, &source));
  CHECK_EQ(source, 1);
  ++moves;
}

static void watch(const char* name) {
  MPI_T_event_registration registration;
  T_OK(MPI_T_event_handle_alloc(event(name), NULL, MPI_INFO_NULL, &registration));
  T_OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, on_move));
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void compute(double seconds) {
  for (const double end = now() + seconds; now() < end;) {
  }
}

/* One value for each worker. */
static void per_worker(MPI_T_pvar_session session, const char* name, int class, int workers) {
  unsigned long long values[1024] = {0};
  MPI_T_pvar_handle handle;
  int count = -1, states[1024] = {0};
  T_OK(MPI_T_pvar_handle_alloc(session, meter(name, class), NULL, &handle, &count));
  CHECK_EQ(count, workers > 0 ? workers : 1);
  if (count > 1024) return;
  if (class == MPI_T_PVAR_CLASS_COUNTER) T_OK(MPI_T_pvar_start(session, handle));
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  if (class == MPI_T_PVAR_CLASS_STATE) {
    T_OK(MPI_T_pvar_read(session, handle, states));
    for (int i = 0; i < count; ++i) CHECK(states[i] == 0 || states[i] == 1);
    return;
  }
  T_OK(MPI_T_pvar_read(session, handle, values));
  for (int i = 0; i < count; ++i) CHECK(values[i] < 1ull << 40);
}

int main(int argc, char** argv) {
  int size = 0;
  MPI_T_pvar_session session;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  start_tool();
  T_OK(MPI_T_pvar_session_create(&session));
  MPI_T_pvar_handle taken = open_meter(session, "rank_taken", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle stuck = open_meter(session, "rank_stuck", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle worker_threads = open_meter(session, "worker_threads", MPI_T_PVAR_CLASS_LEVEL, NULL);
  const int workers =
      (int)read_meter(session, open_meter(session, "worker_count", MPI_T_PVAR_CLASS_SIZE, NULL));
  CHECK(read_meter(session, worker_threads) >= (unsigned)workers);
  watch("rank_taken");
  watch("rank_stuck");
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  moves = 0;
  long long all = 0;
  /* Where others have the machine, the scheduler may take notice later. */
  for (int round = 0; round < 1000 && (round == 0 || (workers > 0 && workers < size && all == 0)); ++round) {
    T_OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    compute(0.06);
    T_OK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
    const long long here = (long long)(read_meter(session, taken) + read_meter(session, stuck));
    CHECK_OK(MPI_Allreduce(&here, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
    CHECK(moves >= here); /* what was counted has been told by now */
  }
  if (workers > 0 && workers < size) CHECK(all > 0);
  if (workers == 0) CHECK_EQ(all, 0);
  per_worker(session, "worker_switches", MPI_T_PVAR_CLASS_COUNTER, workers);
  per_worker(session, "worker_steals", MPI_T_PVAR_CLASS_COUNTER, workers);
  per_worker(session, "worker_runnable", MPI_T_PVAR_CLASS_LEVEL, workers);
  per_worker(session, "worker_state", MPI_T_PVAR_CLASS_STATE, workers);
  T_OK(MPI_T_finalize());
  MPI_Finalize();
  return check_result();
}
