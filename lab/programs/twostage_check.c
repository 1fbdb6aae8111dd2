/* Whether the five collectives give what they must, with libclump_twostage.so before the library or without
 * it: all roots, in place and not, a communicator in another order, and operations that do not commute. */
#include "lab.h"

static const struct LabOption kOptions[] = {{NULL, NULL, NULL, NULL, NULL}};
enum { kCount = 5 };

static void expect(int holds, const char* what) {
  if (!holds) lab_fail(what);
}

/* Composition of x -> a x + b: associative, and the order counts. */
static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const double* first = in;
  double* second = inout;
  for (int i = 0; i < 2 * *count; i += 2) {
    second[i + 1] += first[i + 1] * second[i];
    second[i] *= first[i];
  }
}

static void check_order(MPI_Comm comm, int rank, int size) {
  MPI_Op op;
  MPI_Datatype pair;
  MPI_Op_create(compose, 0, &op);
  MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
  MPI_Type_commit(&pair);
  double mine[2] = {1 + rank % 3, rank}, result[2], expected[2] = {1, 0};
  for (int i = 0; i < size; ++i) {
    expected[1] = i + (1 + i % 3) * expected[1];
    expected[0] *= 1 + i % 3;
  }
  MPI_Allreduce(mine, result, 1, pair, op, comm);
  expect(result[0] == expected[0] && result[1] == expected[1],
         "allreduce, an operation that does not commute");
  MPI_Type_free(&pair);
  MPI_Op_free(&op);
}

static void check_reductions(MPI_Comm comm, int rank, int size) {
  double send[kCount], receive[kCount];
  const double sum = 0.5 * size * (size - 1);
  for (int in_place = 0; in_place < 2; ++in_place) {
    for (int i = 0; i < kCount; ++i) send[i] = receive[i] = rank + i;
    MPI_Allreduce(in_place ? MPI_IN_PLACE : send, receive, kCount, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < kCount; ++i) expect(receive[i] == sum + (double)i * size, "allreduce");
    for (int root = 0; root < size; ++root) {
      for (int i = 0; i < kCount; ++i) receive[i] = rank == root && in_place ? rank + i : -7;
      MPI_Reduce(in_place && rank == root ? MPI_IN_PLACE : send, receive, kCount, MPI_DOUBLE, MPI_SUM, root,
                 comm);
      for (int i = 0; i < kCount; ++i)
        expect(receive[i] == (rank == root ? sum + (double)i * size : -7), "reduce");
    }
  }
  check_order(comm, rank, size);
}

static void check_data(MPI_Comm comm, int rank, int size) {
  int* all = lab_buffer(sizeof(int) * kCount * (size_t)size);
  for (int root = 0; root < size; ++root) {
    int data[kCount];
    for (int i = 0; i < kCount; ++i) data[i] = rank == root ? 100 * root + i : -1;
    MPI_Bcast(data, kCount, MPI_INT, root, comm);
    for (int i = 0; i < kCount; ++i) expect(data[i] == 100 * root + i, "bcast");
  }
  for (int in_place = 0; in_place < 2; ++in_place) {
    int mine[kCount];
    for (int i = 0; i < kCount * size; ++i) all[i] = -1;
    for (int i = 0; i < kCount; ++i) mine[i] = all[kCount * rank + i] = 10 * rank + i;
    if (!in_place) all[kCount * rank] = -1;
    MPI_Allgather(in_place ? MPI_IN_PLACE : mine, kCount, MPI_INT, all, kCount, MPI_INT, comm);
    for (int i = 0; i < kCount * size; ++i) expect(all[i] == 10 * (i / kCount) + i % kCount, "allgather");
  }
  MPI_Barrier(comm);
  free(all);
}

int main(int argc, char** argv) {
  lab_start(&argc, &argv, MPI_THREAD_SINGLE, "twostage_check: whether collectives give what they must",
            kOptions);
  MPI_Comm comms[3];
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, lab_size - lab_rank, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, lab_rank % 2, lab_rank, &comms[2]);
  for (int i = 0; i < 3; ++i) {
    int rank, size;
    MPI_Comm_rank(comms[i], &rank);
    MPI_Comm_size(comms[i], &size);
    check_reductions(comms[i], rank, size);
    check_data(comms[i], rank, size);
    MPI_Comm_free(&comms[i]);
  }
  if (lab_rank == 0) printf("{\"measure\": \"twostage_check\", \"ranks\": %d}\n", lab_size);
  MPI_Finalize();
  return 0;
}
