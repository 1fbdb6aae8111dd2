/* Wrong arguments of collectives, and ranks that disagree where that can be seen. After each error the
 * communicator is still good. */
#include "check.h"

static int rank, size;

static void test_arguments(void) {
  int in[64] = {0}, out[64] = {0};
  const int negative[64] = {-1};
  MPI_Datatype uncommitted;
  MPI_Op op = MPI_SUM;
  CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, size, MPI_COMM_WORLD), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, -1, MPI_COMM_WORLD), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, MPI_ROOT, MPI_COMM_WORLD), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Bcast(in, -1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, 0, MPI_COMM_NULL), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_INT, MPI_REPLACE, MPI_COMM_WORLD), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Allgatherv(in, 1, MPI_INT, out, negative, in, MPI_INT, MPI_COMM_WORLD), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Op_free(&op), MPI_ERR_OP);
  CHECK_CLASS(MPI_Reduce_local(in, out, 1, MPI_FLOAT, MPI_BXOR), MPI_ERR_OP);

  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  CHECK_CLASS(MPI_Bcast(in, 1, uncommitted, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, uncommitted, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_TYPE);
  MPI_Type_commit(&uncommitted);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, uncommitted, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP);
  MPI_Type_free(&uncommitted);

  MPI_Op_create((MPI_User_function*)test_arguments, 1, &op);
  const MPI_Op freed = op;
  MPI_Op_free(&op);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_INT, freed, MPI_COMM_WORLD), MPI_ERR_OP);
}

/* Data and result at one address: an error where both mean something and overlap, and only there. */
static void test_same_buffer(void) {
  int data[8] = {1, 2, 3, 4}, other[64], text_length = 0;
  const int counts[64] = {1};
  char text[MPI_MAX_ERROR_STRING];
  const MPI_Comm world = MPI_COMM_WORLD, self = MPI_COMM_SELF;
  const int code = MPI_Allreduce(data, data, 1, MPI_INT, MPI_SUM, world);
  CHECK_CLASS(code, MPI_ERR_BUFFER);
  MPI_Error_string(code, text, &text_length);
  CHECK(strstr(text, "sendbuf = recvbuf") != NULL && strstr(text, "MPI_IN_PLACE as sendbuf") != NULL);
  CHECK_CLASS(MPI_Allgather(data, 1, MPI_INT, data, 1, MPI_INT, world), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Alltoall(data, 1, MPI_INT, data, 1, MPI_INT, world), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Scan(data, data, 1, MPI_INT, MPI_SUM, world), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Reduce_scatter_block(data, data, 1, MPI_INT, MPI_SUM, world), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Reduce_scatter(data, data, counts, MPI_INT, MPI_SUM, self), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Reduce(data, data, 1, MPI_INT, MPI_SUM, 0, self), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Gather(data, 1, MPI_INT, data, 1, MPI_INT, 0, self), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Scatter(data, 1, MPI_INT, data, 1, MPI_INT, 0, self), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Reduce_local(data, data, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);

  /* Only the root has a result. */
  CHECK_OK(MPI_Reduce(data, rank == 0 ? other : data, 1, MPI_INT, MPI_SUM, 0, world));
  if (rank == 0) CHECK_EQ(other[0], size);
  CHECK_OK(MPI_Gather(data, 1, MPI_INT, rank == 0 ? other : data, 1, MPI_INT, 0, world));
  CHECK_OK(MPI_Exscan(data, rank == 0 ? data : other, 1, MPI_INT, MPI_SUM, world)); /* rank 0 has none */
  /* Nothing. */
  CHECK_OK(MPI_Allreduce(data, data, 0, MPI_INT, MPI_SUM, world));
  /* The same address, and apart. */
  MPI_Datatype shifted;
  const int place = 2;
  MPI_Type_create_indexed_block(1, 2, &place, MPI_INT, &shifted);
  MPI_Type_commit(&shifted);
  CHECK_OK(MPI_Allgather(data, 2, MPI_INT, data, 1, shifted, self));
  CHECK_EQ(data[2] * 10 + data[3], 12);
  MPI_Type_free(&shifted);
}

/* The root gives more, or less, than the others expect. */
static void test_disagreement(void) {
  int buffer[8] = {0}, text_length = 0;
  char text[MPI_MAX_ERROR_STRING];
  for (int root_count = 2; root_count <= 6; root_count += 4) {
    const int code = MPI_Bcast(buffer, rank == 0 ? root_count : 4, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0 || (rank > 1 && code == MPI_SUCCESS))
      continue; /* who hears from an inner rank of the tree sees nothing */
    CHECK_CLASS(code, MPI_ERR_TRUNCATE);
    MPI_Error_string(code, text, &text_length);
    CHECK(strstr(text, "16") != NULL);
    CHECK(strstr(text, "rank") != NULL);
  }
  if (size > 1 && rank == 1) {
    const int code = MPI_Bcast(buffer, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK_CLASS(code, MPI_ERR_TRUNCATE);
  } else {
    MPI_Bcast(buffer, 2, MPI_INT, 0, MPI_COMM_WORLD);
  }
  /* To oneself. */
  CHECK_CLASS(MPI_Allgather(buffer, 1, MPI_INT, buffer + 2, 2, MPI_INT, MPI_COMM_SELF), MPI_ERR_TRUNCATE);
}

enum { BLOCK = 40000, GUARD = 0x5a5a5a5a };
enum { GATHER, SCATTER, ALLGATHER, ALLTOALL, TWO_COUNTS };

/* `wide` ints in the buffer that has a block for each rank, and one in the other; of an alltoall one leaves.
 */
static int call_two_counts(int call, int wide, int* one, int* all, MPI_Request* request) {
  const MPI_Comm world = MPI_COMM_WORLD;
  switch (call + (request != NULL ? TWO_COUNTS : 0)) {
    case GATHER:
      return MPI_Gather(one, 1, MPI_INT, all, wide, MPI_INT, 0, world);
    case SCATTER:
      return MPI_Scatter(all, wide, MPI_INT, one, 1, MPI_INT, 0, world);
    case ALLGATHER:
      return MPI_Allgather(one, 1, MPI_INT, all, wide, MPI_INT, world);
    case ALLTOALL:
      return MPI_Alltoall(one, 1, MPI_INT, all, wide, MPI_INT, world);
    case TWO_COUNTS + GATHER:
      return MPI_Igather(one, 1, MPI_INT, all, wide, MPI_INT, 0, world, request);
    case TWO_COUNTS + SCATTER:
      return MPI_Iscatter(all, wide, MPI_INT, one, 1, MPI_INT, 0, world, request);
    case TWO_COUNTS + ALLGATHER:
      return MPI_Iallgather(one, 1, MPI_INT, all, wide, MPI_INT, world, request);
    default:
      return MPI_Ialltoall(one, 1, MPI_INT, all, wide, MPI_INT, world, request);
  }
}

/* A rank's own two counts differ, as where MPI_Gather is given the number of all elements as recvcount. It is
 * told, and no memory is written that no rank has named: neither what lies behind a buffer nor that of other
 * communicators. */
static void test_two_counts(void) {
  MPI_Comm others[8];
  MPI_Request request;
  int* const all = malloc((size_t)size * BLOCK * sizeof *all);
  int one[64 + 2];
  for (int i = 0; i < 8; ++i) CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &others[i]));
  for (int wide = 2; wide <= BLOCK; wide = wide == 2 ? 700 : wide == 700 ? BLOCK : BLOCK + 1)
    for (int call = 0; call < 2 * TWO_COUNTS; ++call) {
      const int kind = call % TWO_COUNTS;
      for (int i = 0; i < 64 + 2; ++i) one[i] = GUARD;
      for (size_t i = 0; i < (size_t)size * BLOCK; ++i) all[i] = GUARD;
      int code = call_two_counts(kind, wide, one, all, call < TWO_COUNTS ? NULL : &request);
      if (call >= TWO_COUNTS && code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
      /* A rank that only sends, or hears from an inner rank of a tree, may see nothing. */
      if (rank == 0 || (rank == 1 && kind != GATHER) || code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int text_length;
        CHECK_CLASS(code, MPI_ERR_TRUNCATE);
        MPI_Error_string(code, text, &text_length);
        CHECK(strstr(text, "rank") != NULL && strstr(text, "bytes") != NULL);
      }
      CHECK_EQ(one[kind == ALLTOALL ? size : 1], GUARD);
      for (size_t i = (size_t)size * (size_t)wide; i < (size_t)size * BLOCK; ++i)
        if (all[i] != GUARD) CHECK_FAILED("call %d of %d: element %zu is overwritten", call, wide, i);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  for (int i = 0; i < 8; ++i) {
    int sum = 0, mine = 1;
    CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, others[i]));
    CHECK_EQ(sum, size);
    MPI_Comm_free(&others[i]);
  }
  free(all);
}

/* The same where the root's blocks are far longer than any buffer between ranks. */
static void test_long_scatter(void) {
  enum { LONG = 4000000 };
  int* const all = rank == 0 ? calloc((size_t)size * LONG, sizeof *all) : NULL;
  int one = GUARD;
  const int code = MPI_Scatter(all, LONG, MPI_INT, &one, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank <= 1 || code != MPI_SUCCESS) CHECK_CLASS(code, MPI_ERR_TRUNCATE);
  free(all);
}

/* The forms that do not block find the same errors, at once, and then there is no request. */
static void test_forms(void) {
  int in[64] = {0}, out[64] = {0};
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_CLASS(MPI_Ibcast(in, 1, MPI_INT, size, MPI_COMM_WORLD, &request), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Ibcast(in, 1, MPI_INT, 0, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Bcast_init(in, -1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Iallreduce(in, out, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD, &request), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce_init(in, out, 1, MPI_INT, MPI_NO_OP, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
              MPI_ERR_OP);
  CHECK_CLASS(MPI_Ialltoall(in, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &request), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Scan_init(in, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
              MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Iscan(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Barrier_init(MPI_COMM_WORLD, (MPI_Info)12345678, &request), MPI_ERR_INFO);
  CHECK_CLASS(MPI_Ibarrier(MPI_COMM_NULL, &request), MPI_ERR_COMM);
  CHECK_EQ(request, MPI_REQUEST_NULL);
}

/* What a request of a collective in flight does not allow (MPI-5.0 sections 6.12 and 6.13). */
static void test_requests(void) {
  MPI_Request request, same;
  int flag;
  if (size == 1) return; /* no collective of one rank is ever in flight */
  CHECK_OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request));
  CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE)); /* inactive: complete */
  CHECK_EQ(flag, 1);
  CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
  for (int start = 0; start < 2; ++start) {
    if (rank == 0) {
      CHECK_OK(MPI_Start(&request));
      CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
      CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
      same = request;
      CHECK_CLASS(MPI_Request_free(&same), MPI_ERR_REQUEST);
      CHECK_EQ(same, request);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* until here rank 0 was alone */
    if (rank != 0) CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  CHECK_OK(MPI_Request_free(&request));
  CHECK_EQ(request, MPI_REQUEST_NULL);

  if (rank == 0) {
    CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    same = request;
    CHECK_CLASS(MPI_Request_free(&same), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
  }
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  if (rank != 0) CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* An error that is found on the way is the request's, and raised by the call that completes it. */
static void test_late_error(void) {
  int buffer[8] = {0}, index, flag = 0;
  MPI_Request request;
  MPI_Status status;
  if (size != 2) return;
  for (int how = 0; how < 3; ++how) {
    CHECK_OK(MPI_Ibcast(buffer, rank == 0 ? 2 : 4, MPI_INT, 0, MPI_COMM_WORLD, &request));
    const int expected = rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
    if (how == 0) CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), expected);
    if (how == 1) CHECK_CLASS(MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE), expected);
    if (how == 2) {
      int code = MPI_SUCCESS;
      while (!flag && code == MPI_SUCCESS) code = MPI_Testall(1, &request, &flag, &status);
      CHECK_CLASS(code, rank == 0 ? MPI_SUCCESS : MPI_ERR_IN_STATUS);
    }
    CHECK_EQ(request, MPI_REQUEST_NULL);
  }
}

static void test_still_good(void) {
  int sum = 0, mine = rank + 1;
  CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(sum, size * (size + 1) / 2);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  test_arguments();
  test_same_buffer();
  test_still_good();
  test_disagreement();
  test_still_good();
  test_two_counts();
  test_long_scatter();
  test_still_good();
  test_forms();
  test_requests();
  test_late_error();
  test_still_good();
  MPI_Finalize();
  return check_result();
}
