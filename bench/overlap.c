/* Which part of a non-blocking collective is hidden behind computation. Rank 0 begins the operation,
   computes, and waits for it. The other ranks begin it as well, and then, as HOW says,
   - waiting: wait for it, so that their cores are there for the library;
   - idle: sleep while rank 0 computes, so that their cores have nothing to do and no rank is in a call;
   - busy: compute as rank 0 does, so that with a rank a core no core is idle.
   Prints lines hidden-NAME-HOW BYTES PART: 1 where rank 0 needs no longer than it computes, 0 where the
   operation costs it as much as it does by itself, or more. And NAME BYTES SECONDS for the operation by
   itself.

   The computation lasts several times as long as that: the cores that are left for the operation need longer
   for it than all of them together. Outside of these times the ranks write what they give and read what they
   get, as programs do. (Else a broadcast of 1 MB by two ranks takes 13 us, because each half of it stays in
   one of two caches for ever, and one core alone, which has to get half of it from there, 60.) */
#include <time.h>

#include "measure.h"

enum { kTimesAsLong = 4 };
static enum way { kWaiting, kIdle, kBusy, kWays } way;
static const char* const names_of_ways[kWays] = {"waiting", "idle", "busy"};
static double work_seconds; /* 0: the operation by itself */
static double *in, *out;

static void iallreduce(size_t bytes, int root, MPI_Request* request) {
  (void)root;
  MPI_Iallreduce(in, out, (int)(bytes / sizeof(double)), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
}

static void ibcast(size_t bytes, int root, MPI_Request* request) {
  MPI_Ibcast(in, (int)bytes, MPI_BYTE, root, MPI_COMM_WORLD, request);
}

/* So many bytes in all from each rank. */
static void ialltoall(size_t bytes, int root, MPI_Request* request) {
  (void)root;
  const int count = (int)(bytes / (size_t)size);
  MPI_Ialltoall(in, count, MPI_BYTE, out, count, MPI_BYTE, MPI_COMM_WORLD, request);
}

typedef void Operation(size_t bytes, int root, MPI_Request* request);

/* Does not touch memory, so that it takes as long beside a copy as without. */
static void compute(void) {
  const double end = MPI_Wtime() + work_seconds;
  volatile double x = 1;
  while (MPI_Wtime() < end)
    for (int i = 0; i < 50; ++i) x = x * 1.0000001;
}

static void sleep_as_long(void) {
  const struct timespec time = {(time_t)work_seconds, (long)((work_seconds - (time_t)work_seconds) * 1e9)};
  nanosleep(&time, NULL);
}

/* Seconds from beginning to end at this rank. All ranks begin together, also if some slept for too long. */
static double once(Operation* operation, size_t bytes, int root) {
  const int is_broadcast = operation == ibcast;
  if (rank == root || !is_broadcast) write_all(in, bytes, root);
  MPI_Request request;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  operation(bytes, root, &request);
  if (work_seconds > 0 && (rank == 0 || way == kBusy))
    compute();
  else if (work_seconds > 0 && way == kIdle)
    sleep_as_long();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const double end = MPI_Wtime();
  read_all(is_broadcast ? in : out, bytes);
  return end - start;
}

/* Of rank 0, for one operation; known to all ranks. The number of times is doubled as in measure(), until all
   of it, what ranks oversleep included, takes long enough. */
static double seconds_of(Operation* operation, size_t bytes) {
  once(operation, bytes, 0);
  for (int times = 1;; times *= 2) {
    const double start = MPI_Wtime();
    double seconds[2] = {0, 0}; /* of the operations, and of all */
    for (int i = 0; i < times; ++i) seconds[0] += once(operation, bytes, i % size);
    seconds[1] = MPI_Wtime() - start;
    MPI_Bcast(seconds, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (seconds[1] >= target_seconds || times >= 1 << 28) return seconds[0] / times;
  }
}

static void print(const char* what, size_t bytes, double number) {
  if (rank != 0) return;
  printf("%s %zu %.6g\n", what, bytes, number);
  fflush(stdout);
}

static void compare(const char* name, Operation* operation, size_t bytes) {
  work_seconds = 0;
  const double alone = seconds_of(operation, bytes);
  print(name, bytes, alone);
  work_seconds = kTimesAsLong * alone;
  for (way = kWaiting; way < kWays; ++way) {
    const double costs = (seconds_of(operation, bytes) - work_seconds) / alone;
    char what[64];
    snprintf(what, sizeof what, "hidden-%s-%s", name, names_of_ways[way]);
    print(what, bytes, costs < 1 ? 1 - costs : 0);
  }
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {64 << 10, 1 << 20};
  measure_init(&argc, &argv);
  in = new_buffer(1 << 20);
  out = new_buffer(1 << 20);
  for (int i = 0; i < 2; ++i) {
    if (sizes[i] > largest) continue;
    compare("iallreduce", iallreduce, sizes[i]);
    compare("ibcast", ibcast, sizes[i]);
    compare("ialltoall", ialltoall, sizes[i]);
  }
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
