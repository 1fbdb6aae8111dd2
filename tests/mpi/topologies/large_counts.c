/* Neighbourhood collectives with large counts, in their three forms, on a ring: arrays are read as the wider
 * numbers that they hold. Other topologies: neighbours.c. */
#include "collectives/forms.h"

enum { kLower, kUpper, kNeighbours };
static MPI_Comm ring;
static int rank, size, lower, upper;

/* What a rank sends to its lower or upper neighbour; what is in `in` was sent up by the lower one, down by
 * the upper one. */
static int value(int from, int side) { return from * 10 + side; }

static void check_block(const int* block, int length, int expected) {
  for (int i = 0; i < length; ++i) CHECK_EQ(block[i], expected);
}

static void test_allgather(void) {
  const int mine[2] = {value(rank, 5), value(rank, 5)};
  int in[4] = {-1, -1, -1, -1};
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  if (form == kBlocking) code = MPI_Neighbor_allgather_c(mine, 2, MPI_INT, in, 2, MPI_INT, ring);
  if (form == kNonblocking)
    code = MPI_Ineighbor_allgather_c(mine, 2, MPI_INT, in, 2, MPI_INT, ring, &request);
  if (form == kPersistent)
    code = MPI_Neighbor_allgather_init_c(mine, 2, MPI_INT, in, 2, MPI_INT, ring, MPI_INFO_NULL, &request);
  CHECK_OK(form == kBlocking ? code : form_complete(code, &request, 0));
  check_block(in, 2, value(lower, 5));
  check_block(in + 2, 2, value(upper, 5));
}

static void test_allgatherv(void) {
  const int mine[2] = {value(rank, 6), value(rank, 6)};
  const MPI_Count counts[kNeighbours] = {2, 2};
  const MPI_Aint displs[kNeighbours] = {3, 0};
  int in[5] = {-1, -1, -1, -1, -1};
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  if (form == kBlocking)
    code = MPI_Neighbor_allgatherv_c(mine, 2, MPI_INT, in, counts, displs, MPI_INT, ring);
  if (form == kNonblocking)
    code = MPI_Ineighbor_allgatherv_c(mine, 2, MPI_INT, in, counts, displs, MPI_INT, ring, &request);
  if (form == kPersistent)
    code = MPI_Neighbor_allgatherv_init_c(mine, 2, MPI_INT, in, counts, displs, MPI_INT, ring, MPI_INFO_NULL,
                                          &request);
  CHECK_OK(form == kBlocking ? code : form_complete(code, &request, 0));
  check_block(in + 3, 2, value(lower, 6));
  check_block(in, 2, value(upper, 6));
  CHECK_EQ(in[2], -1);
}

static void test_alltoall(void) {
  const int out[kNeighbours] = {value(rank, kLower), value(rank, kUpper)};
  int in[kNeighbours] = {-1, -1};
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  if (form == kBlocking) code = MPI_Neighbor_alltoall_c(out, 1, MPI_INT, in, 1, MPI_INT, ring);
  if (form == kNonblocking) code = MPI_Ineighbor_alltoall_c(out, 1, MPI_INT, in, 1, MPI_INT, ring, &request);
  if (form == kPersistent)
    code = MPI_Neighbor_alltoall_init_c(out, 1, MPI_INT, in, 1, MPI_INT, ring, MPI_INFO_NULL, &request);
  CHECK_OK(form == kBlocking ? code : form_complete(code, &request, 0));
  CHECK_EQ(in[kLower], value(lower, kUpper));
  CHECK_EQ(in[kUpper], value(upper, kLower));
}

static void test_alltoallv(void) {
  const int out[5] = {value(rank, kUpper), value(rank, kUpper), -2, value(rank, kLower), -2};
  const MPI_Count out_counts[kNeighbours] = {1, 2}, in_counts[kNeighbours] = {2, 1};
  const MPI_Aint out_displs[kNeighbours] = {3, 0}, in_displs[kNeighbours] = {2, 0};
  int in[4] = {-1, -1, -1, -1};
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  if (form == kBlocking)
    code = MPI_Neighbor_alltoallv_c(out, out_counts, out_displs, MPI_INT, in, in_counts, in_displs, MPI_INT,
                                    ring);
  if (form == kNonblocking)
    code = MPI_Ineighbor_alltoallv_c(out, out_counts, out_displs, MPI_INT, in, in_counts, in_displs, MPI_INT,
                                     ring, &request);
  if (form == kPersistent)
    code = MPI_Neighbor_alltoallv_init_c(out, out_counts, out_displs, MPI_INT, in, in_counts, in_displs,
                                         MPI_INT, ring, MPI_INFO_NULL, &request);
  CHECK_OK(form == kBlocking ? code : form_complete(code, &request, 0));
  check_block(in + 2, 2, value(lower, kUpper));
  CHECK_EQ(in[0], value(upper, kLower));
  CHECK_EQ(in[1], -1);
}

static void test_errors(void) {
  const MPI_Count negative[kNeighbours] = {1, -((MPI_Count)1 << 33)};
  const MPI_Aint displs[kNeighbours] = {0, 1};
  int data[kNeighbours] = {0, 0}, in[kNeighbours], text_length = 0;
  char text[MPI_MAX_ERROR_STRING];
  const int code = MPI_Neighbor_allgatherv_c(data, 1, MPI_INT, in, negative, displs, MPI_INT, ring);
  CHECK_CLASS(code, MPI_ERR_COUNT);
  MPI_Error_string(code, text, &text_length);
  CHECK(strstr(text, "recvcounts[1] = -8589934592") != NULL);
  CHECK_CLASS(MPI_Neighbor_alltoall_c(data, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_SELF), MPI_ERR_TOPOLOGY);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int periodic = 1;
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring));
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  MPI_Comm_rank(ring, &rank);
  CHECK_OK(MPI_Cart_shift(ring, 0, 1, &lower, &upper));
  for (form = 0; form < kForms; ++form) {
    test_allgather();
    test_allgatherv();
    test_alltoall();
    test_alltoallv();
  }
  test_errors();
  CHECK_OK(MPI_Comm_free(&ring));
  MPI_Finalize();
  return check_result();
}
