/* What a Fortran layer tells the library about its compiler (MPI-5.0 section 20.3): once, at any time. */
#include "check.h"

static const char* value_of(MPI_Info info, const char* key) {
  static char value[MPI_MAX_INFO_VAL];
  int length = sizeof value, flag = 0;
  CHECK_OK(MPI_Info_get_string(info, key, &length, value, &flag));
  return flag ? value : "not there";
}

static MPI_Info sizes(const char* integer) {
  MPI_Info info;
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "mpi_logical_size", "4"));
  CHECK_OK(MPI_Info_set(info, "mpi_integer_size", integer));
  CHECK_OK(MPI_Info_set(info, "mpi_real_size", "4"));
  CHECK_OK(MPI_Info_set(info, "mpi_double_precision_size", "8"));
  CHECK_OK(MPI_Info_set(info, "mpi_real16_supported", "true"));
  return info;
}

static void check_info(void) {
  MPI_Info known = MPI_INFO_ENV;
  CHECK_OK(MPI_Abi_get_fortran_info(&known));
  CHECK(known != MPI_INFO_NULL);
  if (known == MPI_INFO_NULL) return;
  CHECK_STR(value_of(known, "mpi_integer_size"), "4");
  CHECK_STR(value_of(known, "mpi_double_precision_size"), "8");
  CHECK_STR(value_of(known, "mpi_real16_supported"), "true");
  CHECK_STR(value_of(known, "mpi_real2_supported"), "not there");
  CHECK_OK(MPI_Info_set(known, "mpi_integer_size", "8")); /* a copy */
  CHECK_OK(MPI_Info_free(&known));
}

static void check_booleans(void) {
  int true_value = 5, false_value = 5, is_set = -1;
  CHECK_OK(MPI_Abi_get_fortran_booleans(4, &true_value, &false_value, &is_set));
  CHECK_EQ(is_set, 1);
  CHECK_EQ(true_value, -1);
  CHECK_EQ(false_value, 0);
}

/* Before MPI_Init the initial error handler ends the job, so there is nothing wrong in here. */
static void tell(void) {
  MPI_Info info = sizes("4"), unknown = MPI_INFO_ENV;
  int true_value = -1, false_value = 0, is_set = -1;
  CHECK_OK(MPI_Abi_get_fortran_info(&unknown));
  CHECK_EQ(unknown, MPI_INFO_NULL);
  CHECK_OK(MPI_Abi_get_fortran_booleans(4, &true_value, &false_value, &is_set));
  CHECK_EQ(is_set, 0);
  CHECK_OK(MPI_Abi_set_fortran_info(info));
  CHECK_OK(MPI_Abi_set_fortran_booleans(4, &true_value, &false_value));
  CHECK_OK(MPI_Info_free(&info));
  check_info();
  check_booleans();
}

static void wrong(void) {
  MPI_Info info = sizes("4");
  long long true_value = -1, false_value = 0;
  int is_set = -1;
  CHECK_CLASS(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
  CHECK_CLASS(MPI_Abi_set_fortran_info(MPI_INFO_NULL), MPI_ERR_INFO);
  CHECK_CLASS(MPI_Abi_get_fortran_info(NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Abi_set_fortran_booleans(4, &true_value, &false_value), MPI_ERR_ABI);
  CHECK_CLASS(MPI_Abi_set_fortran_booleans(3, &true_value, &false_value), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Abi_set_fortran_booleans(4, NULL, &false_value), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Abi_get_fortran_booleans(0, &true_value, &false_value, &is_set), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Abi_get_fortran_booleans(4, &true_value, &false_value, NULL), MPI_ERR_ARG);
  CHECK_OK(
      MPI_Abi_get_fortran_booleans(8, &true_value, &false_value, &is_set)); /* nobody has told of these */
  CHECK_EQ(is_set, 0);
  CHECK_OK(MPI_Info_free(&info));
}

/* What does not fit is refused, and can be told rightly afterwards. */
static void unsuitable(void) {
  MPI_Info info = sizes("8");
  int true_value = 2, false_value = 0;
  CHECK_CLASS(MPI_Abi_set_fortran_info(info), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_OK(MPI_Info_set(info, "mpi_integer_size", "four"));
  CHECK_CLASS(MPI_Abi_set_fortran_info(info), MPI_ERR_INFO_VALUE);
  CHECK_OK(MPI_Info_free(&info));
  CHECK_CLASS(MPI_Abi_set_fortran_booleans(4, &true_value, &false_value), MPI_ERR_UNSUPPORTED_OPERATION);
  true_value = false_value = 1;
  CHECK_CLASS(MPI_Abi_set_fortran_booleans(4, &true_value, &false_value), MPI_ERR_UNSUPPORTED_OPERATION);
}

int main(int argc, char** argv) {
  const int early = argc > 1;
  if (early) tell();
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (!early) {
    unsuitable();
    tell();
  }
  wrong();
  check_info();
  check_booleans();
  MPI_Finalize();
  check_info();
  check_booleans();
  return check_result();
}
