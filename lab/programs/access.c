/* Ways to data of another rank: 002, Table 2. Two-sided messages, one-sided MPI_Get and MPI_Put, and loads
 * word by word through a window of shared memory, in the order of addresses and at random. Rank 0 measures,
 * with the last rank. */
#include "lab.h"

static long bytes = 1L << 20;
static double seconds = 0.05;
static const struct LabOption kOptions[] = {
    {"bytes", "of the longest access", &bytes, NULL, NULL},
    {"seconds", "how long each measurement takes", NULL, &seconds, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static char* buffer;
static MPI_Win window;
static const double* shared;
static int other;

static void two_sided(void* size) {
  const int count = (int)*(long*)size;
  if (lab_rank == 0) {
    MPI_Send(NULL, 0, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    MPI_Recv(buffer, count, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (lab_rank == other) {
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(buffer, count, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
}

static void get(void* size) {
  if (lab_rank != 0) return;
  MPI_Get(buffer, (int)*(long*)size, MPI_BYTE, other, 0, (int)*(long*)size, MPI_BYTE, window);
  MPI_Win_flush(other, window);
}

static void put(void* size) {
  if (lab_rank != 0) return;
  MPI_Put(buffer, (int)*(long*)size, MPI_BYTE, other, 0, (int)*(long*)size, MPI_BYTE, window);
  MPI_Win_flush(other, window);
}

static void load_in_order(void* size) {
  if (lab_rank != 0) return;
  double sum = 0;
  for (size_t i = 0; i < (size_t) * (long*)size / sizeof(double); ++i) sum += shared[i];
  *(volatile double*)buffer = sum;
}

/* Each address follows from the word before, so that no load begins before the last one has ended. */
static void load_at_random(void* size) {
  if (lab_rank != 0) return;
  const size_t words = (size_t) * (long*)size / sizeof(double);
  size_t at = 0;
  for (size_t i = 0; i < words; ++i) at = (at * 5 + 12345 + (size_t)shared[at]) % words;
  *(volatile double*)buffer = (double)at;
}

static void say(const char* what, long size, double took) {
  if (lab_rank == 0)
    printf("{\"measure\": \"access\", \"what\": \"%s\", \"bytes\": %ld, \"seconds\": %.6g}\n", what, size,
           took);
  fflush(stdout);
}

static void measure_windows(void) {
  char* base;
  MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  memset(base, 0, (size_t)bytes);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  MPI_Barrier(MPI_COMM_WORLD);
  for (long size = 8; size <= bytes; size *= 8) {
    say("get", size, lab_time(seconds, get, &size));
    say("put", size, lab_time(seconds, put, &size));
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

/* Where the last rank shares memory with rank 0. */
static void measure_loads(void) {
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, lab_rank, MPI_INFO_NULL, &node);
  int size;
  MPI_Comm_size(node, &size);
  int together = size == lab_size, all;
  MPI_Allreduce(&together, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (all) {
    MPI_Win shared_window;
    double* base;
    MPI_Aint length;
    int unit;
    MPI_Win_allocate_shared(lab_rank == other ? (MPI_Aint)bytes : 0, sizeof(double), MPI_INFO_NULL, node,
                            &base, &shared_window);
    if (lab_rank == other) memset(base, 0, (size_t)bytes);
    MPI_Win_shared_query(shared_window, other, &length, &unit, &base);
    shared = base;
    MPI_Barrier(node);
    say("loads in order", bytes, lab_time(seconds, load_in_order, &bytes));
    say("loads at random", bytes, lab_time(seconds, load_at_random, &bytes));
    MPI_Win_free(&shared_window);
  }
  MPI_Comm_free(&node);
}

int main(int argc, char** argv) {
  lab_start(&argc, &argv, MPI_THREAD_SINGLE,
            "access: two-sided, one-sided and direct access to data of another rank", kOptions);
  if (bytes < 64 || bytes > 1L << 28 || bytes % 8 != 0)
    lab_fail("--bytes is 64 to 256 MB, and whole words of 8");
  if (lab_size < 2) lab_fail("there is no other rank: start at least two");
  other = lab_size - 1;
  buffer = lab_buffer((size_t)bytes);
  for (long size = 8; size <= bytes; size *= 8) say("two-sided", size, lab_time(seconds, two_sided, &size));
  measure_windows();
  measure_loads();
  free(buffer);
  MPI_Finalize();
  return 0;
}
