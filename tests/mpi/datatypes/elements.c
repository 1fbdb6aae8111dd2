/* MPI_Get_count and MPI_Get_elements of whole and partial elements (MPI-5.0 section 5.1.11), and setting
 * them. */
#include "check.h"

static void check_counts(const MPI_Status* status, MPI_Datatype type, int count, int elements) {
  int found;
  MPI_Count large;
  CHECK_OK(MPI_Get_count(status, type, &found));
  CHECK_EQ(found, count);
  CHECK_OK(MPI_Get_elements(status, type, &found));
  CHECK_EQ(found, elements);
  CHECK_OK(MPI_Get_elements_x(status, type, &large));
  CHECK_EQ(large, elements);
}

static void receive(int rank, int sent, MPI_Datatype type, int count, int elements) {
  double buffer[64] = {0};
  MPI_Status status;
  if (rank == 0) MPI_Send(buffer, sent, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Recv(buffer, 10, type, 0, 0, MPI_COMM_WORLD, &status);
    check_counts(&status, type, count, elements);
  }
}

int main(int argc, char** argv) {
  int rank, lengths[] = {2, 1};
  const MPI_Aint places[] = {0, 8};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  MPI_Datatype record, pair;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK_OK(MPI_Type_create_struct(2, lengths, places, types, &record));
  CHECK_OK(MPI_Type_commit(&record));
  receive(rank, 0, record, 0, 0);
  receive(rank, 4, record, MPI_UNDEFINED, 1);
  receive(rank, 6, record, MPI_UNDEFINED, MPI_UNDEFINED);
  receive(rank, 8, record, MPI_UNDEFINED, 2);
  receive(rank, 16, record, 1, 3);
  receive(rank, 40, record, MPI_UNDEFINED, 8);
  receive(rank, 48, record, 3, 9);
  receive(rank, 12, MPI_DOUBLE_INT, 1, 2);
  CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &pair));
  CHECK_OK(MPI_Type_commit(&pair));
  receive(rank, 20, pair, MPI_UNDEFINED, 5);

  MPI_Status status;
  memset(&status, 0, sizeof status);
  CHECK_OK(MPI_Status_set_elements(&status, record, 5));
  check_counts(&status, record, MPI_UNDEFINED, 5);
  CHECK_OK(MPI_Status_set_elements_x(&status, pair, 6));
  check_counts(&status, pair, 3, 6);
  const MPI_Count many = 5000000000;
  MPI_Count large;
  int small;
  CHECK_OK(MPI_Status_set_elements_x(&status, MPI_INT, many));
  CHECK_OK(MPI_Get_count_c(&status, MPI_INT, &large));
  CHECK_EQ(large, many);
  CHECK_OK(MPI_Get_count(&status, MPI_INT, &small));
  CHECK_EQ(small, MPI_UNDEFINED);
  CHECK_OK(MPI_Type_free(&pair));
  CHECK_OK(MPI_Type_free(&record));
  MPI_Finalize();
  return check_result();
}
