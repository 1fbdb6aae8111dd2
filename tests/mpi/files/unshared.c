/* Rank 0 makes a file in a directory that another rank's host does not share: all ranks get an error, and no
 * second file is made. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

/* The calling process sees an empty directory in this place; whether that could be done. */
static int hide(const char* folder) {
  return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
         mount("empty", folder, "tmpfs", 0, "size=1m") == 0;
}

int main(int argc, char** argv) {
  char folder[300], name[320];
  int first, hidden = 1, error_class = 0;
  MPI_File file;
  test_begin(&argc, &argv);
  snprintf(folder, sizeof folder, "%s.folder", test_file);
  snprintf(name, sizeof name, "%s/file", folder);
  if (test_rank == 0) CHECK_EQ(mkdir(folder, 0700), 0);
  first = (int)getpid();
  MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (test_rank == 1) hidden = first != (int)getpid() && hide(folder);
  MPI_Bcast(&hidden, 1, MPI_INT, 1, MPI_COMM_WORLD);
  if (hidden) {
    const int code =
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    CHECK(code != MPI_SUCCESS);
    MPI_Error_class(code, &error_class);
    CHECK_EQ(error_class, MPI_ERR_NO_SUCH_FILE);
    if (test_rank == 1) CHECK_EQ(access(name, F_OK), -1);
  } else if (test_rank == 0) {
    printf("not tried: one process, or no right to mount\n");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (test_rank == 0) {
    unlink(name);
    CHECK_EQ(rmdir(folder), 0);
  }
  return test_end();
}
