/* Windows and files of parents and their children, merged into one communicator: by fibers they are ranks of
   one job, by processes of two. */
#include <unistd.h>

#include "merged.h"

int main(int argc, char** argv) {
  char name[64];
  MPI_Comm inter, all;
  MPI_Win window;
  void* base;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&inter);
  const int is_child = inter != MPI_COMM_NULL;
  if (!is_child)
    CHECK_OK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                            MPI_ERRCODES_IGNORE));
  CHECK_OK(MPI_Intercomm_merge(inter, is_child, &all));
  CHECK_OK(MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN));
  check_windows(all);
  snprintf(name, sizeof name, "merged.%d.data", (int)getpid());
  CHECK_OK(MPI_Bcast(name, (int)sizeof name, MPI_CHAR, 0, all));
  check_files(all, name);
  /* Memory is shared by the ranks of one job only: all of them are told, or none. */
  const int code = MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, all, &base, &window);
  if (code == MPI_SUCCESS)
    CHECK_OK(MPI_Win_free(&window));
  else
    CHECK_CLASS(code, MPI_ERR_RMA_SHARED);
  CHECK_OK(MPI_Comm_free(&all));
  CHECK_OK(MPI_Comm_disconnect(&inter));
  MPI_Finalize();
  return check_result();
}
