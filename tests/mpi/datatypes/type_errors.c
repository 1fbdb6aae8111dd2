/* Wrong arguments of the datatype functions: the error class of each. */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Datatype type = MPI_INT, made = MPI_DATATYPE_NULL, null = MPI_DATATYPE_NULL;
  int number, buffer[4] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

  CHECK_CLASS(MPI_Type_size(MPI_DATATYPE_NULL, &number), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_free(&null), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_free(&type), MPI_ERR_TYPE);
  CHECK(type == MPI_INT);
  CHECK_CLASS(MPI_Type_commit(&null), MPI_ERR_TYPE);
  CHECK_OK(MPI_Type_commit(&type)); /* predefined types are committed; again does no harm */
  CHECK_CLASS(MPI_Type_contiguous(-1, MPI_INT, &made), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &made), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_vector(1, -1, 1, MPI_INT, &made), MPI_ERR_COUNT);
  CHECK_CLASS(
      MPI_Type_create_struct(1, (int[]){1}, (MPI_Aint[]){0}, (MPI_Datatype[]){MPI_DATATYPE_NULL}, &made),
      MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_create_subarray(0, NULL, NULL, NULL, MPI_ORDER_C, MPI_INT, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_subarray(1, (int[]){4}, (int[]){2}, (int[]){3}, MPI_ORDER_C, MPI_INT, &made),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_subarray(1, (int[]){4}, (int[]){5}, (int[]){0}, MPI_ORDER_C, MPI_INT, &made),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_subarray(1, (int[]){4}, (int[]){2}, (int[]){0}, 77, MPI_INT, &made),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_get_contents(MPI_INT, 0, 0, 0, NULL, NULL, NULL), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_match_size(12345, 4, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_contiguous_c((MPI_Count)1 << 62, MPI_DOUBLE, &made), MPI_ERR_COUNT);
  CHECK(made == MPI_DATATYPE_NULL);

  CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &made));
  CHECK_CLASS(
      MPI_Sendrecv(buffer, 1, made, 0, 0, buffer + 2, 1, made, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE),
      MPI_ERR_TYPE);
  MPI_Datatype types[1];
  CHECK_CLASS(MPI_Type_get_contents(made, 0, 0, 1, buffer, NULL, types), MPI_ERR_ARG);
  MPI_Datatype stale = made;
  CHECK_OK(MPI_Type_free(&made));
  CHECK_CLASS(MPI_Type_size(stale, &number), MPI_ERR_TYPE);
  MPI_Finalize();
  return check_result();
}
