/* Run with CLUMP_EAGER_LIMIT=4k and CLUMP_ALLREDUCE_ALGORITHM=ring. */
#include "tools.h"

int main(int argc, char** argv) {
  MPI_T_cvar_handle handle;
  MPI_T_enum enumeration;
  MPI_Count limit = 0;
  char name[64] = "";
  int count, value = -1, item = -1, length = sizeof name;
  start_tool();
  T_OK(MPI_T_cvar_handle_alloc(control("eager_limit"), NULL, &handle, &count));
  T_OK(MPI_T_cvar_read(handle, &limit));
  CHECK_EQ(limit, 4096);
  T_OK(MPI_T_cvar_handle_alloc(control("allreduce_algorithm"), NULL, &handle, &count));
  T_OK(MPI_T_cvar_read(handle, &value));
  T_OK(MPI_T_cvar_get_info(control("allreduce_algorithm"), NULL, NULL, NULL, NULL, &enumeration, NULL, NULL,
                           NULL, NULL));
  for (int i = 0; item != value && MPI_T_enum_get_item(enumeration, i, &item, name, &length) == MPI_SUCCESS;
       ++i)
    length = sizeof name;
  CHECK_STR(name, "ring");
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  T_OK(MPI_T_finalize());
  return check_result();
}
