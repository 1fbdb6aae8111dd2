/* MPI_Comm_idup and MPI_Comm_idup_with_info: what is copied when, and that a copy can be used once its
   request is complete (MPI-5.0 section 7.4.2). */
#include "check.h"

static int size, rank;

/* Everyone's number arrives from the left. */
static void talk(MPI_Comm comm) {
  int n = -1, me = -1, in = -1;
  CHECK_OK(MPI_Comm_size(comm, &n));
  CHECK_OK(MPI_Comm_rank(comm, &me));
  CHECK_OK(MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 0, &in, 1, MPI_INT, (me + n - 1) % n, 0, comm,
                        MPI_STATUS_IGNORE));
  CHECK_EQ(in, (me + n - 1) % n);
}

static void in_flight_together(void) {
  enum { kCopies = 5 };
  MPI_Comm copies[kCopies];
  MPI_Request requests[kCopies + 1];
  int sum = -1, result = -1;
  for (int i = 0; i < kCopies; ++i) CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &copies[i], &requests[i]));
  CHECK_OK(MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[kCopies]));
  talk(MPI_COMM_WORLD);
  CHECK_OK(MPI_Waitall(kCopies + 1, requests, MPI_STATUSES_IGNORE));
  CHECK_EQ(sum, size * (size - 1) / 2);
  /* Messages of the copies stay apart. */
  int out[kCopies], in[kCopies];
  MPI_Request messages[2 * kCopies];
  for (int i = 0; i < kCopies; ++i) {
    out[i] = 10 * rank + i;
    CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, (rank + 1) % size, 0, copies[i], &messages[i]));
  }
  for (int i = kCopies; i-- > 0;)
    CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, 0, copies[i], &messages[kCopies + i]));
  CHECK_OK(MPI_Waitall(2 * kCopies, messages, MPI_STATUSES_IGNORE));
  for (int i = 0; i < kCopies; ++i) {
    CHECK_EQ(in[i], 10 * ((rank + size - 1) % size) + i);
    CHECK_OK(MPI_Comm_compare(copies[i], MPI_COMM_WORLD, &result));
    CHECK_EQ(result, MPI_CONGRUENT);
    CHECK_OK(MPI_Comm_free(&copies[i]));
  }
}

static int copy_calls, copy_result, delete_calls;

static int on_copy(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)keyval, (void)extra;
  ++copy_calls;
  *(void**)out = (char*)in + 1;
  *flag = 1;
  return copy_result;
}

static int on_delete(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  ++delete_calls;
  return MPI_SUCCESS;
}

/* Attributes are copied by the call itself: what happens to the original before completion does not matter.
 */
static void attributes(void) {
  static char place[4];
  int key = MPI_KEYVAL_INVALID, flag = 0;
  char* value = NULL;
  MPI_Comm original, copy;
  MPI_Request request;
  MPI_Errhandler handler;
  CHECK_OK(MPI_Comm_create_keyval(on_copy, on_delete, &key, NULL));
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &original));
  CHECK_OK(MPI_Comm_set_attr(original, key, place));
  CHECK_OK(MPI_Comm_set_name(original, "original"));
  copy_calls = delete_calls = 0;
  CHECK_OK(MPI_Comm_idup(original, &copy, &request));
  CHECK_EQ(copy_calls, 1);
  CHECK_OK(MPI_Comm_set_attr(original, key, place + 2)); /* deletes the old value */
  CHECK_OK(MPI_Comm_set_errhandler(original, MPI_ERRORS_ARE_FATAL));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(delete_calls, 1);
  CHECK_OK(MPI_Comm_get_attr(copy, key, &value, &flag));
  CHECK(flag && value == place + 1);
  CHECK_OK(MPI_Comm_get_errhandler(copy, &handler));
  CHECK(handler == MPI_ERRORS_RETURN);
  talk(copy);
  CHECK_OK(MPI_Comm_free(&copy));
  CHECK_EQ(delete_calls, 2);

  /* A copy function that fails at all ranks. */
  CHECK_OK(MPI_Comm_set_errhandler(original, MPI_ERRORS_RETURN));
  copy_result = MPI_ERR_OTHER;
  copy = MPI_COMM_SELF;
  CHECK_CLASS(MPI_Comm_idup(original, &copy, &request), MPI_ERR_OTHER);
  CHECK(copy == MPI_COMM_NULL);
  copy = MPI_COMM_SELF;
  CHECK_CLASS(MPI_Comm_dup(original, &copy), MPI_ERR_OTHER);
  CHECK(copy == MPI_COMM_NULL);
  copy_result = MPI_SUCCESS;
  talk(original);
  CHECK_OK(MPI_Comm_free(&original));
  CHECK_EQ(delete_calls, 3);
  CHECK_OK(MPI_Comm_free_keyval(&key));
}

static void hints(void) {
  MPI_Info info, used;
  MPI_Comm copy, plain;
  MPI_Request requests[2];
  char value[16] = "";
  int length = sizeof value, flag = 0;
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "mpi_assert_exact_length", "true"));
  CHECK_OK(MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &copy, &requests[0]));
  CHECK_OK(MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &plain, &requests[1]));
  CHECK_OK(MPI_Info_free(&info));
  CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  CHECK_OK(MPI_Comm_get_info(copy, &used));
  CHECK_OK(MPI_Info_get_string(used, "mpi_assert_exact_length", &length, value, &flag));
  CHECK(flag);
  CHECK_STR(value, "true");
  CHECK_OK(MPI_Info_free(&used));
  CHECK_OK(MPI_Comm_get_info(plain, &used));
  CHECK_OK(MPI_Info_get_string(used, "mpi_assert_exact_length", &length, value, &flag));
  CHECK(!flag);
  CHECK_OK(MPI_Info_free(&used));
  CHECK_OK(MPI_Comm_free(&copy));
  CHECK_OK(MPI_Comm_free(&plain));
}

/* Of an intercommunicator, and of a grid, whose topology goes along. */
static void of_other_kinds(void) {
  MPI_Comm grid, copy, half, inter;
  MPI_Request request;
  int periodic = 1, status = MPI_UNDEFINED, left = -1, right = -1, sum = -1, half_size = -1;
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &grid));
  CHECK_OK(MPI_Comm_idup(grid, &copy, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Topo_test(copy, &status));
  CHECK_EQ(status, MPI_CART);
  CHECK_OK(MPI_Cart_shift(copy, 0, 1, &left, &right));
  CHECK_EQ(right, (rank + 1) % size);
  CHECK_OK(MPI_Comm_free(&copy));
  CHECK_OK(MPI_Comm_free(&grid));
  if (size < 2) return;

  const int lower = rank < (size + 1) / 2;
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, lower, rank, &half));
  CHECK_OK(MPI_Comm_size(half, &half_size));
  CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, lower ? (size + 1) / 2 : 0, 0, &inter));
  CHECK_OK(MPI_Comm_idup(inter, &copy, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  const int one = 1;
  CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy));
  CHECK_EQ(sum, size - half_size);
  MPI_Comm merged; /* needs the copy's local communicator, too */
  CHECK_OK(MPI_Intercomm_merge(copy, lower, &merged));
  talk(merged);
  CHECK_OK(MPI_Comm_free(&merged));
  CHECK_OK(MPI_Comm_free(&copy));
  CHECK_OK(MPI_Comm_free(&inter));
  CHECK_OK(MPI_Comm_free(&half));
}

static void errors(void) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_CLASS(MPI_Comm_idup(MPI_COMM_NULL, &copy, &request), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_idup(MPI_COMM_WORLD, NULL, &request), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_idup(MPI_COMM_WORLD, &copy, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_idup_with_info(MPI_COMM_NULL, MPI_INFO_NULL, &copy, &request), MPI_ERR_COMM);
  CHECK(copy == MPI_COMM_NULL);
  CHECK(request == MPI_REQUEST_NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  in_flight_together();
  attributes();
  hints();
  of_other_kinds();
  errors();
  MPI_Finalize();
  return check_result();
}
