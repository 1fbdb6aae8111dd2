/* A Jacobi iteration in the masteronly style: OpenMP sweeps, and in between the master thread exchanges the
 * halos of all four sides with MPI, while the other threads have nothing to do. Halos are narrow, for one
 * sweep, or wide, so that one exchange serves as many sweeps (what a program does whose sweeps are cheap);
 * those to the left and to the right are columns, which the library has to gather. The domain is periodic: a
 * rank alone is its own neighbour. Prints the time of an exchange with the bytes that a rank sends in it,
 * of its sweeps, and of both: where ranks share cores, a rank waits in its exchange for the sweeps of others.
 */
#include "measure.h"

enum { kWide = 64, kSweeps = 8, kLeastSteps = 10 };

static int halo;
static int inner, width;   /* points of a rank in each direction, without halos and with them */
static double *now, *next; /* width * width points */
static int north, south, west, east;
static MPI_Datatype columns; /* as wide as a halo, without its corners */

static double* point(double* field, int row, int column) { return field + (size_t)row * width + column; }

static void exchange(double* field) {
  MPI_Request requests[4];
  const int rows = halo * width;
  MPI_Irecv(point(field, halo, 0), 1, columns, west, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(point(field, halo, halo + inner), 1, columns, east, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(point(field, halo, inner), 1, columns, east, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(point(field, halo, halo), 1, columns, west, 1, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  /* Rows from end to end, with the corners that came from the sides. */
  MPI_Irecv(point(field, 0, 0), rows, MPI_DOUBLE, north, 2, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(point(field, halo + inner, 0), rows, MPI_DOUBLE, south, 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(point(field, inner, 0), rows, MPI_DOUBLE, south, 2, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(point(field, halo, 0), rows, MPI_DOUBLE, north, 3, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void sweep(int margin) {
#pragma omp parallel for schedule(static)
  for (int row = margin; row < width - margin; ++row)
    for (int column = margin; column < width - margin; ++column)
      *point(next, row, column) = 0.25 * (*point(now, row - 1, column) + *point(now, row + 1, column) +
                                          *point(now, row, column - 1) + *point(now, row, column + 1));
  double* const swap = now;
  now = next;
  next = swap;
}

static void find_neighbours(void) {
  int dimensions[2] = {0, 0};
  const int periodic[2] = {1, 1};
  MPI_Comm grid;
  MPI_Dims_create(size, 2, dimensions);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dimensions, periodic, 0, &grid);
  MPI_Cart_shift(grid, 0, 1, &north, &south);
  MPI_Cart_shift(grid, 1, 1, &west, &east);
  MPI_Comm_free(&grid);
}

static void run(int points, int halos, int sweeps) {
  halo = halos;
  inner = points;
  width = inner + 2 * halo;
  const size_t bytes = 2 * sizeof(double) * (size_t)halo * ((size_t)inner + (size_t)width);
  if (bytes > largest) return;
  now = new_buffer((size_t)width * width * sizeof(double));
  next = new_buffer((size_t)width * width * sizeof(double));
  MPI_Type_vector(inner, halo, width, MPI_DOUBLE, &columns);
  MPI_Type_commit(&columns);
  double exchanging = 0, sweeping = 0;
  int steps = -1, more = 1; /* the first one does not count */
  for (; more; ++steps) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    exchange(now);
    MPI_Barrier(MPI_COMM_WORLD);
    const double middle = MPI_Wtime();
    for (int i = 1; i <= sweeps; ++i) sweep(i);
    if (steps >= 0) {
      exchanging += middle - begin;
      sweeping += MPI_Wtime() - middle;
      more = steps < kLeastSteps - 1 || exchanging + sweeping < target_seconds;
      MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
  }
  if (rank == 0) {
    printf("masteronly_exchange %zu %.6g\n", bytes, exchanging / steps);
    printf("masteronly_sweeps %zu %.6g\n", bytes, sweeping / steps);
    printf("masteronly_step %zu %.6g\n", bytes, (exchanging + sweeping) / steps);
  }
  MPI_Type_free(&columns);
  free(now);
  free(next);
}

int main(int argc, char** argv) {
  measure_init(&argc, &argv);
  find_neighbours();
  for (int points = 256; points <= 4096; points *= 4) run(points, 1, 1);
  for (int points = 512; points <= 4096; points *= 2) run(points, kWide, kSweeps);
  MPI_Finalize();
  return 0;
}
