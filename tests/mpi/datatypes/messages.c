/* Messages of derived datatypes: short and long ones, gaps on either side, types freed under a pending
 * message. */
#include "check.h"

enum { kRows = 300, kColumns = 200 };

static double matrix[kRows][kColumns], other[kColumns][kRows];

/* Sends the columns of a matrix and receives them as rows, which transposes it. */
static void transpose(int next, int previous) {
  MPI_Datatype column, columns;
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) matrix[i][j] = i * 1000 + j;
  CHECK_OK(MPI_Type_vector(kRows, 1, kColumns, MPI_DOUBLE, &column));
  CHECK_OK(MPI_Type_create_resized(column, 0, sizeof(double), &columns));
  CHECK_OK(MPI_Type_commit(&columns));
  MPI_Sendrecv(matrix, kColumns, columns, next, 0, other, kRows * kColumns, MPI_DOUBLE, previous, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int wrong = 0;
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) wrong += other[j][i] != i * 1000 + j;
  CHECK_EQ(wrong, 0);
  CHECK_OK(MPI_Type_free(&column));
  CHECK_OK(MPI_Type_free(&columns));
}

/* The inner part of an array into the lower left corner of another; nothing else may change. */
static void boxes(int next, int previous) {
  static int from[8][9], to[5][6];
  MPI_Datatype inner, corner;
  for (int i = 0; i < 72; ++i) from[i / 9][i % 9] = i;
  memset(to, -1, sizeof to);
  CHECK_OK(
      MPI_Type_create_subarray(2, (int[]){8, 9}, (int[]){3, 4}, (int[]){2, 3}, MPI_ORDER_C, MPI_INT, &inner));
  CHECK_OK(MPI_Type_create_subarray(2, (int[]){5, 6}, (int[]){3, 4}, (int[]){2, 0}, MPI_ORDER_C, MPI_INT,
                                    &corner));
  CHECK_OK(MPI_Type_commit(&inner));
  CHECK_OK(MPI_Type_commit(&corner));
  MPI_Sendrecv(from, 1, inner, next, 0, to, 1, corner, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 6; ++j) CHECK_EQ(to[i][j], i >= 2 && j < 4 ? from[i][j + 3] : -1);
  CHECK_OK(MPI_Type_free(&inner));
  CHECK_OK(MPI_Type_free(&corner));
}

struct particle {
  int id;
  double position[3];
  char charge;
};

/* An array of structs, long enough for every protocol; the type is freed while the messages are on their way.
 */
static void structs(int next, int previous, int count) {
  struct particle* out = malloc(sizeof *out * count);
  struct particle* in = calloc(count, sizeof *in);
  struct particle sample = {0};
  MPI_Aint base, places[3];
  MPI_Datatype plain, type;
  MPI_Request requests[2];
  for (int i = 0; i < count; ++i)
    out[i] = (struct particle){i, {i + 0.5, -i, 1.0 / (i + 1)}, (char)(i % 100)};
  MPI_Get_address(&sample, &base);
  MPI_Get_address(&sample.id, &places[0]);
  MPI_Get_address(sample.position, &places[1]);
  MPI_Get_address(&sample.charge, &places[2]);
  for (int i = 0; i < 3; ++i) places[i] = MPI_Aint_diff(places[i], base);
  CHECK_OK(MPI_Type_create_struct(3, (int[]){1, 3, 1}, places,
                                  (MPI_Datatype[]){MPI_INT, MPI_DOUBLE, MPI_CHAR}, &plain));
  CHECK_OK(MPI_Type_create_resized(plain, 0, sizeof sample, &type));
  CHECK_OK(MPI_Type_commit(&type));
  MPI_Irecv(in, count, type, previous, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, count, type, next, 1, MPI_COMM_WORLD, &requests[1]);
  CHECK_OK(MPI_Type_free(&type));
  CHECK_OK(MPI_Type_free(&plain));
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    wrong += in[i].id != i || memcmp(in[i].position, out[i].position, sizeof sample.position) != 0 ||
             in[i].charge != i % 100;
  }
  CHECK_EQ(wrong, 0);
  free(out);
  free(in);
}

/* Absolute addresses from MPI_BOTTOM. */
static void bottom(int next, int previous) {
  int number = 7, received = 0;
  double values[3] = {1, 2, 3}, results[3] = {0};
  MPI_Aint places[2];
  MPI_Datatype out, in;
  MPI_Get_address(&number, &places[0]);
  MPI_Get_address(values, &places[1]);
  CHECK_OK(MPI_Type_create_struct(2, (int[]){1, 3}, places, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &out));
  MPI_Get_address(&received, &places[0]);
  MPI_Get_address(results, &places[1]);
  CHECK_OK(MPI_Type_create_struct(2, (int[]){1, 3}, places, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &in));
  CHECK_OK(MPI_Type_commit(&out));
  CHECK_OK(MPI_Type_commit(&in));
  MPI_Sendrecv(MPI_BOTTOM, 1, out, next, 0, MPI_BOTTOM, 1, in, previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  CHECK(received == 7 && results[0] == 1 && results[2] == 3);
  CHECK_OK(MPI_Type_free(&out));
  CHECK_OK(MPI_Type_free(&in));
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  transpose(next, previous);
  boxes(next, previous);
  structs(next, previous, 1);
  structs(next, previous, 100);
  structs(next, previous, 100000);
  bottom(next, previous);
  MPI_Finalize();
  return check_result();
}
