/* Names of datatypes (MPI-5.0 section 7.8). Predefined types can be renamed, and each rank sees only its own
 * names. */
#include "check.h"

static void check_name(MPI_Datatype type, const char* expected) {
  char name[MPI_MAX_OBJECT_NAME];
  int length = -1;
  CHECK_OK(MPI_Type_get_name(type, name, &length));
  CHECK_STR(name, expected);
  CHECK_EQ(length, strlen(expected));
}

int main(int argc, char** argv) {
  int rank;
  char mine[MPI_MAX_OBJECT_NAME], long_name[2 * MPI_MAX_OBJECT_NAME];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check_name(MPI_INT, "MPI_INT");
  check_name(MPI_DOUBLE_PRECISION, "MPI_DOUBLE_PRECISION");
  check_name(MPI_2INT, "MPI_2INT");
  check_name(MPI_CXX_BOOL, "MPI_CXX_BOOL");
  check_name(MPI_INTEGER16, "MPI_INTEGER16");
  check_name(MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL");

  MPI_Datatype type, copy;
  CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &type));
  check_name(type, "");
  CHECK_OK(MPI_Type_set_name(type, "a pair"));
  check_name(type, "a pair");
  CHECK_OK(MPI_Type_dup(type, &copy));
  check_name(copy, "");
  memset(long_name, 'x', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = '\0';
  CHECK_OK(MPI_Type_set_name(copy, long_name));
  long_name[MPI_MAX_OBJECT_NAME - 1] = '\0';
  check_name(copy, long_name);
  CHECK_OK(MPI_Type_free(&copy));
  CHECK_OK(MPI_Type_free(&type));

  snprintf(mine, sizeof mine, "rank %d's own", rank);
  CHECK_OK(MPI_Type_set_name(MPI_FLOAT, mine));
  MPI_Barrier(MPI_COMM_WORLD);
  check_name(MPI_FLOAT, mine);
  MPI_Finalize();
  return check_result();
}
