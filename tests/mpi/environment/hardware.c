/* Hardware resources (MPI-5.0 section 9.1.2): those that a rank keeps to can be split by. */
#include "check.h"

static void check_resource(const char* name, int restricted) {
  MPI_Info info;
  MPI_Comm comm = MPI_COMM_NULL;
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "mpi_hw_resource_type", name));
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &comm));
  CHECK_EQ(comm != MPI_COMM_NULL, restricted);
  if (comm != MPI_COMM_NULL) CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Info_free(&info));
}

int main(int argc, char** argv) {
  MPI_Info resources = MPI_INFO_NULL;
  int count = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_OK(MPI_Get_hw_resource_info(&resources));
  CHECK(resources != MPI_INFO_NULL);
  CHECK_OK(MPI_Info_get_nkeys(resources, &count));
  CHECK(count > 0);
  for (int i = 0; i < count; ++i) {
    char name[MPI_MAX_INFO_KEY], value[8] = "";
    int length = sizeof value, found = 0;
    CHECK_OK(MPI_Info_get_nthkey(resources, i, name));
    CHECK_OK(MPI_Info_get_string(resources, name, &length, value, &found));
    CHECK(found && strstr(name, "://") != NULL);
    CHECK(strcmp(value, "true") == 0 || strcmp(value, "false") == 0);
    check_resource(name, strcmp(value, "true") == 0);
  }
  CHECK_OK(MPI_Info_free(&resources));
  CHECK_CLASS(MPI_Get_hw_resource_info(NULL), MPI_ERR_ARG);
  MPI_Finalize();
  return check_result();
}
