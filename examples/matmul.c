/* Block matrix product C = A B by broadcast.                              usage: matmul [N] [BLOCK]

   The matrices are cut into horizontal strips of BLOCK rows, and strip s belongs to rank s % size, in A, B
   and C alike. In step k the owner of strip k of B broadcasts it, and every rank adds  A(its rows, columns of
   strip k) * strip k  to its strips of C. The elements of A and B are whole numbers with a closed form for
   their product, so C is checked exactly. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Ordinary globals: each rank works on its own. */
static int n, block, rank, size;
static int my_strips;     /* how many strips are mine */
static double *a, *b, *c; /* my strips, one after the other: my_strips * block rows of n */
static double* strip;     /* the strip of B that is being broadcast */

static double a_at(int i, int k) { return i - k; }
static double b_at(int k, int j) { return k + j; }

/* Sum over k of (i - k)(k + j). */
static double product_at(int i, int j) {
  const double sum = 0.5 * n * (n - 1), squares = (double)n * (n - 1) * (2 * n - 1) / 6;
  return (i - j) * sum + (double)i * j * n - squares;
}

static int global_row(int local) { return (local / block * size + rank) * block + local % block; }

static double* new_matrix(int rows) {
  double* m = calloc((size_t)rows * n + 1, sizeof *m);
  if (m == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return m;
}

static void set_up(void) {
  const int strips = n / block;
  my_strips = strips / size + (rank < strips % size);
  const int rows = my_strips * block;
  a = new_matrix(rows);
  b = new_matrix(rows);
  c = new_matrix(rows);
  strip = new_matrix(block);
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < n; ++j) {
      a[(size_t)r * n + j] = a_at(global_row(r), j);
      b[(size_t)r * n + j] = b_at(global_row(r), j);
    }
}

/* c += a(:, first .. first + block) * from */
static void add_product(const double* from, int first) {
  for (int r = 0; r < my_strips * block; ++r) {
    double* restrict row = c + (size_t)r * n;
    for (int k = 0; k < block; ++k) {
      const double factor = a[(size_t)r * n + first + k];
      const double* restrict other = from + (size_t)k * n;
      for (int j = 0; j < n; ++j) row[j] += factor * other[j];
    }
  }
}

static void multiply(void) {
  for (int k = 0; k < n / block; ++k) {
    const int owner = k % size;
    double* from = rank == owner ? b + (size_t)(k / size) * block * n : strip;
    MPI_Bcast(from, block * n, MPI_DOUBLE, owner, MPI_COMM_WORLD);
    add_product(from, k * block);
  }
}

static long count_wrong(void) {
  long wrong = 0;
  for (int r = 0; r < my_strips * block; ++r)
    for (int j = 0; j < n; ++j) wrong += c[(size_t)r * n + j] != product_at(global_row(r), j);
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  n = argc > 1 ? atoi(argv[1]) : 1024;
  block = argc > 2 ? atoi(argv[2]) : 32;
  if (n < 1 || block < 1 || n % block != 0) {
    if (rank == 0) fprintf(stderr, "usage: matmul [N] [BLOCK], where N is a multiple of BLOCK\n");
    MPI_Finalize();
    return 2;
  }
  set_up();

  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  multiply();
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - start;

  long wrong = count_wrong(), all_wrong = 0;
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%5s %6s %6s %9s %8s  %s\n", "ranks", "n", "block", "seconds", "MFLOPS", "result");
    printf("%5d %6d %6d %9.3f %8.0f  %s\n", size, n, block, seconds, 2.0 * n * n * n / seconds / 1e6,
           all_wrong == 0 ? "exact" : "WRONG");
  }

  free(a);
  free(b);
  free(c);
  free(strip);
  MPI_Finalize();
  return all_wrong != 0;
}
