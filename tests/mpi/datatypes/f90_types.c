/* Types chosen by precision and range: sizes, envelopes, one handle per question, operations. */
#include "check.h"

static void check_chosen(MPI_Datatype type, int size, int combiner, int count, int first, int last) {
  int found, integers = -1, addresses, types, how, contents[2] = {0};
  CHECK_OK(MPI_Type_size(type, &found));
  CHECK_EQ(found, size);
  CHECK_OK(MPI_Type_get_envelope(type, &integers, &addresses, &types, &how));
  CHECK(integers == count && addresses == 0 && types == 0 && how == combiner);
  CHECK_OK(MPI_Type_get_contents(type, 2, 0, 0, contents, NULL, NULL));
  CHECK(contents[0] == first && contents[count - 1] == last);
  CHECK_CLASS(MPI_Type_free(&type), MPI_ERR_TYPE);
}

int main(int argc, char** argv) {
  MPI_Datatype type, again;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_OK(MPI_Type_create_f90_integer(9, &type));
  check_chosen(type, 4, MPI_COMBINER_F90_INTEGER, 1, 9, 9);
  CHECK_OK(MPI_Type_create_f90_integer(10, &type));
  check_chosen(type, 8, MPI_COMBINER_F90_INTEGER, 1, 10, 10);
  CHECK_OK(MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &type));
  check_chosen(type, 8, MPI_COMBINER_F90_COMPLEX, 2, 6, MPI_UNDEFINED);
  CHECK_OK(MPI_Type_create_f90_real(15, 300, &type));
  check_chosen(type, 8, MPI_COMBINER_F90_REAL, 2, 15, 300);
  CHECK_OK(MPI_Type_create_f90_real(15, 300, &again));
  CHECK(type == again);
  CHECK_CLASS(MPI_Type_create_f90_real(50, 10, &again), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_f90_integer(50, &again), MPI_ERR_ARG);

  /* Inside of another type it is the same one, not a new one. */
  MPI_Datatype pair, inside;
  int count;
  CHECK_OK(MPI_Type_contiguous(2, type, &pair));
  CHECK_OK(MPI_Type_get_contents(pair, 1, 0, 1, &count, NULL, &inside));
  CHECK(inside == type);
  CHECK_OK(MPI_Type_free(&pair));

  int size;
  double sum = 0;
  const double half = 0.5;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK_OK(MPI_Allreduce(&half, &sum, 1, type, MPI_SUM, MPI_COMM_WORLD));
  CHECK_NEAR(sum, 0.5 * size, 0);
  MPI_Finalize();
  return check_result();
}
