/* A reduction function gets a handle of the datatype, although the program has freed the type since the
   operation began (MPI-5.0 section 5.1.9): as long as the program has the handle the same one, and otherwise
   one that names the same type. */
#include "check.h"

enum { kCount = 10 };
static int rank, size, calls, wrong_handles;
static MPI_Datatype kept; /* the program's, while it has it */

static void add_pairs(void* in, void* inout, int* length, MPI_Datatype* type) {
  int bytes = 0, integers = 0, addresses = 0, types = 0, combiner = 0;
  ++calls;
  if (MPI_Type_size(*type, &bytes) != MPI_SUCCESS || bytes != 2 * (int)sizeof(int) ||
      MPI_Type_get_envelope(*type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS ||
      combiner != MPI_COMBINER_CONTIGUOUS || (kept != MPI_DATATYPE_NULL && *type != kept))
    ++wrong_handles;
  for (int i = 0; i < 2 * *length; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static MPI_Datatype pair_type(void) {
  MPI_Datatype type;
  CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &type));
  CHECK_OK(MPI_Type_commit(&type));
  return type;
}

/* The number of a freed handle may be given to another type. */
static void reuse_handle(void) {
  MPI_Datatype other;
  CHECK_OK(MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &other));
  CHECK_OK(MPI_Type_free(&other));
}

static void check_sums(const int* results, int first, int count) {
  for (int i = 0; i < count; ++i) CHECK_EQ(results[i], size * (first + i) + size * (size - 1) / 2);
}

static void nonblocking(int frees) {
  int values[2 * kCount], results[2 * kCount] = {0};
  MPI_Datatype type = pair_type();
  MPI_Op op;
  MPI_Request request;
  for (int i = 0; i < 2 * kCount; ++i) values[i] = i + rank;
  CHECK_OK(MPI_Op_create(add_pairs, 1, &op));
  kept = frees ? MPI_DATATYPE_NULL : type;
  CHECK_OK(MPI_Iallreduce(values, results, kCount, type, op, MPI_COMM_WORLD, &request));
  CHECK_OK(MPI_Op_free(&op));
  if (frees) {
    CHECK_OK(MPI_Type_free(&type));
    reuse_handle();
  }
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  check_sums(results, 0, 2 * kCount);
  if (!frees) CHECK_OK(MPI_Type_free(&type));
}

static void persistent(void) {
  int values[2 * kCount], results[2 * kCount];
  MPI_Datatype type = pair_type();
  MPI_Op op;
  MPI_Request request;
  for (int i = 0; i < 2 * kCount; ++i) values[i] = i + rank;
  CHECK_OK(MPI_Op_create(add_pairs, 0, &op));
  CHECK_OK(MPI_Allreduce_init(values, results, kCount, type, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
  CHECK_OK(MPI_Op_free(&op));
  kept = type;
  for (int round = 0; round < 3; ++round) {
    memset(results, 0, sizeof results);
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_sums(results, 0, 2 * kCount);
    if (round != 0) continue;
    CHECK_OK(MPI_Type_free(&type));
    kept = MPI_DATATYPE_NULL;
    reuse_handle();
  }
  CHECK_OK(MPI_Request_free(&request));
}

/* Its own handle is freed by the function. */
static void free_type(void* in, void* inout, int* length, MPI_Datatype* type) {
  int bytes = 0;
  const MPI_Datatype same = *type;
  (void)in, (void)inout, (void)length;
  ++calls;
  if (kept != MPI_DATATYPE_NULL) {
    if (MPI_Type_free(&kept) != MPI_SUCCESS) ++wrong_handles;
  }
  if (MPI_Type_size(same, &bytes) != MPI_SUCCESS) ++wrong_handles;
}

static void freed_inside(void) {
  int in[2] = {0}, out[2] = {0};
  MPI_Op op;
  kept = pair_type();
  CHECK_OK(MPI_Op_create(free_type, 1, &op));
  const MPI_Datatype type = kept;
  CHECK_OK(MPI_Reduce_local(in, out, 1, type, op));
  int bytes;
  CHECK_CLASS(MPI_Type_size(type, &bytes), MPI_ERR_TYPE);
  CHECK_OK(MPI_Op_free(&op));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  nonblocking(0);
  nonblocking(1);
  persistent();
  freed_inside();
  CHECK_EQ(wrong_handles, 0);
  CHECK(calls > 0);
  MPI_Finalize();
  return check_result();
}
