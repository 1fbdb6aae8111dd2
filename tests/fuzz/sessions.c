/* Part sessions: a program without MPI_Init. Each step has a session of its own, from its beginning to its
   end, in which ranks make a communicator, use types that MPI makes when they are asked for, and reduce with
   a function of theirs, begun by a second thread while the first sleeps. */
#include "fuzz.h"

enum { kTypes, kIndexTypes, kReduction, kMessages, kKinds };
static const char* const kNames[] = {"types of Fortran", "types of values with an index",
                                     "a reduction that a second thread begins", "messages"};
static MPI_Comm comm, other;

static void fortran_types(Random* random) {
  MPI_Datatype real, complex, integer;
  int size = 0;
  double x = fuzz.rank, sum = -1;
  MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real);
  MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &complex);
  MPI_Type_create_f90_integer(between(random, 1, 18), &integer);
  MPI_Type_size(real, &size);
  CHECK(size == 8, "a real of 15 digits has %d bytes", size);
  MPI_Type_size(complex, &size);
  CHECK(size == 16, "a complex of 15 digits has %d bytes", size);
  MPI_Type_size(integer, &size);
  CHECK(size >= 1 && size <= 16, "an integer has %d bytes", size);
  MPI_Allreduce(&x, &sum, 1, real, MPI_SUM, comm);
  CHECK(sum == fuzz.size * (fuzz.size - 1) / 2.0, "the sum of reals is %g", sum);
}
static void index_types(void) {
  MPI_Datatype pair;
  struct {
    double value;
    int64_t at;
  } mine = {fuzz.rank % 3, fuzz.rank}, best = {-1, -1};
  MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT64_T, &pair);
  if (pair == MPI_DATATYPE_NULL) return;
  MPI_Allreduce(&mine, &best, 1, pair, MPI_MAXLOC, comm);
  const int wanted = fuzz.size > 2 ? 2 : fuzz.size - 1;
  CHECK(best.value == wanted && best.at == wanted, "the greatest value is %g at %ld, not %d", best.value,
        (long)best.at, wanted);
}

static struct {
  MPI_Request request;
  int in, out;
} reduction;
static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; i++) ((int*)inout)[i] += ((int*)in)[i];
}
static void begin_reduction(void) {
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  reduction.in = fuzz.rank + 1;
  MPI_Iallreduce(&reduction.in, &reduction.out, 1, MPI_INT, op, other, &reduction.request);
  MPI_Op_free(&op);
}
static void end_reduction(void) {
  MPI_Wait(&reduction.request, MPI_STATUS_IGNORE);
  CHECK(reduction.out == fuzz.size * (fuzz.size + 1) / 2, "the reduction gives %d", reduction.out);
}
static void reduces(int thread, void* data) {
  (void)data;
  if (thread == 0) {
    for (int i = 1; i < fuzz.size; i++) MPI_Recv(NULL, 0, MPI_CHAR, i, 2, comm, MPI_STATUS_IGNORE);
    return;
  }
  usleep(3000); /* so that the first thread sleeps */
  begin_reduction();
  for (int i = 1; i < fuzz.size; i++) MPI_Send(NULL, 0, MPI_CHAR, i, 1, other);
}
static void reduce_beside(void) {
  if (fuzz.threads < 2) return;
  if (fuzz.rank == 0) {
    in_threads(2, reduces, NULL);
    end_reduction();
    return;
  }
  MPI_Recv(NULL, 0, MPI_CHAR, 0, 1, other, MPI_STATUS_IGNORE);
  usleep(5000); /* so that the second thread of rank 0 has ended */
  begin_reduction();
  end_reduction();
  MPI_Send(NULL, 0, MPI_CHAR, 0, 2, comm);
}

static void messages(Random* random) {
  static int out[20000], in[20000];
  const int count = between(random, 0, 20000), to = (fuzz.rank + 1) % fuzz.size,
            from = (fuzz.rank + fuzz.size - 1) % fuzz.size;
  for (int i = 0; i < count; i++) out[i] = fuzz.rank * 100000 + i;
  MPI_Sendrecv(out, count, MPI_INT, to, 3, in, count, MPI_INT, from, 3, comm, MPI_STATUS_IGNORE);
  for (int i = 0; i < count; i++) CHECK(in[i] == from * 100000 + i, "number %d of a message is %d", i, in[i]);
}

static MPI_Session session;
static void begin_session(void) {
  MPI_Group group;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
  MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Info_free(&info);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "fuzz", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_dup(comm, &other);
  MPI_Comm_rank(comm, &fuzz.rank);
  MPI_Comm_size(comm, &fuzz.size);
  MPI_Group_free(&group);
}
static void end_session(void) {
  MPI_Comm_free(&other);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

static void plan(int steps) {
  for (int i = 0; i < steps; i++) {
    Random random = plan_of(i, 0);
    const int kind = below(&random, kKinds);
    if (!step_begins(i) || left_out(kind)) continue;
    begin_session();
    note("%s", kNames[kind]);
    if (kind == kTypes) fortran_types(&random);
    if (kind == kIndexTypes) index_types();
    if (kind == kReduction) reduce_beside();
    if (kind == kMessages) messages(&random);
    end_session();
  }
}

int main(int argc, char** argv) {
  fuzz.part = "sessions";
  fuzz.argc = argc;
  fuzz.argv = argv;
  fuzz.world = MPI_COMM_NULL;
  read_options();
  begin_session(); /* for the rank */
  end_session();
  run_seeds(8, plan);
  return 0;
}
