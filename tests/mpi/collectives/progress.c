/* Non-blocking collectives move on by themselves (MPI-5.0 sections 3.5 and 6.12): while ranks compute, wait
   for something else, or test requests of all kinds, in any order. */
#include <stdlib.h>

#include "check.h"

static int rank, size;

/* Not in MPI, and not to be optimised away. */
static void compute(double milliseconds) {
  const double end = MPI_Wtime() + milliseconds / 1000;
  while (MPI_Wtime() < end) continue;
}

static _Thread_local int thread_of = -1;

/* x -> a x + b modulo a prime: does not commute. */
static void compose(void* in, void* inout, int* length, MPI_Datatype* type) {
  const int* left = in;
  int* right = inout;
  (void)type;
  CHECK_EQ(thread_of, rank); /* called with this rank's globals and thread-local variables */
  for (int i = 0; i + 1 < *length; i += 2) {
    right[i + 1] = (left[i] * right[i + 1] + left[i + 1]) % 10007;
    right[i] = left[i] * right[i] % 10007;
  }
}

static void compose_pairs(void* in, void* inout, int* length, MPI_Datatype* type) {
  int ints = *length * 2;
  compose(in, inout, &ints, type);
}

static void fill(int who, int* values, int count) {
  for (int i = 0; i < count; ++i) values[i] = 2 + (who * 31 + i * 7) % 1000;
}

static void composed(int* values, int count) {
  int* left = malloc(sizeof(int) * count);
  fill(size - 1, values, count);
  for (int who = size - 2; who >= 0; --who) {
    fill(who, left, count);
    compose(left, values, &count, NULL);
  }
  free(left);
}

/* One rank computes for long and never calls MPI; the others get their result, and are done before it is. */
static void one_computes(void) {
  int value = rank + 1, sum = 0;
  MPI_Request request;
  CHECK_OK(MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
  if (rank == 0) compute(5);
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(sum, size * (size + 1) / 2);
  CHECK_EQ(request, MPI_REQUEST_NULL);
}

/* A rank in a blocking receive takes its part in a collective that it has not waited for: of which the
   message is a consequence. With an operation of the user's only that rank itself can do it. */
static void waits_for_something_else(MPI_Op op) {
  enum { kCount = 6 };
  int mine[kCount], result[kCount], expected[kCount], token = 0;
  MPI_Request request;
  fill(rank, mine, kCount);
  composed(expected, kCount);
  for (int sleeper = 0; sleeper < size; ++sleeper) {
    memset(result, 0, sizeof result);
    CHECK_OK(MPI_Iallreduce(mine, result, kCount, MPI_INT, op, MPI_COMM_WORLD, &request));
    if (rank == sleeper) {
      for (int i = 0; i < size - 1; ++i)
        CHECK_OK(MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
      CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
      CHECK_OK(MPI_Send(&token, 1, MPI_INT, sleeper, 5, MPI_COMM_WORLD));
    }
    CHECK(memcmp(result, expected, sizeof result) == 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  }
}

/* Many in flight on one communicator; every rank completes them in an order of its own. */
static void many_in_flight(void) {
  enum { kMany = 24, kCount = 300 };
  static int in[kMany][kCount], out[kMany][kCount];
  MPI_Request requests[kMany];
  for (int k = 0; k < kMany; ++k) {
    for (int i = 0; i < kCount; ++i) in[k][i] = rank * k + i, out[k][i] = -1;
    switch (k % 3) {
      case 0:
        CHECK_OK(MPI_Iallreduce(in[k], out[k], kCount, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[k]));
        break;
      case 1:
        if (rank == k % size) memcpy(out[k], in[k], sizeof in[k]);
        CHECK_OK(MPI_Ibcast(out[k], kCount, MPI_INT, k % size, MPI_COMM_WORLD, &requests[k]));
        break;
      default:
        CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[k]));
    }
  }
  for (int done = 0; done < kMany; ++done) {
    const int k = (done * 7 + rank * 5) % kMany; /* 7 and 24 have no common factor */
    if (k % 2 == 0) {
      CHECK_OK(MPI_Wait(&requests[k], MPI_STATUS_IGNORE));
    } else {
      int flag = 0;
      while (!flag) CHECK_OK(MPI_Test(&requests[k], &flag, MPI_STATUS_IGNORE));
    }
  }
  for (int k = 0; k < kMany; ++k)
    for (int i = 0; i < kCount && k % 3 != 2; ++i)
      CHECK_EQ(out[k][i], k % 3 == 0 ? k * size * (size - 1) / 2 + size * i : k % size * k + i);
}

/* Requests of messages and of collectives together, through the calls that take several. */
static void mixed_requests(void) {
  enum { kRounds = 8 };
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int round = 0; round < kRounds; ++round) {
    int sent = rank * 10 + round, received = -1, sum = -1, root = rank == round % size ? round : -1;
    MPI_Request requests[5];
    CHECK_OK(MPI_Irecv(&received, 1, MPI_INT, from, round, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Iallreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Issend(&sent, 1, MPI_INT, to, round, MPI_COMM_WORLD, &requests[2]));
    CHECK_OK(MPI_Ibcast(&root, 1, MPI_INT, round % size, MPI_COMM_WORLD, &requests[3]));
    CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[4]));
    int indices[5], seen = 0, count, index, flag = 0;
    switch (round % 4) {
      case 0:
        CHECK_OK(MPI_Waitall(5, requests, MPI_STATUSES_IGNORE));
        break;
      case 1:
        for (; seen < 5; ++seen) {
          CHECK_OK(MPI_Waitany(5, requests, &index, MPI_STATUS_IGNORE));
          CHECK(index >= 0 && index < 5);
        }
        break;
      case 2:
        while (seen < 5) {
          CHECK_OK(MPI_Testsome(5, requests, &count, indices, MPI_STATUSES_IGNORE));
          seen += count;
        }
        break;
      default:
        while (!flag) CHECK_OK(MPI_Testall(5, requests, &flag, MPI_STATUSES_IGNORE));
    }
    for (int i = 0; i < 5; ++i) CHECK_EQ(requests[i], MPI_REQUEST_NULL);
    CHECK_EQ(received, from * 10 + round);
    CHECK_EQ(sum, 10 * size * (size - 1) / 2 + size * round);
    CHECK_EQ(root, round);
  }
}

/* Ranks that look at something else again and again bring their collectives forward, too. */
static void only_probes(MPI_Op op) {
  int mine[2], result[2], expected[2], token = 0, flag = 0;
  MPI_Request request;
  fill(rank, mine, 2);
  composed(expected, 2);
  CHECK_OK(MPI_Iallreduce(mine, result, 2, MPI_INT, op, MPI_COMM_WORLD, &request));
  if (rank == 0) {
    for (int i = 1; i < size; ++i) {
      flag = 0;
      while (!flag) CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
      CHECK_OK(MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  } else {
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Send(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD));
  }
  CHECK(memcmp(result, expected, sizeof result) == 0);
}

/* Large data, in pieces that travel through ranks that compute. */
static void large(void) {
  const int count = 300000 + 7;
  double *in = malloc(sizeof(double) * count), *out = malloc(sizeof(double) * count);
  MPI_Request request;
  for (int i = 0; i < count; ++i) in[i] = rank + i, out[i] = -1;
  CHECK_OK(MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request));
  compute(2);
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (int i = 0; i < count; ++i)
    if (out[i] != size * (size - 1) / 2 + (double)size * i) {
      CHECK_FAILED("element %d is %g", i, out[i]);
      break;
    }
  free(in);
  free(out);
}

/* A persistent one is started again and again, and blocking ones come in between. */
static void persistent(MPI_Op op) {
  int mine[4], result[4], expected[4], sum, one = 1;
  MPI_Request request;
  MPI_Comm comm;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Allreduce_init(mine, result, 4, MPI_INT, op, comm, MPI_INFO_NULL, &request));
  composed(expected, 4);
  for (int repeat = 0; repeat < 5; ++repeat) {
    fill(rank, mine, 4);
    memset(result, 0, sizeof result);
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, size);
    if (repeat % 2 == rank % 2) compute(0.2);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(request != MPI_REQUEST_NULL);
    CHECK(memcmp(result, expected, sizeof result) == 0);
  }
  /* The communicator lives on as long as the operation that uses it. */
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Start(&request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Request_free(&request));
  CHECK_EQ(request, MPI_REQUEST_NULL);
}

/* Whatever an operation uses may be freed while it is in flight. */
static void freed_handles(void) {
  int mine[4], result[4], expected[4];
  MPI_Request request;
  MPI_Datatype pair;
  MPI_Comm comm;
  MPI_Op op;
  fill(rank, mine, 4);
  composed(expected, 4);
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Op_create(compose_pairs, 0, &op));
  CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &pair));
  CHECK_OK(MPI_Type_commit(&pair));
  CHECK_OK(MPI_Iallreduce(mine, result, 2, pair, op, comm, &request));
  CHECK_OK(MPI_Type_free(&pair));
  CHECK_OK(MPI_Op_free(&op));
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(memcmp(result, expected, sizeof result) == 0);
}

int main(int argc, char** argv) {
  MPI_Op op;
  CHECK_OK(MPI_Init(&argc, &argv));
  CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
  thread_of = rank;
  CHECK_OK(MPI_Op_create(compose, 0, &op));
  one_computes();
  waits_for_something_else(op);
  many_in_flight();
  mixed_requests();
  only_probes(op);
  large();
  persistent(op);
  freed_handles();
  CHECK_OK(MPI_Op_free(&op));
  CHECK_OK(MPI_Finalize());
  return check_result();
}
