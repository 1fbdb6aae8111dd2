/* Partitions of derived datatypes, which may differ between the sides as long as the bytes agree: a partition
 * may end in the middle of an element of the other side. */
#include "check.h"

static int rank, size, right, left;

static double element(int from, int round, int i) { return from * 1e6 + round * 1e5 + i; }

/* Columns of a matrix into rows, and the other way round. */
static void transposed(int rows, int columns) {
  double* out = calloc(rows * columns, sizeof(double));
  double* in = calloc(rows * columns, sizeof(double));
  MPI_Datatype column, columns_type;
  MPI_Request requests[2];
  MPI_Type_vector(rows, 1, columns, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, sizeof(double), &columns_type);
  MPI_Type_commit(&columns_type);
  MPI_Type_free(&column);
  CHECK_OK(
      MPI_Psend_init(out, columns, 1, columns_type, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
  CHECK_OK(
      MPI_Precv_init(in, rows, columns, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
  MPI_Type_free(&columns_type); /* the requests keep it */
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < rows * columns; ++i) out[i] = element(rank, round, i), in[i] = -1;
    CHECK_OK(MPI_Startall(2, requests));
    for (int c = 0; c < columns; ++c) CHECK_OK(MPI_Pready((c * 5 + round) % columns, requests[0]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int c = 0; c < columns; ++c)
      for (int r = 0; r < rows; ++r)
        if (in[c * rows + r] != element(left, round, r * columns + c)) {
          CHECK_EQ(in[c * rows + r], element(left, round, r * columns + c));
          r = rows, c = columns;
        }
  }
  for (int i = 0; i < 2; ++i) CHECK_OK(MPI_Request_free(&requests[i]));
  free(out);
  free(in);
}

/* 30 numbers: five partitions of six against two of five triples, with gaps between them. */
static void uneven(void) {
  int out[30] = {0}, in[2 * 5 * 4] = {0};
  MPI_Datatype three, triple;
  MPI_Request requests[2];
  int flag = -1;
  MPI_Type_contiguous(3, MPI_INT, &three);
  MPI_Type_create_resized(three, 0, 4 * sizeof(int), &triple);
  MPI_Type_commit(&triple);
  CHECK_OK(MPI_Psend_init(out, 5, 6, MPI_INT, right, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
  CHECK_OK(MPI_Precv_init(in, 2, 5, triple, left, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 30; ++i) out[i] = 1000 * rank + 100 * round + i;
    for (int i = 0; i < 40; ++i) in[i] = -1;
    CHECK_OK(MPI_Startall(2, requests));
    CHECK_OK(MPI_Pready(2, requests[0])); /* numbers 12 to 17: some for both */
    CHECK_OK(MPI_Pready_range(0, 1, requests[0]));
    for (flag = 0; !flag;) CHECK_OK(MPI_Parrived(requests[1], 0, &flag));
    for (int i = 0; i < 15; ++i) CHECK_EQ(in[i / 3 * 4 + i % 3], 1000 * left + 100 * round + i);
    CHECK_OK(MPI_Pready_list(2, (const int[]){4, 3}, requests[0]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 30; ++i) CHECK_EQ(in[i / 3 * 4 + i % 3], 1000 * left + 100 * round + i);
    for (int i = 0; i < 10; ++i) CHECK_EQ(in[4 * i + 3], -1);
  }
  for (int i = 0; i < 2; ++i) CHECK_OK(MPI_Request_free(&requests[i]));
  MPI_Type_free(&three);
  MPI_Type_free(&triple);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  right = (rank + 1) % size, left = (rank + size - 1) % size;
  transposed(7, 11);
  transposed(200, 101);
  uneven();
  MPI_Finalize();
  return check_result();
}
