/* Prints how many messages, and bytes, each collective operation of little data sends to other hosts: what
 * all ranks have counted. */
#include <mpi.h>
#include <stdio.h>

enum { kMost = 64 };
static int in[kMost], out[kMost];

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void broadcast(void) { MPI_Bcast(in, 1, MPI_INT, 0, MPI_COMM_WORLD); }
static void reduce(void) { MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); }
static void allreduce(void) { MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }
static void gather(void) { MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 0, MPI_COMM_WORLD); }
static void scatter(void) { MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, 0, MPI_COMM_WORLD); }
static void allgather(void) { MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD); }
static void alltoall(void) { MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD); }

static const struct {
  const char* name;
  void (*run)(void);
} operations[] = {{"barrier", barrier},     {"broadcast", broadcast}, {"reduce", reduce},
                  {"allreduce", allreduce}, {"gather", gather},       {"scatter", scatter},
                  {"allgather", allgather}, {"alltoall", alltoall}};

static MPI_T_pvar_handle start(MPI_T_pvar_session session, const char* name, int class) {
  int index = -1, count = -1;
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  if (MPI_T_pvar_get_index(name, class, &index) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
  MPI_T_pvar_start(session, handle);
  return handle;
}

int main(int argc, char** argv) {
  int provided, rank;
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_T_pvar_session session;
  MPI_T_pvar_session_create(&session);
  const MPI_T_pvar_handle meters[] = {start(session, "messages_sent_by_ofi", MPI_T_PVAR_CLASS_COUNTER),
                                      start(session, "bytes_sent_by_ofi", MPI_T_PVAR_CLASS_AGGREGATE)};
  for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i) {
    unsigned long long counted[2], sums[2];
    for (int m = 0; m < 2; ++m) MPI_T_pvar_reset(session, meters[m]);
    operations[i].run();
    for (int m = 0; m < 2; ++m) MPI_T_pvar_read(session, meters[m], &counted[m]);
    MPI_Reduce(counted, sums, 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s %llu %llu\n", operations[i].name, sums[0], sums[1]);
  }
  MPI_T_pvar_session_free(&session);
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
