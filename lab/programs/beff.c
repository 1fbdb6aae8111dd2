/* The effective bandwidth b_eff (Koniges, Rabenseifner and Solchenbach, IPDPS 2001), as 002, Table 1 uses it.
 * In rings of six sizes, in the order of ranks and in random orders, each rank sends a message to both
 * neighbours. For 21 sizes of messages, the best of three methods counts: MPI_Sendrecv, non-blocking calls,
 * and MPI_Alltoallv. b_eff is the logarithmic mean over the patterns of the mean over the sizes. The pattern
 * `cyclic` has six neighbours in a periodic grid of three dimensions. */
#include <math.h>

#include "lab.h"

static long longest = 1L << 20;
static double seconds = 0.01;
static const struct LabOption kOptions[] = {
    {"longest", "bytes of the longest message, more than 4096", &longest, NULL, NULL},
    {"seconds", "how long each measurement takes: there are 3 methods of 21 sizes of 13 patterns", NULL,
     &seconds, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

enum { kSizes = 21, kFixed = 13, kRings = 6, kMost = 6, kMethods = 3 };

/* To whom this rank sends, and from whom it receives: message i goes to[i] at the other end of from[i]. */
struct Pattern {
  int neighbours, to[kMost], from[kMost];
  int bytes, method;
};

static char *send_buffer, *receive_buffer;
static int *send_counts, *receive_counts, *send_places, *receive_places;

static void by_sendrecv(const struct Pattern* pattern) {
  for (int i = 0; i < pattern->neighbours; ++i)
    MPI_Sendrecv(send_buffer + (size_t)i * (size_t)longest, pattern->bytes, MPI_BYTE, pattern->to[i], i,
                 receive_buffer + (size_t)i * (size_t)longest, pattern->bytes, MPI_BYTE, pattern->from[i], i,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void by_requests(const struct Pattern* pattern) {
  MPI_Request requests[2 * kMost];
  for (int i = 0; i < pattern->neighbours; ++i) {
    MPI_Irecv(receive_buffer + (size_t)i * (size_t)longest, pattern->bytes, MPI_BYTE, pattern->from[i], i,
              MPI_COMM_WORLD, &requests[2 * i]);
    MPI_Isend(send_buffer + (size_t)i * (size_t)longest, pattern->bytes, MPI_BYTE, pattern->to[i], i,
              MPI_COMM_WORLD, &requests[2 * i + 1]);
  }
  MPI_Waitall(2 * pattern->neighbours, requests, MPI_STATUSES_IGNORE);
}

/* Several messages for the same rank are one block, from the place of the first: buffers of neighbours lie
 * one after the other, `bytes` long here. */
static void by_alltoallv(const struct Pattern* pattern) {
  memset(send_counts, 0, sizeof(int) * (size_t)lab_size);
  memset(receive_counts, 0, sizeof(int) * (size_t)lab_size);
  for (int i = 0; i < pattern->neighbours; ++i) {
    send_counts[pattern->to[i]] += pattern->bytes;
    receive_counts[pattern->from[i]] += pattern->bytes;
  }
  for (int i = 0, sent = 0, received = 0; i < lab_size; ++i) {
    send_places[i] = sent;
    receive_places[i] = received;
    sent += send_counts[i];
    received += receive_counts[i];
  }
  MPI_Alltoallv(send_buffer, send_counts, send_places, MPI_BYTE, receive_buffer, receive_counts,
                receive_places, MPI_BYTE, MPI_COMM_WORLD);
}

static void step(void* given) {
  const struct Pattern* pattern = given;
  if (pattern->method == 0)
    by_sendrecv(pattern);
  else if (pattern->method == 1)
    by_requests(pattern);
  else
    by_alltoallv(pattern);
}

/* 1, 2, 4, ... 4096, then eight up to the longest, in equal ratios. */
static int size_at(int number) {
  if (number < kFixed) return 1 << number;
  return (int)lround(4096.0 *
                     pow((double)longest / 4096.0, (double)(number - kFixed + 1) / (kSizes - kFixed)));
}

static unsigned long chance = 1;
static int below(int limit) {
  chance = chance * 6364136223846793005UL + 1442695040888963407UL;
  return (int)((chance >> 33) % (unsigned long)limit);
}

/* Rings of about `wanted` ranks, in the order that `order` has; ranks that are left over join the rings. */
static struct Pattern ring_of(int wanted, const int* order) {
  const int rings = lab_size / wanted > 0 ? lab_size / wanted : 1;
  int place = 0;
  while (order[place] != lab_rank) ++place;
  int ring = 0;
  while ((long)lab_size * (ring + 1) / rings <= place) ++ring;
  const int first = (int)((long)lab_size * ring / rings), end = (int)((long)lab_size * (ring + 1) / rings),
            size = end - first;
  const int left = order[first + (place - first + size - 1) % size],
            right = order[first + (place - first + 1) % size];
  struct Pattern pattern = {.neighbours = 2, .to = {right, left}, .from = {left, right}};
  return pattern;
}

static struct Pattern cyclic(void) {
  int sizes[3] = {0, 0, 0};
  const int periods[3] = {1, 1, 1};
  MPI_Comm grid;
  struct Pattern pattern = {.neighbours = 6};
  MPI_Dims_create(lab_size, 3, sizes);
  MPI_Cart_create(MPI_COMM_WORLD, 3, sizes, periods, 0, &grid);
  for (int axis = 0; axis < 3; ++axis) {
    int before, after;
    MPI_Cart_shift(grid, axis, 1, &before, &after);
    pattern.to[2 * axis] = pattern.from[2 * axis + 1] = after;
    pattern.from[2 * axis] = pattern.to[2 * axis + 1] = before;
  }
  MPI_Comm_free(&grid);
  return pattern;
}

/* Bytes a second of all ranks together, for each size. */
static void measure(struct Pattern pattern, double* bandwidth) {
  for (int number = 0; number < kSizes; ++number) {
    pattern.bytes = size_at(number);
    bandwidth[number] = 0;
    for (pattern.method = 0; pattern.method < kMethods; ++pattern.method) {
      const double found =
          (double)pattern.neighbours * pattern.bytes * lab_size / lab_time(seconds, step, &pattern);
      if (found > bandwidth[number]) bandwidth[number] = found;
    }
  }
}

static double mean(const double* bandwidth) {
  double sum = 0;
  for (int number = 0; number < kSizes; ++number) sum += bandwidth[number];
  return sum / kSizes;
}

static void say(const char* pattern, double average, double at_longest) {
  if (lab_rank == 0)
    printf(
        "{\"measure\": \"beff\", \"pattern\": \"%s\", \"ranks\": %d, \"longest\": %ld, \"average\": %.6g, "
        "\"at_longest\": %.6g}\n",
        pattern, lab_size, longest, average, at_longest);
  fflush(stdout);
}

static void measure_rings(void) {
  const int wanted[kRings] = {
      2, 4, 8, lab_size / 4 > 16 ? lab_size / 4 : 16, lab_size / 2 > 32 ? lab_size / 2 : 32, lab_size};
  int* order = lab_buffer(sizeof(int) * (size_t)lab_size);
  double logs[2] = {0, 0}, logs_at_longest[2] = {0, 0};
  for (int random = 0; random < 2; ++random) {
    for (int ring = 0; ring < kRings; ++ring) {
      for (int i = 0; i < lab_size; ++i) order[i] = i;
      for (int i = lab_size - 1; random && i > 0; --i) {
        const int other = below(i + 1), old = order[i];
        order[i] = order[other];
        order[other] = old;
      }
      double bandwidth[kSizes];
      measure(ring_of(wanted[ring], order), bandwidth);
      logs[random] += log(mean(bandwidth)) / kRings;
      logs_at_longest[random] += log(bandwidth[kSizes - 1]) / kRings;
    }
    say(random ? "random" : "rings", exp(logs[random]), exp(logs_at_longest[random]));
  }
  say("b_eff", exp(0.5 * (logs[0] + logs[1])), exp(0.5 * (logs_at_longest[0] + logs_at_longest[1])));
  free(order);
}

int main(int argc, char** argv) {
  lab_start(&argc, &argv, MPI_THREAD_SINGLE,
            "beff: the effective bandwidth of rings, random patterns and a cyclic grid", kOptions);
  if (longest <= 4096 || longest > 1L << 27) lab_fail("--longest is more than 4096 and at most 128 MB");
  if (lab_size < 2) lab_fail("b_eff needs two ranks");
  send_buffer = lab_buffer((size_t)kMost * (size_t)longest);
  receive_buffer = lab_buffer((size_t)kMost * (size_t)longest);
  send_counts = lab_buffer(4 * sizeof(int) * (size_t)lab_size);
  receive_counts = send_counts + lab_size;
  send_places = receive_counts + lab_size;
  receive_places = send_places + lab_size;
  measure_rings();
  double bandwidth[kSizes];
  measure(cyclic(), bandwidth);
  say("3-D cyclic", mean(bandwidth), bandwidth[kSizes - 1]);
  free(send_buffer);
  free(receive_buffer);
  free(send_counts);
  MPI_Finalize();
  return 0;
}
