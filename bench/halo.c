/* Halo exchange of a stencil in one dimension: every rank has some rows of a field, sends its first and its
 * last one to its neighbours, and computes new rows from its own and from what it got. The last rank has the
 * first one as a neighbour (periodic, so that all ranks do the same). So what is sent was written just
 * before, and what came is read, as in programs that compute. `bytes` is the size of a row. With `allreduce`
 * the ranks agree after each step on how much has changed, as iterative solvers do. */
#include <math.h>

#include "measure.h"

enum { kRows = 4, kLongest = 64 << 10 };

/* Row 0 and row kRows + 1 are the neighbours'. */
static double *field, *next;

static void exchange(size_t bytes) {
  const int left = (rank + size - 1) % size, right = (rank + 1) % size, count = (int)bytes;
  const size_t row = bytes / sizeof *field;
  MPI_Request requests[4];
  MPI_Irecv(field, count, MPI_BYTE, left, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(field + (kRows + 1) * row, count, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(field + kRows * row, count, MPI_BYTE, right, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(field + row, count, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/* The new field; returns how much has changed. */
static double step(size_t bytes) {
  const size_t row = bytes / sizeof *field, end = (kRows + 1) * row;
  double change = 0;
  for (size_t i = row; i < end; ++i) {
    next[i] = 0.25 * field[i - row] + 0.5 * field[i] + 0.25 * field[i + row];
    change += fabs(next[i] - field[i]);
  }
  double* const old = field;
  field = next;
  next = old;
  return change;
}

static void halo(int iterations, size_t bytes) {
  volatile double changed = 0; /* or nothing would have to be computed */
  for (int i = 0; i < iterations; ++i) {
    exchange(bytes);
    changed = step(bytes);
  }
  (void)changed;
}

static void halo_allreduce(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    exchange(bytes);
    const double mine = step(bytes);
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (!(all >= 0)) MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

int main(int argc, char** argv) {
  measure_init(&argc, &argv);
  const size_t sizes[] = {64, 1 << 10, kLongest};
  field = new_buffer((kRows + 2) * kLongest);
  next = new_buffer((kRows + 2) * kLongest);
  for (size_t i = 0; i < (kRows + 2) * kLongest / sizeof *field; ++i) field[i] = next[i] = (double)((i + (size_t)rank) % 7);
  for (int i = 0; i < 3; ++i) measure("halo", sizes[i], 1, halo);
  for (int i = 0; i < 3; ++i) measure("halo-allreduce", sizes[i], 1, halo_allreduce);
  free(field);
  free(next);
  MPI_Finalize();
  return 0;
}
