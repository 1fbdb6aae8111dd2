// err() and error() end the rank that calls them, with its exit handlers, as exit() does: not the process of
// all.
#include <err.h>
#include <error.h>

#include "../files/check.h"

static void at_exit(void) {
  printf("handler of rank %d\n", check_rank);
  fflush(stdout);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  atexit(at_exit);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (check_rank == 1) errx(0, "errx");
  if (check_rank == 2) error(0, 0, "error");
  usleep(100000);
  return 0;
}
