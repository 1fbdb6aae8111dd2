/* How every program of this folder measures: the number of iterations is doubled until a batch takes long
   enough to be timed well (argument 1: seconds, default 0.1), so that one program suits a library that needs
   a microsecond and one that needs a time slice. Sizes above argument 2 (bytes; default: none) are left out.
   Rank 0 prints a line `NAME BYTES SECONDS`, seconds for one operation. */
#ifndef CLUMP_BENCH_MEASURE_H
#define CLUMP_BENCH_MEASURE_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static double target_seconds = 0.1;
static size_t largest = (size_t)-1;

static inline void measure_init(int* argc, char*** argv) {
  int already;
  MPI_Initialized(&already);
  if (!already) MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (*argc > 1) target_seconds = atof((*argv)[1]);
  if (*argc > 2) largest = strtoull((*argv)[2], NULL, 10);
}

/* As programs do that compute: of whole doubles. */
static inline void write_all(double* data, size_t bytes, int turn) {
  for (size_t i = 0; i < bytes / sizeof *data; ++i) data[i] = (double)(i + (size_t)turn);
}

static inline void read_all(const double* data, size_t bytes) {
  double sum = 0;
  for (size_t i = 0; i < bytes / sizeof *data; ++i) sum += data[i];
  volatile double seen = sum; /* or nothing would be read */
  (void)seen;
}

/* A buffer whose pages are all there. */
static inline void* new_buffer(size_t bytes) {
  void* buffer = malloc(bytes);
  if (buffer == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  memset(buffer, 1, bytes);
  return buffer;
}

/* All ranks call this; operations_per_iteration is what one iteration of a batch counts for. */
static inline void measure(const char* name, size_t bytes, double operations_per_iteration,
                           void (*batch)(int iterations, size_t bytes)) {
  if (bytes > largest) return;
  batch(1, bytes);
  for (int iterations = 1;; iterations *= 2) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    batch(iterations, bytes);
    double seconds = MPI_Wtime() - start;
    MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (seconds < target_seconds && iterations < 1 << 28) continue;
    if (rank == 0) {
      printf("%s %zu %.6g\n", name, bytes, seconds / iterations / operations_per_iteration);
      fflush(stdout);
    }
    return;
  }
}

#endif
