/* A few messages of all sizes to and from both neighbours, in two communicators, received with and without
 * wildcards, posted before or after what is sent, and waited for in all ways and orders. Of receives that
 * match the same messages, the one posted first gets the one sent first (MPI-5.0 section 3.5). */
#include <string.h>

#include "check.h"

enum { kRounds = 2000, kMost = 4, kKinds = 2, kComms = 2, kLongest = 40000, kAll = 2 * kMost };
static int rank, size;
static MPI_Comm comms[kComms];

/* Between two neighbours, in one direction: the receiver reckons what the sender sends. */
struct message {
  int source, comm, tag, length, value;
};

static unsigned draw(unsigned* state, unsigned below) {
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) % below;
}

/* `up`: to the next rank. Tags tell the direction, as with two ranks both neighbours are the same. */
static int messages_of(int round, int from, int up, struct message* all) {
  static const int lengths[] = {0, 1, 9, 11, 120, 200, 3000, 9000, kLongest};
  unsigned state = (unsigned)round * 7919u + (unsigned)from * 104729u + (unsigned)up * 31u + 1;
  const int count = (int)draw(&state, kMost + 1);
  const unsigned some = draw(&state, 4) == 0 ? 9 : 6;
  for (int i = 0; i < count; ++i) {
    const int comm = (int)draw(&state, kComms), tag = 10 * up + (int)draw(&state, kKinds);
    all[i] = (struct message){from, comm, tag, lengths[draw(&state, some)],
                              ((round * 64 + from) * 2 + up) * kMost + i};
  }
  return count;
}

static int same_kind(const struct message* a, const struct message* b) {
  return a->source == b->source && a->comm == b->comm && a->tag == b->tag;
}

/* In an order in which those of a kind follow each other as they are sent. */
static struct message coming[kAll];
static int expected;
static int *in[kAll], *out[kAll];

static void change_places(int i, int k) {
  const struct message m = coming[i];
  coming[i] = coming[k];
  coming[k] = m;
}

static void shuffle(unsigned* state) {
  for (int i = expected - 1; i > 0; --i) change_places(i, (int)draw(state, (unsigned)i + 1));
  for (int i = 0; i < expected; ++i) /* and now those of a kind in their order */
    for (int k = i + 1; k < expected; ++k)
      if (same_kind(&coming[i], &coming[k]) && coming[k].value < coming[i].value) change_places(i, k);
}

/* Those before `named` name source and tag, the others only their communicator. */
static void post(int named, MPI_Request* requests) {
  for (int i = 0; i < expected; ++i) {
    memset(in[i], -1, sizeof(int));
    const int source = i < named ? coming[i].source : MPI_ANY_SOURCE,
              tag = i < named ? coming[i].tag : MPI_ANY_TAG;
    CHECK_OK(MPI_Irecv(in[i], kLongest, MPI_INT, source, tag, comms[coming[i].comm], &requests[i]));
  }
}

static int send(int round, MPI_Request* requests) {
  struct message all[kMost];
  int n = 0;
  for (int up = 0; up < 2; ++up) {
    const int count = messages_of(round, rank, up, all);
    for (int i = 0; i < count; ++i, ++n) {
      for (int k = 0; k < all[i].length; ++k) out[n][k] = all[i].value + k;
      CHECK_OK(MPI_Isend(out[n], all[i].length, MPI_INT, (rank + (up ? 1 : size - 1)) % size, all[i].tag,
                         comms[all[i].comm], &requests[n]));
    }
  }
  return n;
}

static void wait_for(int how, unsigned* state, int n, MPI_Request* requests, MPI_Status* statuses) {
  int indices[2 * kAll], index, done = 0;
  MPI_Status some[2 * kAll];
  switch (how) {
    case 0:
      CHECK_OK(MPI_Waitall(n, requests, statuses));
      return;
    case 1: {
      const int first = n > 0 ? (int)draw(state, (unsigned)n) : 0;
      for (int i = 0; i < n; ++i) CHECK_OK(MPI_Wait(&requests[(first + i) % n], &statuses[(first + i) % n]));
      return;
    }
    case 2:
      for (int i = 0; i < n; ++i) {
        CHECK_OK(MPI_Waitany(n, requests, &index, &some[0]));
        statuses[index] = some[0];
      }
      return;
    case 3:
      while (done < n) {
        int count;
        CHECK_OK(MPI_Waitsome(n, requests, &count, indices, some));
        for (int i = 0; i < count; ++i) statuses[indices[i]] = some[i];
        done += count;
      }
      return;
    default:
      while (!done) CHECK_OK(MPI_Testall(n, requests, &done, statuses));
  }
}

/* A receive with wildcards got the next one of some kind. */
static void check_received(int named, const MPI_Status* statuses) {
  int taken[kAll] = {0};
  for (int i = 0; i < expected; ++i) {
    int m = i;
    if (i >= named) {
      for (m = named; m < expected; ++m)
        if (!taken[m] && coming[m].comm == coming[i].comm && coming[m].source == statuses[i].MPI_SOURCE &&
            coming[m].tag == statuses[i].MPI_TAG)
          break;
      CHECK(m < expected);
      if (m == expected) return;
    }
    taken[m] = 1;
    int count;
    MPI_Get_count(&statuses[i], MPI_INT, &count);
    CHECK_EQ(statuses[i].MPI_SOURCE, coming[m].source);
    CHECK_EQ(statuses[i].MPI_TAG, coming[m].tag);
    CHECK_EQ(count, coming[m].length);
    int wrong = 0;
    for (int k = 0; k < count; ++k) wrong += in[i][k] != coming[m].value + k;
    CHECK_EQ(wrong, 0);
  }
}

static void exchange(int round, unsigned* state) {
  MPI_Request requests[2 * kAll];
  MPI_Status statuses[2 * kAll];
  expected = messages_of(round, (rank + size - 1) % size, 1, coming);
  expected += messages_of(round, (rank + 1) % size, 0, coming + expected);
  shuffle(state);
  const int named = draw(state, 2) == 0 ? expected : (int)draw(state, (unsigned)expected + 1);
  const int first = draw(state, 3) != 0;
  if (first) post(named, requests);
  const int sent = send(round, requests + expected);
  if (!first) post(named, requests);
  wait_for((int)draw(state, 5), state, expected + sent, requests, statuses);
  check_received(named, statuses);
}

/* The one with wildcards was posted first, and the other one is waited for first. */
static void wildcards_first(int round) {
  const int from = (rank + size - 1) % size, to = (rank + 1) % size;
  int first[] = {round}, second[] = {round + 1}, any = -1, named = -1;
  MPI_Request requests[4];
  MPI_Irecv(&any, 1, MPI_INT, round % 2 == 0 ? from : MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
            &requests[0]);
  MPI_Irecv(&named, 1, MPI_INT, from, 5, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(first, 1, MPI_INT, to, 5, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(second, 1, MPI_INT, to, 5, MPI_COMM_WORLD, &requests[3]);
  CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
  CHECK_EQ(any, round);
  CHECK_EQ(named, round + 1);
}

/* The buffer is too short for what comes first. */
static void too_long(int round) {
  const int from = (rank + size - 1) % size, to = (rank + 1) % size;
  int out_long[] = {round, round + 1}, out_short[] = {round + 2}, in_short = -1, in_next = -1;
  MPI_Request requests[2];
  MPI_Comm_set_errhandler(comms[1], MPI_ERRORS_RETURN);
  MPI_Irecv(&in_short, 1, MPI_INT, from, 6, comms[1], &requests[0]);
  MPI_Irecv(&in_next, 1, MPI_INT, from, 6, comms[1], &requests[1]);
  MPI_Send(out_long, 2, MPI_INT, to, 6, comms[1]);
  MPI_Send(out_short, 1, MPI_INT, to, 6, comms[1]);
  CHECK_CLASS(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
  CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
  CHECK_EQ(in_short, round);
  CHECK_EQ(in_next, round + 2);
  MPI_Comm_set_errhandler(comms[1], MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  comms[0] = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  for (int i = 0; i < kAll; ++i) {
    in[i] = malloc(kLongest * sizeof(int));
    out[i] = malloc(kLongest * sizeof(int));
  }
  unsigned state = 12345u + (unsigned)rank;
  for (int round = 0; round < kRounds && check_failures == 0; ++round) {
    exchange(round, &state);
    MPI_Barrier(MPI_COMM_WORLD); /* wildcards would take what comes next */
    wildcards_first(round);
    too_long(round);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int i = 0; i < kAll; ++i) {
    free(in[i]);
    free(out[i]);
  }
  MPI_Comm_free(&comms[1]);
  MPI_Finalize();
  return check_result();
}
