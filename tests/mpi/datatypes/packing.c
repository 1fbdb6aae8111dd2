/* MPI_Pack, MPI_Unpack, MPI_Pack_size (MPI-5.0 section 5.2). */
#include "check.h"

static void together_and_apart(void) {
  char buffer[256];
  const double numbers[6] = {0, 1, 2, 3, 4, 5};
  const int count = 3;
  double column[6] = {0};
  int position = 0, size, read = 0;
  MPI_Datatype every_other;
  CHECK_OK(MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &every_other));
  CHECK_OK(MPI_Type_commit(&every_other));
  CHECK_OK(MPI_Pack(&count, 1, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
  CHECK_OK(MPI_Pack(numbers, 1, every_other, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
  CHECK_OK(MPI_Pack_size(1, every_other, MPI_COMM_WORLD, &size));
  CHECK(position <= size + 4);

  int how_many = 0;
  int at = 0;
  CHECK_OK(MPI_Unpack(buffer, position, &at, &how_many, 1, MPI_INT, MPI_COMM_WORLD));
  CHECK_EQ(how_many, 3);
  CHECK_OK(MPI_Unpack(buffer, position, &at, column, 2, MPI_DOUBLE, MPI_COMM_WORLD));
  CHECK_OK(MPI_Unpack(buffer, position, &at, column + 5, 1, MPI_DOUBLE, MPI_COMM_WORLD));
  CHECK_EQ(at, position);
  CHECK(column[0] == 0 && column[1] == 2 && column[5] == 4 && column[2] == 0);

  read = position;
  CHECK_CLASS(MPI_Unpack(buffer, position, &read, column, 1, MPI_DOUBLE, MPI_COMM_WORLD), MPI_ERR_ARG);
  int full = sizeof buffer - 3;
  CHECK_CLASS(MPI_Pack(&count, 1, MPI_INT, buffer, sizeof buffer, &full, MPI_COMM_WORLD), MPI_ERR_ARG);
  CHECK_EQ(full, sizeof buffer - 3);
  CHECK_OK(MPI_Type_free(&every_other));
}

static void as_a_message(void) {
  char out[64], in[64];
  int position = 0, at = 0;
  long number = 42, received = 0;
  float half = 0.5f, other = 0;
  MPI_Status status;
  CHECK_OK(MPI_Pack(&number, 1, MPI_LONG, out, sizeof out, &position, MPI_COMM_WORLD));
  CHECK_OK(MPI_Pack(&half, 1, MPI_FLOAT, out, sizeof out, &position, MPI_COMM_WORLD));
  MPI_Sendrecv(out, position, MPI_PACKED, 0, 1, in, sizeof in, MPI_PACKED, 0, 1, MPI_COMM_SELF, &status);
  int length;
  CHECK_OK(MPI_Get_count(&status, MPI_PACKED, &length));
  CHECK_EQ(length, position);
  CHECK_OK(MPI_Unpack(in, length, &at, &received, 1, MPI_LONG, MPI_COMM_WORLD));
  CHECK_OK(MPI_Unpack(in, length, &at, &other, 1, MPI_FLOAT, MPI_COMM_WORLD));
  CHECK(received == 42 && other == 0.5f);
}

static void external(void) {
  unsigned char buffer[16];
  MPI_Aint position = 0, size;
  const int number = 0x01020304;
  const short small = 5;
  int read = 0;
  CHECK_OK(MPI_Pack_external_size("external32", 3, MPI_DOUBLE, &size));
  CHECK_EQ(size, 24);
  CHECK_OK(MPI_Pack_external("external32", &small, 1, MPI_SHORT, buffer, sizeof buffer, &position));
  CHECK_OK(MPI_Pack_external("external32", &number, 1, MPI_INT, buffer, sizeof buffer, &position));
  CHECK_EQ(position, 6);
  CHECK(buffer[1] == 5 && buffer[2] == 1 && buffer[5] == 4);
  position = 2;
  CHECK_OK(MPI_Unpack_external("external32", buffer, 6, &position, &read, 1, MPI_INT));
  CHECK_EQ(read, number);
}

static void large(void) {
  char buffer[32];
  MPI_Count position = 0, size;
  const int numbers[] = {1, 2, 3};
  CHECK_OK(MPI_Pack_c(numbers, 3, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
  CHECK_EQ(position, 12);
  CHECK_OK(MPI_Pack_size_c(3000000000, MPI_INT, MPI_COMM_WORLD, &size));
  CHECK(size >= 12000000000);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  together_and_apart();
  as_a_message();
  external();
  large();
  MPI_Finalize();
  return check_result();
}
