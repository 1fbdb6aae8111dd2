/* The reducing collectives: every root, several sizes (each algorithm is met), in place, user operations that
   do not commute, on a type with gaps, with int and with MPI_Count lengths. */
#include "buffers.h"
#include "forms.h"

static int rank, size;

/* Operands are 2 x 2 matrices over the numbers modulo a prime: multiplication is associative and does not
 * commute. */
enum { kPrime = 10007 };
typedef struct {
  int m[4];
} matrix;

static MPI_Datatype matrix_type; /* the four ints, and a gap behind */
typedef struct {
  matrix data;
  int gap[2];
} cell;

static matrix product(matrix a, matrix b) {
  matrix c;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) c.m[2 * i + j] = (a.m[2 * i] * b.m[j] + a.m[2 * i + 1] * b.m[2 + j]) % kPrime;
  return c;
}

static void multiply(void* in, void* inout, int* length, MPI_Datatype* type) {
  cell *left = in, *right = inout;
  CHECK(*type == matrix_type);
  for (int i = 0; i < *length; ++i) right[i].data = product(left[i].data, right[i].data);
}

static void multiply_large(void* in, void* inout, MPI_Count* length, MPI_Datatype* type) {
  int count = (int)*length;
  multiply(in, inout, &count, type);
}

static matrix operand(int of_rank, int i) {
  const matrix m = {{1 + of_rank, 2 + i % 50, 3 + of_rank * i % 70, 5 + of_rank}};
  return m;
}

/* The product of ranks first to last's i-th operands. */
static matrix reduced(int first, int last, int i) {
  matrix m = operand(first, i);
  for (int r = first + 1; r <= last; ++r) m = product(m, operand(r, i));
  return m;
}

static cell* cells(int count) {
  cell* c = malloc((size_t)(count + 1) * sizeof(cell));
  for (int i = 0; i <= count; ++i)
    for (int j = 0; j < 6; ++j) ((int*)&c[i])[j] = kGuard;
  return c;
}

static cell* operands(int count) {
  cell* c = cells(count);
  for (int i = 0; i < count; ++i) c[i].data = operand(rank, i);
  return c;
}

/* `count` results that begin at element `first`, and untouched gaps. Frees. */
static void expect(cell* actual, int count, int first, int first_rank, int last_rank, const char* what) {
  for (int i = 0; i <= count; ++i) {
    matrix wanted = {{kGuard, kGuard, kGuard, kGuard}};
    if (i < count && first_rank >= 0) wanted = reduced(first_rank, last_rank, first + i);
    if (memcmp(&actual[i].data, &wanted, sizeof wanted) != 0 || actual[i].gap[0] != kGuard ||
        actual[i].gap[1] != kGuard) {
      CHECK_FAILED("%s: element %d of %d is wrong (%d %d %d %d instead of %d %d %d %d)", what, i, count,
                   actual[i].data.m[0], actual[i].data.m[1], actual[i].data.m[2], actual[i].data.m[3],
                   wanted.m[0], wanted.m[1], wanted.m[2], wanted.m[3]);
      break;
    }
  }
  free(actual);
}

static void test_ordered(MPI_Op op, int count, int in_place) {
  for (int root = 0; root<size; root += size> 4 && count > 100 ? size - 2 : 1) {
    cell *in = operands(count), *out = cells(count);
    const int replaces = rank == root && in_place;
    CHECK_OK(form_reduce(replaces ? MPI_IN_PLACE : in,
                         replaces       ? in
                         : rank == root ? out
                                        : NULL,
                         count, matrix_type, op, root, MPI_COMM_WORLD));
    if (rank == root) {
      expect(in_place ? in : out, count, 0, 0, size - 1, "reduce");
      free(in_place ? out : in);
    } else {
      expect(in, count, 0, rank, rank, "operand of reduce");
      free(out);
    }
  }

  cell *in = operands(count), *out = cells(count);
  CHECK_OK(form_allreduce(in_place ? MPI_IN_PLACE : in, in_place ? in : out, count, matrix_type, op,
                          MPI_COMM_WORLD));
  expect(in_place ? in : out, count, 0, 0, size - 1, "allreduce");
  free(in_place ? out : in);

  in = operands(count), out = cells(count);
  CHECK_OK(
      form_scan(in_place ? MPI_IN_PLACE : in, in_place ? in : out, count, matrix_type, op, MPI_COMM_WORLD));
  expect(in_place ? in : out, count, 0, 0, rank, "scan");
  free(in_place ? out : in);

  in = operands(count), out = cells(count);
  CHECK_OK(
      form_exscan(in_place ? MPI_IN_PLACE : in, in_place ? in : out, count, matrix_type, op, MPI_COMM_WORLD));
  if (rank > 0) expect(in_place ? in : out, count, 0, 0, rank - 1, "exscan");
  if (rank == 0) free(in_place ? in : out);
  free(in_place ? out : in);
}

static void test_ordered_scatter(MPI_Op op, int count, int in_place) {
  /* In place the result lies at the beginning of the operands, the rest of which keeps its values or not. */
  cell *in = operands(size * count), *out = cells(count);
  CHECK_OK(form_reduce_scatter_block(in_place ? MPI_IN_PLACE : in, in_place ? in : out, count, matrix_type,
                                     op, MPI_COMM_WORLD));
  if (in_place) memcpy(out, in, count * sizeof(cell));
  expect(out, count, rank * count, 0, size - 1, "reduce_scatter_block");
  free(in);

  int *counts = malloc(size * sizeof(int)), all = 0, first = 0;
  for (int r = 0; r < size; ++r) {
    counts[r] = r % 3 == 1 ? 0 : count + r;
    if (r < rank) first += counts[r];
    all += counts[r];
  }
  in = operands(all), out = cells(counts[rank]);
  CHECK_OK(form_reduce_scatter(in_place ? MPI_IN_PLACE : in, in_place ? in : out, counts, matrix_type, op,
                               MPI_COMM_WORLD));
  if (in_place) memcpy(out, in, counts[rank] * sizeof(cell));
  expect(out, counts[rank], first, 0, size - 1, "reduce_scatter");
  free(in);
  free(counts);
}

/* Sums of long long, which commute: the algorithms for much data. */
static long long term(int of_rank, int i) { return of_rank * 1000003LL + i * 17LL - 5; }
static long long sum(int last_rank, int i) {
  return 1000003LL * last_rank * (last_rank + 1) / 2 + (last_rank + 1) * (i * 17LL - 5);
}

static long long* terms(int count) {
  long long* t = malloc((size_t)(count + 1) * sizeof *t);
  for (int i = 0; i <= count; ++i) t[i] = term(rank, i);
  t[count] = kGuard;
  return t;
}

static void expect_sums(long long* actual, int count, int first, int last_rank, const char* what) {
  CHECK_EQ(actual[count], kGuard);
  for (int i = 0; i < count; ++i)
    if (actual[i] != sum(last_rank, first + i)) {
      CHECK_FAILED("%s: sum %d of %d is %lld instead of %lld", what, i, count, actual[i],
                   sum(last_rank, first + i));
      break;
    }
  free(actual);
}

static void test_sums(int count, int in_place) {
  for (int root = 0; root<size; root += size> 4 ? size - 2 : 1) {
    long long *in = terms(count), *out = terms(count);
    const int replaces = rank == root && in_place;
    CHECK_OK(form_reduce(replaces ? MPI_IN_PLACE : in,
                         replaces       ? in
                         : rank == root ? out
                                        : NULL,
                         count, MPI_LONG_LONG, MPI_SUM, root, MPI_COMM_WORLD));
    if (rank == root) expect_sums(in_place ? in : out, count, 0, size - 1, "reduce");
    if (rank != root) free(in_place ? in : out);
    free(in_place ? out : in);
  }
  long long *in = terms(count), *out = terms(count);
  CHECK_OK(form_allreduce(in_place ? MPI_IN_PLACE : in, in_place ? in : out, count, MPI_LONG_LONG, MPI_SUM,
                          MPI_COMM_WORLD));
  expect_sums(in_place ? in : out, count, 0, size - 1, "allreduce");
  free(in_place ? out : in);

  in = terms(count), out = terms(count);
  CHECK_OK(form_scan(in_place ? MPI_IN_PLACE : in, in_place ? in : out, count, MPI_LONG_LONG, MPI_SUM,
                     MPI_COMM_WORLD));
  expect_sums(in_place ? in : out, count, 0, rank, "scan");
  free(in_place ? out : in);

  in = terms(size * count), out = terms(count);
  CHECK_OK(form_reduce_scatter_block(in_place ? MPI_IN_PLACE : in, in_place ? in : out, count, MPI_LONG_LONG,
                                     MPI_SUM, MPI_COMM_WORLD));
  if (in_place) memcpy(out, in, count * sizeof *in);
  expect_sums(out, count, rank * count, size - 1, "reduce_scatter_block");
  free(in);
}

static void test_local(MPI_Op op) {
  cell *in = cells(3), *inout = cells(3);
  for (int i = 0; i < 3; ++i) {
    in[i].data = operand(rank, i);
    inout[i].data = operand(rank + 1, i);
  }
  CHECK_OK(MPI_Reduce_local(in, inout, 3, matrix_type, op));
  expect(inout, 3, 0, rank, rank + 1, "reduce_local");
  free(in);
}

/* A function that commutes, on whole ranges: MPI_Op_create with commute = 1. */
static void larger(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; ++i)
    if (((int*)in)[i] > ((int*)inout)[i]) ((int*)inout)[i] = ((int*)in)[i];
}

static void test_commuting(void) {
  MPI_Op op;
  int commutes = 0, all[2];
  const int mine[2] = {rank, -rank};
  CHECK_OK(MPI_Op_create(larger, 1, &op));
  CHECK_OK(MPI_Op_commutative(op, &commutes));
  CHECK_EQ(commutes, 1);
  CHECK_OK(form_allreduce(mine, all, 2, MPI_INT, op, MPI_COMM_WORLD));
  CHECK_EQ(all[0], size - 1);
  CHECK_EQ(all[1], 0);
  CHECK_OK(MPI_Op_free(&op));
  CHECK(op == MPI_OP_NULL);
  CHECK_OK(MPI_Op_commutative(MPI_MAXLOC, &commutes));
  CHECK_EQ(commutes, 1);
}

static void test_form(void) {
  static const int counts[] = {0, 1, 5, 400, 3000};
  static const int sum_counts[] = {0, 1, 15, 16, 17, 1000, 70001};
  MPI_Op ops[2];
  CHECK_OK(MPI_Op_create(multiply, 0, &ops[0]));
  CHECK_OK(MPI_Op_create_c(multiply_large, 0, &ops[1]));
  for (int o = 0; o < 2; ++o) {
    int commutes = 1;
    CHECK_OK(MPI_Op_commutative(ops[o], &commutes));
    CHECK_EQ(commutes, 0);
    test_local(ops[o]);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; ++c)
      for (int in_place = 0; in_place < 2; ++in_place) {
        test_ordered(ops[o], counts[c], in_place);
        test_ordered_scatter(ops[o], size > 4 && counts[c] > 1000 ? 600 : counts[c], in_place);
      }
    CHECK_OK(MPI_Op_free(&ops[o]));
  }
  for (size_t c = 0; c < sizeof sum_counts / sizeof sum_counts[0]; ++c)
    for (int in_place = 0; in_place < 2; ++in_place)
      test_sums(size > 4 && sum_counts[c] > 50000 ? 20000 : sum_counts[c], in_place);
  test_commuting();
}

int main(int argc, char** argv) {
  MPI_Datatype four_ints;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Type_contiguous(4, MPI_INT, &four_ints);
  MPI_Type_create_resized(four_ints, 0, sizeof(cell), &matrix_type);
  MPI_Type_commit(&matrix_type);
  for (form = kBlocking; form < kForms; ++form) test_form();
  MPI_Type_free(&matrix_type);
  MPI_Type_free(&four_ints);
  MPI_Finalize();
  return check_result();
}
