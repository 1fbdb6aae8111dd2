/* Non-blocking sends and receives, completed in every way that there is. */
#include "check.h"
#include "pattern.h"

static int rank, size;

static void all_to_all_waitall(int bytes, unsigned char* out, unsigned char* in) {
  MPI_Request requests[2 * 16];
  MPI_Status statuses[2 * 16];
  pattern_fill(out, bytes, rank);
  for (int peer = 0; peer < size; ++peer) {
    CHECK_OK(MPI_Irecv(in + (size_t)peer * bytes, bytes, MPI_BYTE, peer, 3, MPI_COMM_WORLD, &requests[peer]));
    CHECK_OK(MPI_Isend(out, bytes, MPI_BYTE, peer, 3, MPI_COMM_WORLD, &requests[size + peer]));
  }
  CHECK_OK(MPI_Waitall(2 * size, requests, statuses));
  for (int peer = 0; peer < size; ++peer) {
    int count;
    CHECK_EQ(pattern_differs(in + (size_t)peer * bytes, bytes, peer), -1);
    CHECK_EQ(statuses[peer].MPI_SOURCE, peer);
    MPI_Get_count(&statuses[peer], MPI_BYTE, &count);
    CHECK_EQ(count, bytes);
    CHECK_EQ(requests[peer], MPI_REQUEST_NULL);
    CHECK_EQ(requests[size + peer], MPI_REQUEST_NULL);
  }
}

/* Of several complete operations programs expect the first one, which the standard leaves open. */
static void the_first_of_several(void) {
  MPI_Request requests[3];
  int values[3], index = -1, flag = 0;
  for (int i = 0; i < 3; ++i) CHECK_OK(MPI_Irecv(&values[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]));
  for (int i = 0; i < 3; ++i) CHECK_OK(MPI_Send(&rank, 1, MPI_INT, 0, 2 - i, MPI_COMM_SELF));
  for (int i = 0; i < 2; ++i) {
    CHECK_OK(MPI_Testany(3, requests, &index, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 1);
    CHECK_EQ(index, i);
  }
  CHECK_OK(MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE));
  CHECK_EQ(index, 2);
}

enum Way { WAITANY, WAITSOME, TESTANY, TESTSOME, TESTALL, TEST_EACH, WAYS };

/* Receives from all peers, completed in one of the ways; every index must come exactly once. */
static void complete(enum Way way) {
  int values[16], seen[16] = {0}, left = size;
  MPI_Request requests[16], sends[16];
  for (int peer = 0; peer < size; ++peer)
    CHECK_OK(MPI_Irecv(&values[peer], 1, MPI_INT, peer, way, MPI_COMM_WORLD, &requests[peer]));
  const int mine = 1000 * rank + way;
  for (int peer = 0; peer < size; ++peer)
    CHECK_OK(MPI_Issend(&mine, 1, MPI_INT, peer, way, MPI_COMM_WORLD, &sends[peer]));
  while (left > 0) {
    int indices[16], count = 0, flag = 0;
    MPI_Status statuses[16];
    switch (way) {
      case WAITANY:
        CHECK_OK(MPI_Waitany(size, requests, indices, statuses));
        count = 1;
        break;
      case WAITSOME:
        CHECK_OK(MPI_Waitsome(size, requests, &count, indices, statuses));
        break;
      case TESTANY:
        CHECK_OK(MPI_Testany(size, requests, indices, &flag, statuses));
        count = flag;
        break;
      case TESTSOME:
        CHECK_OK(MPI_Testsome(size, requests, &count, indices, statuses));
        break;
      case TESTALL:
        CHECK_OK(MPI_Testall(size, requests, &flag, statuses));
        for (count = 0; flag && count < size; ++count) indices[count] = count;
        break;
      default:
        for (int i = 0; i < size; ++i) {
          if (seen[i]) continue;
          CHECK_OK(MPI_Test(&requests[i], &flag, &statuses[count]));
          if (flag) indices[count++] = i;
        }
    }
    for (int i = 0; i < count; ++i) {
      ++seen[indices[i]];
      CHECK_EQ(statuses[i].MPI_SOURCE, indices[i]);
      CHECK_EQ(values[indices[i]], 1000 * indices[i] + way);
      --left;
    }
    if (check_failures > 0) return;
  }
  for (int i = 0; i < size; ++i) CHECK_EQ(seen[i], 1);
  CHECK_OK(MPI_Waitall(size, sends, MPI_STATUSES_IGNORE));
}

static void nothing_to_wait_for(void) {
  MPI_Request null[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status;
  int index = 0, flag = 0, count = 0;
  CHECK_OK(MPI_Wait(&null[0], &status));
  CHECK_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
  CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
  CHECK_OK(MPI_Test(&null[0], &flag, MPI_STATUS_IGNORE));
  CHECK_EQ(flag, 1);
  CHECK_OK(MPI_Waitall(2, null, MPI_STATUSES_IGNORE));
  CHECK_OK(MPI_Waitany(2, null, &index, MPI_STATUS_IGNORE));
  CHECK_EQ(index, MPI_UNDEFINED);
  CHECK_OK(MPI_Testany(2, null, &index, &flag, MPI_STATUS_IGNORE));
  CHECK_EQ(index, MPI_UNDEFINED);
  CHECK_EQ(flag, 1);
  CHECK_OK(MPI_Waitsome(2, null, &count, &index, MPI_STATUSES_IGNORE));
  CHECK_EQ(count, MPI_UNDEFINED);
  CHECK_OK(MPI_Testsome(0, null, &count, &index, MPI_STATUSES_IGNORE));
  CHECK_EQ(count, MPI_UNDEFINED);
}

/* MPI_Request_free lets a send finish by itself; MPI_Request_get_status leaves the request alone. */
static void freed_and_peeked(void) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  static int big[100000], in[100000];
  MPI_Request send, receive;
  MPI_Status status;
  int flag = 0;
  for (int i = 0; i < 100000; ++i) big[i] = rank + i;
  CHECK_OK(MPI_Isend(big, 100000, MPI_INT, right, 9, MPI_COMM_WORLD, &send));
  CHECK_OK(MPI_Request_free(&send));
  CHECK_EQ(send, MPI_REQUEST_NULL);
  CHECK_OK(MPI_Irecv(in, 100000, MPI_INT, left, 9, MPI_COMM_WORLD, &receive));
  while (!flag) CHECK_OK(MPI_Request_get_status(receive, &flag, &status));
  CHECK(receive != MPI_REQUEST_NULL);
  CHECK_EQ(status.MPI_SOURCE, left);
  CHECK_OK(MPI_Wait(&receive, &status));
  for (int i = 0; i < 100000; ++i)
    if (in[i] != left + i) {
      CHECK_EQ(in[i], left + i);
      break;
    }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* A datatype may be freed while an operation uses it. */
static void type_freed_early(void) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  static int out[30000], in[30000];
  MPI_Datatype pairs;
  MPI_Request requests[2];
  for (int i = 0; i < 30000; ++i) out[i] = rank * 7 + i, in[i] = -1;
  MPI_Type_vector(10000, 2, 3, MPI_INT, &pairs);
  MPI_Type_commit(&pairs);
  CHECK_OK(MPI_Irecv(in, 1, pairs, left, 11, MPI_COMM_WORLD, &requests[0]));
  CHECK_OK(MPI_Isend(out, 1, pairs, right, 11, MPI_COMM_WORLD, &requests[1]));
  MPI_Type_free(&pairs);
  CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 29999; ++i)
    if (in[i] != (i % 3 < 2 ? left * 7 + i : -1)) {
      CHECK_EQ(in[i], i % 3 < 2 ? left * 7 + i : -1);
      break;
    }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  unsigned char *out = malloc(PATTERN_LARGEST), *in = malloc((size_t)100000 * 16);
  for (int i = 0; i < PATTERN_SIZES && pattern_sizes[i] <= 100000; ++i)
    all_to_all_waitall(pattern_sizes[i], out, in);
  for (int round = 0; round < 20; ++round)
    for (int way = 0; way < WAYS; ++way) complete(way);
  the_first_of_several();
  nothing_to_wait_for();
  freed_and_peeked();
  type_freed_early();
  free(out);
  free(in);
  MPI_Finalize();
  return check_result();
}
