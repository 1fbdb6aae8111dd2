/* The handle and status conversions of Fortran (MPI-5.0 section 19.3.4), which mpi.h defines over
 * MPI_X_toint. */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  CHECK(MPI_Comm_f2c(MPI_Comm_c2f(comm)) == comm);
  CHECK(MPI_Comm_c2f(comm) == MPI_Comm_toint(comm));
  CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_NULL)) == MPI_COMM_NULL);
  CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) == MPI_DOUBLE);
  CHECK(MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM);
  CHECK(MPI_Group_f2c(MPI_Group_c2f(MPI_GROUP_EMPTY)) == MPI_GROUP_EMPTY);
  CHECK(MPI_Info_f2c(MPI_Info_c2f(MPI_INFO_ENV)) == MPI_INFO_ENV);
  CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN);
  CHECK(MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
  MPI_Comm_free(&comm);

  MPI_Status sent, back;
  int number = 7, got = 0, count = 0;
  MPI_Sendrecv(&number, 1, MPI_INT, 0, 5, &got, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &sent);
  MPI_Fint fortran[MPI_F_STATUS_SIZE];
  CHECK_OK(MPI_Status_c2f(&sent, fortran));
  CHECK_OK(MPI_Status_f2c(fortran, &back));
  MPI_Get_count(&back, MPI_INT, &count);
  CHECK(count == 1 && back.MPI_TAG == 5 && back.MPI_SOURCE == 0 && got == 7);
  MPI_Finalize();
  return check_result();
}
