/* Allreduce of all sizes (Smith and Bull, 001, Figure 2): by the library, which libclump_twostage.so may
 * stand before, or in two stages by OpenMP and MPI: threads reduce private variables through a shared array,
 * and the master thread of each process calls MPI. The sum is checked. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "lab.h"

#ifdef _OPENMP
#include <omp.h>
#endif

static long least = 8, most = 4L << 20;
static double seconds = 0.05;
static const char* how = "library";
static const struct LabOption kOptions[] = {
    {"least", "bytes, from here", &least, NULL, NULL},
    {"most", "to here, eight times as many each time", &most, NULL, NULL},
    {"seconds", "how long each measurement takes", NULL, &seconds, NULL},
    {"how", "library or threads", NULL, NULL, &how},
    {NULL, NULL, NULL, NULL, NULL}};

static double *from, *to, *parts;
static int threads = 1;

static void by_library(void* count) {
  MPI_Allreduce(from, to, *(int*)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Each thread brings its own values to its part of a shared array; they are summed there; then MPI. */
static void by_threads(void* given) {
  const int count = *(int*)given;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
  {
    double* mine = parts + (size_t)omp_get_thread_num() * (size_t)count;
    memcpy(mine, from, (size_t)count * sizeof(double));
#pragma omp barrier
#pragma omp master
    {
      for (int i = 0; i < count; ++i) {
        double sum = 0;
        for (int thread = 0; thread < threads; ++thread)
          sum += parts[(size_t)thread * (size_t)count + (size_t)i];
        to[i] = sum;
      }
      MPI_Allreduce(MPI_IN_PLACE, to, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
#pragma omp barrier
  }
#else
  by_library(given);
#endif
}

static void check(int count) {
  for (int i = 0; i < count; ++i) {
    const double ranks = lab_size, each = threads;
    if (to[i] != each * (ranks * i + 0.5 * ranks * (ranks - 1))) lab_fail("allreduce gave a wrong sum");
  }
}

int main(int argc, char** argv) {
  lab_start(&argc, &argv, MPI_THREAD_FUNNELED,
            "allreduce: by the library, or in two stages by OpenMP and MPI", kOptions);
  const int by = strcmp(how, "threads") == 0;
  if (!by && strcmp(how, "library") != 0) lab_fail("--how is library or threads");
  if (least < 8 || most < least || most > 1L << 28) lab_fail("--least or --most is out of range");
#ifdef _OPENMP
  if (by) threads = omp_get_max_threads();
#endif
  if (by && lab_threads_provided < MPI_THREAD_FUNNELED) lab_fail("the library gives no MPI_THREAD_FUNNELED");
  from = lab_buffer((size_t)most);
  to = lab_buffer((size_t)most);
  parts = lab_buffer((size_t)most * (size_t)threads);
  MPI_Barrier(MPI_COMM_WORLD);
  const int* staged = dlsym(RTLD_DEFAULT, "clump_twostage_communicators");
  for (long bytes = least; bytes <= most; bytes *= 8) {
    int count = (int)(bytes / 8);
    for (int i = 0; i < count; ++i) from[i] = i + lab_rank;
    const double took = lab_time(seconds, by ? by_threads : by_library, &count);
    check(count);
    if (lab_rank == 0)
      printf(
          "{\"measure\": \"allreduce\", \"how\": \"%s\", \"staged\": %d, \"ranks\": %d, \"threads\": %d, "
          "\"bytes\": %ld, \"seconds\": %.6g}\n",
          how, staged != NULL && *staged > 0, lab_size, threads, bytes, took);
    fflush(stdout);
  }
  free(from);
  free(to);
  free(parts);
  MPI_Finalize();
  return 0;
}
