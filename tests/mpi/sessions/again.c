/* What a rank has made in one session is gone after its last one, and can be made anew in the next:
   predefined types that are made on demand, data representations, the error handler of MPI_FILE_NULL. */
#include <stdint.h>

#include "session.h"

static int extent_of(MPI_Datatype type, MPI_Aint* extent, void* extra) {
  (void)type, (void)extra;
  *extent = 8;
  return MPI_SUCCESS;
}

static void ignore(MPI_File* file, int* code, ...) { (void)file, (void)code; }

static void types(MPI_Comm comm, int size) {
  MPI_Datatype real, complex_type, integer, pair, again;
  int bytes = 0;
  CHECK_OK(MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real));
  CHECK_OK(MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &complex_type));
  CHECK_OK(MPI_Type_create_f90_integer(9, &integer));
  CHECK_OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT64_T, &pair));
  CHECK_OK(MPI_Type_size(real, &bytes));
  CHECK_EQ(bytes, sizeof(double));
  CHECK_OK(MPI_Type_size(complex_type, &bytes));
  CHECK_EQ(bytes, 2 * sizeof(double));
  CHECK_OK(MPI_Type_size(integer, &bytes));
  CHECK_EQ(bytes, sizeof(int32_t));
  CHECK(pair != MPI_DATATYPE_NULL);
  CHECK_OK(MPI_Type_size(pair, &bytes));
  CHECK_EQ(bytes, sizeof(double) + sizeof(int64_t));
  CHECK_OK(MPI_Type_create_f90_real(15, MPI_UNDEFINED, &again));
  CHECK_EQ(again, real);
  const double mine = 1.5;
  double sum = 0;
  CHECK_OK(MPI_Allreduce(&mine, &sum, 1, real, MPI_SUM, comm));
  CHECK_NEAR(sum, 1.5 * size, 0);
}

static void once(void) {
  MPI_Session session = open_session();
  MPI_Comm comm = comm_of(session, "mpi://WORLD", "again");
  MPI_Errhandler handler;
  int size = 0;
  CHECK_OK(MPI_Comm_size(comm, &size));
  types(comm, size);
  CHECK_OK(MPI_Register_datarep("sevens", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, NULL));
  CHECK_CLASS(MPI_Register_datarep("sevens", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, NULL),
              MPI_ERR_DUP_DATAREP);
  CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &handler));
  CHECK_EQ(handler, MPI_ERRORS_RETURN);
  CHECK_OK(MPI_File_create_errhandler(ignore, &handler));
  CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
  CHECK_OK(MPI_Errhandler_free(&handler));
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Session_finalize(&session));
}

int main(void) {
  for (int i = 0; i < 3; ++i) once();
  return check_result();
}
