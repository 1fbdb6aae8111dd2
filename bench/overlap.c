/* How much of a non-blocking collective is hidden behind work that lasts as long as it does by itself: with
   all ranks working, so that no core is idle, and with rank 0 alone working while the others wait. Prints
   lines NAME BYTES SECONDS, as the others do: the collective by itself, then with the work beside it. All of
   it is hidden where the times are the same, nothing where the second is twice the first. */
#include "measure.h"

enum workers { kNobody, kRankZero, kEverybody };
static enum workers working;
static double work_seconds;
static double *in, *out;

/* Work that does not touch memory, so that it takes as long beside a copy as without. */
static void work(void) {
  const double end = MPI_Wtime() + work_seconds;
  volatile double x = 1;
  while (MPI_Wtime() < end)
    for (int i = 0; i < 50; ++i) x = x * 1.0000001;
}

static void complete(MPI_Request* request) {
  if (working == kEverybody || (working == kRankZero && rank == 0)) work();
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void iallreduce(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    MPI_Request request;
    MPI_Iallreduce(in, out, (int)(bytes / sizeof(double)), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request);
    complete(&request);
  }
}

static void ialltoall(int iterations, size_t bytes) {
  const int count = (int)(bytes / (size_t)size);
  for (int i = 0; i < iterations; ++i) {
    MPI_Request request;
    MPI_Ialltoall(in, count, MPI_BYTE, out, count, MPI_BYTE, MPI_COMM_WORLD, &request);
    complete(&request);
  }
}

/* Seconds for one, the same on all ranks. */
static double alone(void (*batch)(int, size_t), size_t bytes) {
  enum { kTimes = 20 };
  working = kNobody;
  batch(2, bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = MPI_Wtime();
  batch(kTimes, bytes);
  seconds = (MPI_Wtime() - seconds) / kTimes;
  MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return seconds;
}

static void compare(const char* const names[3], void (*batch)(int, size_t), size_t bytes) {
  if (bytes > largest) return;
  work_seconds = alone(batch, bytes);
  for (working = kNobody; working <= kEverybody; ++working) measure(names[working], bytes, 1, batch);
}

int main(int argc, char** argv) {
  const char* const reduce[] = {"iallreduce", "iallreduce-rank-0-works", "iallreduce-all-work"};
  const char* const exchange[] = {"ialltoall", "ialltoall-rank-0-works", "ialltoall-all-work"};
  const size_t sizes[] = {8 << 10, 256 << 10, 4 << 20};
  measure_init(&argc, &argv);
  in = new_buffer(4 << 20);
  out = new_buffer(4 << 20);
  for (int i = 0; i < 3; ++i) compare(reduce, iallreduce, sizes[i]);
  for (int i = 0; i < 3; ++i) compare(exchange, ialltoall, sizes[i]);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
