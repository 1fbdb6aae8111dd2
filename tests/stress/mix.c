/* mix SECONDS [SEED]: rounds of everything, in an order and with sizes that a seed decides: messages in all
   modes, received in all ways, collectives, communicators, threads; between two calls a rank may sleep,
   yield, or compute for so long that it loses its worker. Every byte is checked. */
#include "stress.h"

enum { kMessages = 12, kMostBytes = 300000 };

static Random mine; /* this rank's own: what others need not know */

/* How many bytes message `index` from `source` has; everybody can tell. */
static int bytes_of(int source, int index) {
  Random random = random_from((uint64_t)stress_round, (uint64_t)source, (uint64_t)index + 1000);
  return random_bytes(&random);
}

static void start_send(unsigned char* bytes, int count, int to, int tag, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  switch (random_below(&mine, 4)) {
    case 0:
      MPI_Issend(bytes, count, MPI_BYTE, to, tag, MPI_COMM_WORLD, request);
      break;
    default:
      MPI_Isend(bytes, count, MPI_BYTE, to, tag, MPI_COMM_WORLD, request);
      break;
  }
}

static void finish(MPI_Request* requests, int count) {
  int done = 0;
  switch (random_below(&mine, 4)) {
    case 0:
      MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
      break;
    case 1:
      while (!done) {
        MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
        if (!done) disturb(&mine);
      }
      break;
    case 2:
      for (int left = count; left > 0; --left) {
        int which;
        MPI_Waitany(count, requests, &which, MPI_STATUS_IGNORE);
        if (which == MPI_UNDEFINED) break;
      }
      break;
    default:
      for (int i = 0; i < count; ++i) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        disturb(&mine);
      }
      break;
  }
}

/* Receives message `index` of `source`, which is the next one from there in any case: messages of one source
   do not overtake each other. */
static void receive(unsigned char* buffer, int source, int index) {
  const int expected = bytes_of(source, index);
  MPI_Status status;
  int found = 0, count;
  switch (random_below(&mine, 4)) {
    case 0:
      MPI_Recv(buffer, kMostBytes, MPI_BYTE, source, index, MPI_COMM_WORLD, &status);
      break;
    case 1:
      MPI_Recv(buffer, kMostBytes, MPI_BYTE, source, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      break;
    case 2:
      MPI_Probe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_BYTE, &count);
      STRESS_CHECK(count == expected);
      MPI_Recv(buffer, count, MPI_BYTE, source, status.MPI_TAG, MPI_COMM_WORLD, &status);
      break;
    default:
      while (!found) {
        MPI_Iprobe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &status);
        if (!found && random_below(&mine, 8) == 0) disturb(&mine);
      }
      MPI_Recv(buffer, kMostBytes, MPI_BYTE, source, index, MPI_COMM_WORLD, &status);
      break;
  }
  MPI_Get_count(&status, MPI_BYTE, &count);
  if (status.MPI_TAG != index || status.MPI_SOURCE != source || count != expected)
    STRESS_FAIL("message %d (%d bytes) of rank %d came as %d (%d bytes) of rank %d", index, expected, source,
                status.MPI_TAG, count, status.MPI_SOURCE);
  verify(buffer, count, source, index);
}

/* Everybody sends to the rank `shift` further. */
static void shifted_messages(Random* common, unsigned char* out, unsigned char* in) {
  const int shift = random_below(common, stress_size), messages = 1 + random_below(common, kMessages);
  const int to = (stress_rank + shift) % stress_size;
  const int from = (stress_rank - shift + stress_size) % stress_size;
  MPI_Request requests[kMessages];
  unsigned char* next = out;
  for (int index = 0; index < messages; ++index) {
    const int count = bytes_of(stress_rank, index);
    fill(next, count, stress_rank, index);
    start_send(next, count, to, index, &requests[index]);
    next += count;
    disturb(&mine);
  }
  for (int index = 0; index < messages; ++index) {
    receive(in, from, index);
    disturb(&mine);
  }
  finish(requests, messages);
}

/* Some ranks are flooded by all others, who use blocking sends; they receive from whoever comes. */
static void flood(Random* common, unsigned char* out, unsigned char* in) {
  const int sink = random_below(common, stress_size), messages = 1 + random_below(common, kMessages);
  if (stress_rank != sink) {
    for (int index = 0; index < messages; ++index) {
      const int count = bytes_of(stress_rank, index);
      fill(out, count, stress_rank, index);
      if (random_below(&mine, 4) == 0)
        MPI_Ssend(out, count, MPI_BYTE, sink, index, MPI_COMM_WORLD);
      else
        MPI_Send(out, count, MPI_BYTE, sink, index, MPI_COMM_WORLD);
      memset(out, 0xee, (size_t)count); /* it is ours again */
      disturb(&mine);
    }
    return;
  }
  int* next = calloc((size_t)stress_size, sizeof *next);
  for (int left = (stress_size - 1) * messages; left > 0; --left) {
    MPI_Status status;
    int count;
    MPI_Recv(in, kMostBytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    STRESS_CHECK(status.MPI_TAG == next[status.MPI_SOURCE]);
    STRESS_CHECK(count == bytes_of(status.MPI_SOURCE, status.MPI_TAG));
    verify(in, count, status.MPI_SOURCE, status.MPI_TAG);
    ++next[status.MPI_SOURCE];
    disturb(&mine);
  }
  free(next);
}

static void collectives(Random* common, MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int count = 1 + random_bytes(common) / 64, root = random_below(common, size);
  int* in = malloc(sizeof *in * (size_t)count * (size_t)size);
  int* out = malloc(sizeof *out * (size_t)count * (size_t)size);
  for (int repeat = 1 + random_below(common, 6); repeat > 0; --repeat) {
    disturb(&mine);
    for (int i = 0; i < count * size; ++i) in[i] = rank + i;
    switch (random_below(common, 6)) {
      case 0:
        MPI_Barrier(comm);
        break;
      case 1:
        MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
        for (int i = 0; i < count; ++i) STRESS_CHECK(out[i] == size * i + size * (size - 1) / 2);
        break;
      case 2:
        for (int i = 0; i < count; ++i) out[i] = rank == root ? repeat + i : -1;
        MPI_Bcast(out, count, MPI_INT, root, comm);
        for (int i = 0; i < count; ++i) STRESS_CHECK(out[i] == repeat + i);
        break;
      case 3:
        MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, comm);
        for (int i = 0; i < count * size; ++i) STRESS_CHECK(out[i] == i / count + rank * count + i % count);
        break;
      case 4:
        MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, comm);
        for (int i = 0; i < count * size; ++i) STRESS_CHECK(out[i] == i / count + i % count);
        break;
      default:
        MPI_Scan(in, out, count, MPI_INT, MPI_SUM, comm);
        for (int i = 0; i < count; ++i) STRESS_CHECK(out[i] == (rank + 1) * i + rank * (rank + 1) / 2);
        break;
    }
  }
  free(in);
  free(out);
}

/* One of several collectives that are in flight together. */
typedef struct {
  int kind, count, root, *in, *out;
} Begun;

static void begin_collective(Begun* begun, int number, MPI_Comm comm, MPI_Request* request) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int count = begun->count;
  begun->in = malloc(sizeof(int) * (size_t)count * (size_t)size);
  begun->out = malloc(sizeof(int) * (size_t)count * (size_t)size);
  for (int i = 0; i < count * size; ++i) begun->in[i] = rank + number * i, begun->out[i] = -1;
  switch (begun->kind) {
    case 0:
      MPI_Ibarrier(comm, request);
      break;
    case 1:
      MPI_Iallreduce(begun->in, begun->out, count, MPI_INT, MPI_SUM, comm, request);
      break;
    case 2:
      if (rank == begun->root) memcpy(begun->out, begun->in, sizeof(int) * (size_t)count);
      MPI_Ibcast(begun->out, count, MPI_INT, begun->root, comm, request);
      break;
    case 3:
      MPI_Ialltoall(begun->in, count, MPI_INT, begun->out, count, MPI_INT, comm, request);
      break;
    case 4:
      MPI_Iallgather(begun->in, count, MPI_INT, begun->out, count, MPI_INT, comm, request);
      break;
    default:
      MPI_Ireduce_scatter_block(begun->in, begun->out, count, MPI_INT, MPI_SUM, comm, request);
      break;
  }
}

static void check_collective(const Begun* begun, int number, int rank, int size) {
  const int count = begun->count, ranks = size * (size - 1) / 2;
  const int results = begun->kind == 0 ? 0 : begun->kind == 3 || begun->kind == 4 ? count * size : count;
  for (int i = 0; i < results; ++i) {
    const int expected = begun->kind == 1   ? ranks + size * number * i
                         : begun->kind == 2 ? begun->root + number * i
                         : begun->kind == 3 ? i / count + number * (rank * count + i % count)
                         : begun->kind == 4 ? i / count + number * (i % count)
                                            : ranks + size * number * (rank * count + i);
    if (begun->out[i] != expected)
      STRESS_FAIL("collective %d, of kind %d: element %d of %d is %d instead of %d", number, begun->kind, i,
                  count, begun->out[i], expected);
  }
}

/* Several at once, which each rank completes in its own order; the communicator may be freed meanwhile. */
static void collectives_in_flight(Random* common, MPI_Comm* comm, int may_free) {
  enum { kMost = 8 };
  Begun all[kMost];
  MPI_Request requests[kMost];
  int rank, size;
  MPI_Comm_rank(*comm, &rank);
  MPI_Comm_size(*comm, &size);
  const int many = 1 + random_below(common, kMost);
  for (int i = 0; i < many; ++i) {
    all[i].kind = random_below(common, 6);
    all[i].count = 1 + random_bytes(common) / 64;
    all[i].root = random_below(common, size);
    begin_collective(&all[i], i, *comm, &requests[i]);
    disturb(&mine);
  }
  if (may_free && random_below(&mine, 2) == 0) MPI_Comm_free(comm);
  finish(requests, many);
  for (int i = 0; i < many; ++i) {
    check_collective(&all[i], i, rank, size);
    free(all[i].in);
    free(all[i].out);
  }
}

static void split(Random* common) {
  const int colours = 1 + random_below(common, 5);
  Random colour_of = random_from((uint64_t)stress_round, (uint64_t)stress_rank, 7);
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, random_below(&colour_of, colours), stress_size - stress_rank, &part);
  collectives(common, part);
  disturb(&mine);
  collectives_in_flight(common, &part, 1);
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
}

typedef struct {
  MPI_Comm comm;
  int index, partner;
} Thread;

/* Exchanges messages with the thread of the same index of the partner. */
static void* exchange(void* argument) {
  const Thread* thread = argument;
  Random random = random_from((uint64_t)stress_round, (uint64_t)stress_rank, 100 + (uint64_t)thread->index);
  unsigned char* out = malloc(kMostBytes);
  unsigned char* in = malloc(kMostBytes);
  for (int index = 0; index < kMessages; ++index) {
    Random sizes = random_from((uint64_t)stress_round, (uint64_t)index, 200 + (uint64_t)thread->index);
    const int count = random_bytes(&sizes), tag = thread->index * kMessages + index;
    fill(out, count, stress_rank, tag);
    MPI_Request request;
    MPI_Isend(out, count, MPI_BYTE, thread->partner, tag, thread->comm, &request);
    disturb(&random);
    MPI_Recv(in, count, MPI_BYTE, thread->partner, tag, thread->comm, MPI_STATUS_IGNORE);
    verify(in, count, thread->partner, tag);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  free(in);
  free(out);
  return NULL;
}

static void threads(Random* common) {
  enum { kThreads = 3 };
  const int flip = 1 + random_below(common, stress_size);
  const int partner = ((flip - stress_rank) % stress_size + stress_size) % stress_size; /* of each other */
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  pthread_t ids[kThreads];
  Thread all[kThreads + 1];
  for (int i = 0; i <= kThreads; ++i) {
    all[i] = (Thread){comm, i, partner};
    if (i < kThreads && pthread_create(&ids[i], NULL, exchange, &all[i]) != 0) STRESS_FAIL("no thread");
  }
  exchange(&all[kThreads]); /* the rank's own thread of control takes part */
  for (int i = 0; i < kThreads; ++i) pthread_join(ids[i], NULL);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  stress_begin(&argc, &argv, argc > 2 ? argv[2] : NULL);
  const double end = seconds() + (argc > 1 ? atof(argv[1]) : 5);
  mine = random_from(1, (uint64_t)stress_rank, 2);
  if (stress_rank == 0) {
    printf("mix: %d ranks, seed %lu\n", stress_size, stress_seed);
    fflush(stdout);
  }
  unsigned char* out = malloc((size_t)kMessages * kMostBytes);
  unsigned char* in = malloc(kMostBytes);
  for (int more = 1; more; ++stress_round) {
    Random common = random_from((uint64_t)stress_round, 3, 4);
    switch (random_below(&common, 10)) {
      case 0:
        split(&common);
        break;
      case 1:
        threads(&common);
        break;
      case 2:
      case 3:
        flood(&common, out, in);
        MPI_Barrier(MPI_COMM_WORLD); /* the sink must not take what belongs to the next round */
        break;
      case 4:
      case 5:
        collectives(&common, MPI_COMM_WORLD);
        break;
      case 6: {
        MPI_Comm world = MPI_COMM_WORLD;
        collectives_in_flight(&common, &world, 0);
        break;
      }
      default:
        shifted_messages(&common, out, in);
        break;
    }
    more = seconds() < end;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (stress_rank == 0) printf("mix: %d rounds\n", stress_round);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
