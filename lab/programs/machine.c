/* What Rabenseifner 2003 (000), Table 1 sets beside the bandwidth of messages: memory bandwidth by STREAM's
 * triad, and peak FLOPS by a loop of fused multiply-adds that stay in registers, on all cores at once: one
 * rank on each. And what a parallel region of OpenMP and a barrier in it cost, with as many
 * threads as OMP_NUM_THREADS says. */
#include "lab.h"

#ifdef _OPENMP
#include <omp.h>
#endif

static long megabytes = 96;
static double seconds = 0.2;
static const struct LabOption kOptions[] = {
    {"megabytes", "of the three arrays of the triad, for each rank; four times the last cache is enough",
     &megabytes, NULL, NULL},
    {"seconds", "how long each measurement takes", NULL, &seconds, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

#if defined(__AVX512F__)
typedef double Vector __attribute__((vector_size(64)));
#elif defined(__AVX__)
typedef double Vector __attribute__((vector_size(32)));
#else
typedef double Vector __attribute__((vector_size(16)));
#endif

enum { kChains = 10, kSteps = 4096 }; /* independent chains hide the latency of an operation */

static size_t length;
static double *a, *b, *c;

static void triad(void* unused) {
  (void)unused;
  double* restrict to = a;
  const double* restrict first = b, * restrict second = c;
  for (size_t i = 0; i < length; ++i) to[i] = first[i] + 3.0 * second[i];
}

static void multiply_add(void* sink) {
  Vector sums[kChains], factor, addend;
  for (int i = 0; i < (int)(sizeof factor / sizeof(double)); ++i) {
    factor[i] = 0.999999;
    addend[i] = 1e-6;
  }
  for (int i = 0; i < kChains; ++i) sums[i] = addend * (double)(i + 1);
  for (int step = 0; step < kSteps; ++step)
#pragma GCC unroll 10
    for (int i = 0; i < kChains; ++i) sums[i] = sums[i] * factor + addend;
  double total = 0;
  for (int i = 0; i < kChains; ++i) total += sums[i][0];
  *(volatile double*)sink = total;
}

/* Threads are woken and wait for each other, and write nothing that they share: its cache line would go to and fro. */
static void region(void* unused) {
  (void)unused;
#ifdef _OPENMP
#pragma omp parallel
#endif
  __asm__ volatile("" ::: "memory");
}

enum { kBarriers = 64 };

static void barriers(void* unused) {
  (void)unused;
#ifdef _OPENMP
#pragma omp parallel
  for (int i = 0; i < kBarriers; ++i) {
#pragma omp barrier
  }
#endif
}

static void say(const char* what, double took, double amount, const char* unit) {
  if (lab_rank == 0)
    printf(
        "{\"measure\": \"machine\", \"what\": \"%s\", \"ranks\": %d, \"seconds\": %.6g, \"amount\": %.6g, "
        "\"unit\": \"%s\"}\n",
        what, lab_size, took, amount, unit);
  fflush(stdout);
}

int main(int argc, char** argv) {
  lab_start(&argc, &argv, MPI_THREAD_FUNNELED,
            "machine: memory bandwidth, peak FLOPS and the cost of a parallel region", kOptions);
  if (megabytes < 1 || megabytes > 1 << 16) lab_fail("--megabytes is out of range");
  double sink;
  length = (size_t)megabytes * 1000000 / 3 / sizeof(double);
  a = lab_buffer(length * sizeof(double));
  b = lab_buffer(length * sizeof(double));
  c = lab_buffer(length * sizeof(double));
  const double bytes = 3.0 * sizeof(double) * (double)length * lab_size;
  say("triad", lab_time(seconds, triad, NULL), bytes, "B");
  const double operations = 2.0 * kChains * kSteps * (sizeof(Vector) / sizeof(double)) * lab_size;
  say("fma", lab_time(seconds, multiply_add, &sink), operations, "FLOP");
  int threads = 1;
#ifdef _OPENMP
  threads = omp_get_max_threads();
#endif
  if (threads > 1) {
    say("region", lab_time(seconds, region, NULL), threads, "threads");
    say("barrier", lab_time(seconds, barriers, NULL) / kBarriers, threads, "threads");
  }
  free(a);
  free(b);
  free(c);
  MPI_Finalize();
  return 0;
}
