/* Clocks, the node's name, memory, facts about the ABI (MPI-5.0 chapters 9 and 20). */
#include <unistd.h>

#include "check.h"

static void clocks(void) {
  const double tick = MPI_Wtick(), start = MPI_Wtime();
  double end;
  CHECK(tick > 0 && tick < 1e-3);
  usleep(20000);
  end = MPI_Wtime();
  CHECK(end - start >= 0.02);
  CHECK(end - start < 30);
}

static void processor_name(void) {
  char name[MPI_MAX_PROCESSOR_NAME], host[MPI_MAX_PROCESSOR_NAME];
  int length = -1;
  CHECK_OK(MPI_Get_processor_name(name, &length));
  CHECK_EQ(length, (int)strlen(name));
  gethostname(host, sizeof host);
  CHECK_STR(name, host);
}

static void memory(void) {
  MPI_Info info;
  double* numbers = NULL;
  CHECK_OK(MPI_Alloc_mem(1000 * sizeof *numbers, MPI_INFO_NULL, &numbers));
  memset(numbers, 1, 1000 * sizeof *numbers);
  CHECK_OK(MPI_Free_mem(numbers));

  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096"));
  CHECK_OK(MPI_Alloc_mem(1, info, &numbers));
  CHECK_EQ((MPI_Aint)numbers % 4096, 0);
  CHECK_OK(MPI_Free_mem(numbers));
  CHECK_OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "24"));
  CHECK_CLASS(MPI_Alloc_mem(1, info, &numbers), MPI_ERR_INFO_VALUE);
  CHECK_OK(MPI_Info_free(&info));

  CHECK_CLASS(MPI_Alloc_mem(-1, MPI_INFO_NULL, &numbers), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Alloc_mem(8, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
}

static void abi_info(void) {
  MPI_Info info;
  char value[16] = "";
  int length = sizeof value, flag = 0;
  CHECK_OK(MPI_Abi_get_info(&info));
  CHECK_OK(MPI_Info_get_string(info, "mpi_count_size", &length, value, &flag));
  CHECK_EQ(flag, 1);
  CHECK_EQ(atoi(value), (int)sizeof(MPI_Count));
  CHECK_OK(MPI_Info_free(&info));
}

static void handles_as_integers(void) {
  CHECK_EQ(MPI_Comm_toint(MPI_COMM_WORLD), (MPI_Aint)MPI_COMM_WORLD);
  CHECK_EQ(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_SELF)), MPI_COMM_SELF);
  CHECK_EQ(MPI_Type_fromint(MPI_Type_toint(MPI_DOUBLE)), MPI_DOUBLE);
  CHECK_EQ(MPI_File_toint(MPI_FILE_NULL), (MPI_Aint)MPI_FILE_NULL);
  CHECK_EQ(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)), MPI_FILE_NULL);
  CHECK_EQ(MPI_Win_toint(MPI_WIN_NULL), (MPI_Aint)MPI_WIN_NULL);
  CHECK_EQ(MPI_Win_fromint(MPI_Win_toint(MPI_WIN_NULL)), MPI_WIN_NULL);
  MPI_Session session;
  CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  CHECK_EQ(MPI_Session_fromint(MPI_Session_toint(session)), session);
  CHECK_OK(MPI_Session_finalize(&session));
}

static void addresses(void) {
  char bytes[16] = {0};
  MPI_Aint first, last;
  CHECK_OK(MPI_Get_address(&bytes[0], &first));
  CHECK_OK(MPI_Get_address(&bytes[15], &last));
  CHECK_EQ(MPI_Aint_diff(last, first), 15);
  CHECK_EQ(MPI_Aint_add(first, 15), last);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  clocks();
  processor_name();
  memory();
  abi_info();
  handles_as_integers();
  addresses();
  CHECK_OK(MPI_Pcontrol(1, "ignored", 2));
  MPI_Finalize();
  return check_result();
}
