/* What may be called before MPI_Init and after MPI_Finalize (MPI-5.0 section 11.4.1). */
#include "check.h"

static void check_anytime(int initialized, int finalized) {
  int version = 0, subversion = 0, length = 0, flag = -1, class = 0;
  char text[MPI_MAX_LIBRARY_VERSION_STRING], value[8] = "";
  MPI_Info info = MPI_INFO_NULL, copy = MPI_INFO_NULL;

  CHECK_OK(MPI_Initialized(&flag));
  CHECK_EQ(flag, initialized);
  CHECK_OK(MPI_Finalized(&flag));
  CHECK_EQ(flag, finalized);

  CHECK_OK(MPI_Get_version(&version, &subversion));
  CHECK_EQ(version, MPI_VERSION);
  CHECK_EQ(subversion, MPI_SUBVERSION);
  CHECK_OK(MPI_Abi_get_version(&version, &subversion));
  CHECK_EQ(version, MPI_ABI_VERSION);
  CHECK_EQ(subversion, MPI_ABI_SUBVERSION);
  CHECK_OK(MPI_Get_library_version(text, &length));
  CHECK_EQ(length, (int)strlen(text));
  CHECK(strncmp(text, "Clump ", 6) == 0);

  CHECK_OK(MPI_Error_class(MPI_ERR_TAG, &class));
  CHECK_EQ(class, MPI_ERR_TAG);
  CHECK_OK(MPI_Error_string(MPI_ERR_TAG, text, &length));
  CHECK(strstr(text, "MPI_ERR_TAG") != NULL);

  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "key", "value"));
  CHECK_OK(MPI_Info_dup(info, &copy));
  length = sizeof value;
  CHECK_OK(MPI_Info_get_string(copy, "key", &length, value, &flag));
  CHECK_EQ(flag, 1);
  CHECK_STR(value, "value");
  CHECK_OK(MPI_Info_free(&info));
  CHECK_OK(MPI_Info_free(&copy));
  CHECK_EQ(copy, MPI_INFO_NULL);
}

int main(int argc, char** argv) {
  int provided = -1, level = -1, flag = 0;
  check_anytime(0, 0);
  CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
  check_anytime(1, 0);
  CHECK_OK(MPI_Query_thread(&level));
  CHECK_EQ(level, provided);
  CHECK_OK(MPI_Is_thread_main(&flag));
  CHECK_EQ(flag, 1);
  MPI_Finalize();
  check_anytime(1, 1);
  return check_result();
}
