/* Jacobi iteration for Laplace's equation on a square, cut into rectangles.   usage: jacobi [N] [ITERATIONS]

   Every rank has a rectangle of the N x N inner points with a halo one point wide. An iteration exchanges the
   halo with up to four neighbours (rows as they lie, columns as a vector datatype) while the inner points are
   updated, then updates the points at the rim. Every 50 iterations all ranks agree on the largest change of a
   point, and stop when there is none any more. On the border u = x + y, which is harmonic, so the error is
   known: it shrinks by at least cos(pi / (N + 1)) per iteration. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kUp, kDown, kLeft, kRight, kDirections };
enum { kLook = 50 }; /* iterations from one look at the change to the next */

static int n, rank, size;
static int rows, columns;           /* of the grid of ranks */
static int first_row, first_column; /* of my rectangle, counted from the border: 1 .. n */
static int height, width;           /* of my rectangle */
static int neighbour[kDirections];
static double *now, *next; /* (height + 2) x (width + 2) */

static size_t at(int i, int j) { return (size_t)i * (width + 2) + j; }
static double solution(int i, int j) { return (double)(first_row - 1 + i + first_column - 1 + j) / (n + 1); }

/* The grid of ranks that is nearest to a square. */
static void place_ranks(void) {
  for (rows = (int)sqrt(size); size % rows != 0; --rows) continue;
  columns = size / rows;
  const int row = rank / columns, column = rank % columns;
  neighbour[kUp] = row > 0 ? rank - columns : MPI_PROC_NULL;
  neighbour[kDown] = row < rows - 1 ? rank + columns : MPI_PROC_NULL;
  neighbour[kLeft] = column > 0 ? rank - 1 : MPI_PROC_NULL;
  neighbour[kRight] = column < columns - 1 ? rank + 1 : MPI_PROC_NULL;
  first_row = row * n / rows + 1;
  height = (row + 1) * n / rows + 1 - first_row;
  first_column = column * n / columns + 1;
  width = (column + 1) * n / columns + 1 - first_column;
}

static void set_up(void) {
  const size_t points = (size_t)(height + 2) * (width + 2);
  now = calloc(points, sizeof *now);
  next = calloc(points, sizeof *next);
  if (now == NULL || next == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < height + 2; ++i)
    for (int j = 0; j < width + 2; ++j) {
      const int row = first_row - 1 + i, column = first_column - 1 + j;
      if (row == 0 || column == 0 || row == n + 1 || column == n + 1)
        now[at(i, j)] = next[at(i, j)] = solution(i, j);
    }
}

static void update(int top, int bottom, int left, int right) {
  for (int i = top; i <= bottom; ++i)
    for (int j = left; j <= right; ++j)
      next[at(i, j)] = 0.25 * (now[at(i - 1, j)] + now[at(i + 1, j)] + now[at(i, j - 1)] + now[at(i, j + 1)]);
}

static void iterate(MPI_Datatype column) {
  MPI_Request requests[2 * kDirections];
  double* const halo[] = {&now[at(0, 1)], &now[at(height + 1, 1)], &now[at(1, 0)], &now[at(1, width + 1)]};
  double* const rim[] = {&now[at(1, 1)], &now[at(height, 1)], &now[at(1, 1)], &now[at(1, width)]};
  const int opposite[] = {kDown, kUp, kRight, kLeft};
  for (int d = 0; d < kDirections; ++d) {
    const int is_row = d == kUp || d == kDown;
    const MPI_Datatype type = is_row ? MPI_DOUBLE : column;
    const int count = is_row ? width : 1;
    MPI_Irecv(halo[d], count, type, neighbour[d], opposite[d], MPI_COMM_WORLD, &requests[2 * d]);
    MPI_Isend(rim[d], count, type, neighbour[d], d, MPI_COMM_WORLD, &requests[2 * d + 1]);
  }
  update(2, height - 1, 2, width - 1);
  MPI_Waitall(2 * kDirections, requests, MPI_STATUSES_IGNORE);
  update(1, 1, 1, width);
  update(height, height, 1, width);
  update(1, height, 1, 1);
  update(1, height, width, width);
  double* const swap = now;
  now = next;
  next = swap;
}

/* By the last iteration. */
static double largest_change(void) {
  double mine = 0, all = 0;
  for (int i = 1; i <= height; ++i)
    for (int j = 1; j <= width; ++j) mine = fmax(mine, fabs(now[at(i, j)] - next[at(i, j)]));
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

static double largest_error(void) {
  double mine = 0, all = 0;
  for (int i = 1; i <= height; ++i)
    for (int j = 1; j <= width; ++j) mine = fmax(mine, fabs(now[at(i, j)] - solution(i, j)));
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  n = argc > 1 ? atoi(argv[1]) : 64;
  const int iterations = argc > 2 ? atoi(argv[2]) : 4 * n * n;
  place_ranks();
  if (n < rows || n < columns) {
    if (rank == 0)
      fprintf(stderr, "jacobi: %d points a side are too few for %d x %d ranks\n", n, rows, columns);
    MPI_Finalize();
    return 2;
  }
  set_up();
  MPI_Datatype column;
  MPI_Type_vector(height, 1, width + 2, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);

  const double before = largest_error();
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  int done = 0;
  while (done < iterations) {
    iterate(column);
    ++done;
    if (done % kLook == 0 && largest_change() == 0) break;
  }
  const double seconds = MPI_Wtime() - start;
  const double after = largest_error();
  if (rank == 0)
    printf(
        "%d x %d points on %d x %d ranks: error %.3g before, %.3g after %d iterations; %.1f microseconds "
        "each\n",
        n, n, rows, columns, before, after, done, 1e6 * seconds / done);

  MPI_Type_free(&column);
  free(now);
  free(next);
  MPI_Finalize();
  return after <= 2 * before * pow(cos(acos(-1.0) / (n + 1)), done) + 1e-12 ? 0 : 1;
}
