/* Block matrix product C = A B by broadcast (PTMPI, 004, section 4). The matrices are cut into strips of
 * `block` rows; strip s belongs to rank s % ranks, in A, B and C alike. In each step the owner of the next
 * strip of B broadcasts it, and every rank adds what it gives to its rows of C. The elements are whole
 * numbers with a closed form for their product, so C is checked exactly. With threads, the rows of a rank are
 * divided among them. */
#include "lab.h"

static long n = 512, block = 32, repetitions = 1;
static const struct LabOption kOptions[] = {
    {"n", "rows and columns", &n, NULL, NULL},
    {"block", "rows of a strip", &block, NULL, NULL},
    {"repetitions", "products; the shortest time counts", &repetitions, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static long my_strips;
static double *a, *b, *c, *strip;

static double product_at(long i, long j) { /* sum over k of (i - k)(k + j) */
  const double sum = 0.5 * (double)n * (double)(n - 1),
               squares = (double)n * (double)(n - 1) * (double)(2 * n - 1) / 6;
  return (double)(i - j) * sum + (double)i * (double)j * (double)n - squares;
}

static long global_row(long local) { return (local / block * lab_size + lab_rank) * block + local % block; }

static void fill(void) {
  my_strips = n / block / lab_size + (lab_rank < n / block % lab_size);
  const size_t bytes = (size_t)(my_strips * block) * (size_t)n * sizeof(double);
  a = lab_buffer(bytes);
  b = lab_buffer(bytes);
  c = lab_buffer(bytes);
  strip = lab_buffer((size_t)(block * n) * sizeof(double));
  for (long row = 0; row < my_strips * block; ++row)
    for (long column = 0; column < n; ++column) {
      a[row * n + column] = (double)(global_row(row) - column);
      b[row * n + column] = (double)(global_row(row) + column);
    }
}

static void add_product(const double* from, long first) {
#pragma omp parallel for schedule(static)
  for (long row = 0; row < my_strips * block; ++row) {
    double* restrict to = c + row * n;
    for (long k = 0; k < block; ++k) {
      const double factor = a[row * n + first + k];
      const double* restrict other = from + k * n;
      for (long column = 0; column < n; ++column) to[column] += factor * other[column];
    }
  }
}

/* Seconds of a product, and in `waited` those of its broadcasts. */
static double multiply(double* waited) {
  memset(c, 0, (size_t)(my_strips * block) * (size_t)n * sizeof(double));
  *waited = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (long k = 0; k < n / block; ++k) {
    const int owner = (int)(k % lab_size);
    double* from = lab_rank == owner ? b + k / lab_size * block * n : strip;
    const double before = MPI_Wtime();
    MPI_Bcast(from, (int)(block * n), MPI_DOUBLE, owner, MPI_COMM_WORLD);
    *waited += MPI_Wtime() - before;
    add_product(from, k * block);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - begin;
}

int main(int argc, char** argv) {
  lab_start(&argc, &argv, MPI_THREAD_FUNNELED, "matmul: block matrix product by broadcast", kOptions);
  if (n < 1 || n > 16384 || block < 1 || block > n || n % block != 0 || repetitions < 1)
    lab_fail("--block must divide --n, which is at most 16384; --repetitions is at least 1");
  fill();
  double best = 0, waited = 0;
  for (long i = 0; i < repetitions; ++i) {
    double waits, seconds = multiply(&waits);
    if (i == 0 || seconds < best) {
      best = seconds;
      waited = waits;
    }
  }
  for (long row = 0; row < my_strips * block; ++row)
    for (long column = 0; column < n; ++column)
      if (c[row * n + column] != product_at(global_row(row), column)) lab_fail("the product is wrong");
  double all = 0;
  MPI_Reduce(&waited, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (lab_rank == 0)
    printf(
        "{\"measure\": \"matmul\", \"n\": %ld, \"block\": %ld, \"ranks\": %d, \"seconds\": %.6g, "
        "\"communication\": %.6g, \"mflops\": %.6g}\n",
        n, block, lab_size, best, all / lab_size, 2e-6 * (double)n * (double)n * (double)n / best);
  free(a);
  free(b);
  free(c);
  free(strip);
  MPI_Finalize();
  return 0;
}
