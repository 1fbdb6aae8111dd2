/* Files have an error handler of their own, which returns: a file that cannot be opened ends nobody's job. */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_File file = MPI_FILE_NULL;
  const int code = MPI_File_open(MPI_COMM_WORLD, "/no/such/folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  CHECK(code != MPI_SUCCESS);
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  CHECK_EQ(MPI_Error_string(code, text, &length), MPI_SUCCESS);
  CHECK(length > 0);
  MPI_Finalize();
  return check_result();
}
