/* Thousands of collectives of all kinds, on communicators that overlap, in an order that only the ranks know,
   with ranks that come late. argument 1: how many. */
#include <stdint.h>
#include <unistd.h>

#include "../../seed_of_ranks.h"
#include "check.h"

enum { kWorld, kCopy, kReversed, kParity, kHalf, kComms };
enum { kLargest = 6000 };

static MPI_Comm comms[kComms];
static int world_rank;
static MPI_Op compose;
static int *in, *out;

/* Two sequences of numbers: one is the same on all ranks, one is each rank's own. */
static uint32_t together, alone;
static uint32_t next(uint32_t* state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* The composition of x -> a x + b, as a pair, modulo a prime: the order matters. */
static void composition(void* left, void* right, int* length, MPI_Datatype* type) {
  const int *a = left, prime = 10007;
  int* b = right;
  (void)type;
  for (int i = 0; i < *length; ++i) {
    b[2 * i + 1] = (a[2 * i] * b[2 * i + 1] + a[2 * i + 1]) % prime;
    b[2 * i] = a[2 * i] * b[2 * i] % prime;
  }
}

static int value(int round, int from, int to, int i) {
  return (round * 31 + from * 101 + to * 1009 + i) % 10007;
}

static void delay(void) {
  const uint32_t kind = next(&alone) % 64;
  if (kind == 0)
    usleep(next(&alone) % 100);
  else if (kind < 8)
    for (volatile uint32_t i = next(&alone) % 20000; i > 0;) i = i - 1;
}

static void check_same(const int* actual, const int* expected, int count, const char* what, int round) {
  for (int i = 0; i < count; ++i)
    if (actual[i] != expected[i]) {
      CHECK_FAILED("%s, round %d: [%d of %d] is %d instead of %d", what, round, i, count, actual[i],
                   expected[i]);
      return;
    }
}

static void barrier(MPI_Comm comm) {
  double before = MPI_Wtime(), last, after, first;
  MPI_Barrier(comm);
  after = MPI_Wtime();
  MPI_Allreduce(&before, &last, 1, MPI_DOUBLE, MPI_MAX, comm);
  MPI_Allreduce(&after, &first, 1, MPI_DOUBLE, MPI_MIN, comm);
  CHECK(first >= last);
}

static void reduce(MPI_Comm comm, int round, int count, int root, int rank, int size) {
  static int expected[kLargest];
  const int kind = (int)(next(&together) % 4);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  for (int i = 0; i < 2 * count; ++i) {
    in[i] = value(round, rank, 0, i);
    out[i] = -1;
  }
  for (int i = 0; i < 2 * count; ++i) expected[i] = kind == 3 ? value(round, size - 1, 0, i) : 0;
  for (int other = size - (kind == 3 ? 2 : 1); other >= 0; --other)
    for (int i = 0; i < count; ++i) {
      int theirs[2] = {value(round, other, 0, 2 * i), value(round, other, 0, 2 * i + 1)}, one = 1;
      if (kind == 3) {
        composition(theirs, expected + 2 * i, &one, NULL);
      } else {
        expected[2 * i] += theirs[0];
        expected[2 * i + 1] += theirs[1];
      }
    }
  if (kind == 0) {
    MPI_Allreduce(in, out, 2 * count, MPI_INT, MPI_SUM, comm);
  } else if (kind == 1) {
    memcpy(out, in, sizeof(int) * 2 * (size_t)count);
    MPI_Allreduce(MPI_IN_PLACE, out, 2 * count, MPI_INT, MPI_SUM, comm);
  } else if (kind == 2) {
    MPI_Reduce(in, out, 2 * count, MPI_INT, MPI_SUM, root, comm);
    if (rank != root) memset(expected, -1, sizeof(int) * 2 * (size_t)count);
  } else {
    MPI_Allreduce(in, out, count, pair, compose, comm);
  }
  check_same(out, expected, 2 * count, "reduction", round);
  MPI_Type_free(&pair);
}

static void exchange(MPI_Comm comm, int round, int count, int rank, int size) {
  static int expected[kLargest];
  const int in_place = (int)(next(&together) % 2);
  for (int peer = 0; peer < size; ++peer)
    for (int i = 0; i < count; ++i) {
      in[peer * count + i] = value(round, rank, peer, i);
      expected[peer * count + i] = value(round, peer, rank, i);
    }
  if (in_place) {
    memcpy(out, in, sizeof(int) * (size_t)(count * size));
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, out, count, MPI_INT, comm);
  } else {
    MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, comm);
  }
  check_same(out, expected, count * size, "alltoall", round);
}

static void gather(MPI_Comm comm, int round, int count, int root, int rank, int size) {
  static int expected[kLargest];
  const int all = (int)(next(&together) % 2);
  for (int i = 0; i < count * size; ++i) {
    expected[i] = all || rank == root ? value(round, i / count, 0, i % count) : -1;
    out[i] = -1;
  }
  for (int i = 0; i < count; ++i) in[i] = value(round, rank, 0, i);
  if (all)
    MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, comm);
  else
    MPI_Gather(in, count, MPI_INT, out, count, MPI_INT, root, comm);
  check_same(out, expected, count * size, "gather", round);
}

static void spread(MPI_Comm comm, int round, int count, int root, int rank, int size) {
  static int expected[kLargest];
  const int scatters = (int)(next(&together) % 2);
  for (int i = 0; i < count; ++i) expected[i] = value(round, root, scatters ? rank : 0, i);
  for (int i = 0; i < count * size; ++i) in[i] = rank == root ? value(round, root, i / count, i % count) : -1;
  if (scatters) {
    MPI_Scatter(in, count, MPI_INT, out, count, MPI_INT, root, comm);
    check_same(out, expected, count, "scatter", round);
  } else {
    MPI_Bcast(in, count, MPI_INT, root, comm);
    check_same(in, expected, count, "broadcast", round);
  }
}

/* Messages between the collectives, in the same communicators. */
static void ring(MPI_Comm comm, int round, int rank, int size) {
  int mine = round * 1000 + rank, theirs = -1;
  MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, 3, &theirs, 1, MPI_INT, (rank + size - 1) % size, 3,
               comm, MPI_STATUS_IGNORE);
  CHECK_EQ(theirs, round * 1000 + (rank + size - 1) % size);
}

static void one_round(int round) {
  static const int counts[] = {0, 1, 2, 7, 30, 60, 150};
  const int which = (int)(next(&together) % kComms), kind = (int)(next(&together) % 6);
  const int count = counts[next(&together) % (sizeof counts / sizeof *counts)];
  const int drawn_root = (int)(next(&together) % 1000);
  const uint32_t after_this = together * 69069u + 1;
  const MPI_Comm comm = comms[which];
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int root = drawn_root % size;
  delay();
  if (kind == 0) barrier(comm);
  if (kind == 1) reduce(comm, round, count * 16 < kLargest / 2 ? count * 16 : count, root, rank, size);
  if (kind == 2) exchange(comm, round, count, rank, size);
  if (kind == 3) gather(comm, round, count == 0 ? 1 : count, root, rank, size);
  if (kind == 4) spread(comm, round, count == 0 ? 1 : count, root, rank, size);
  if (kind == 5) ring(comm, round, rank, size);
  together = after_this;
}

int main(int argc, char** argv) {
  int world_size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  together = (uint32_t)seed_of_ranks(12345);
  alone = (uint32_t)world_rank * 7919u + 17u;
  in = malloc(sizeof(int) * kLargest);
  out = malloc(sizeof(int) * kLargest);
  comms[kWorld] = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[kCopy]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comms[kReversed]);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &comms[kParity]);
  MPI_Comm_split(MPI_COMM_WORLD, 2 * world_rank < world_size, world_rank * 5 % world_size, &comms[kHalf]);
  MPI_Op_create(composition, 0, &compose);

  const int rounds = argc > 1 ? atoi(argv[1]) : 1000;
  for (int round = 0; round < rounds; ++round) one_round(round);

  MPI_Op_free(&compose);
  for (int i = kCopy; i < kComms; ++i) MPI_Comm_free(&comms[i]);
  free(in);
  free(out);
  MPI_Finalize();
  return check_result();
}
