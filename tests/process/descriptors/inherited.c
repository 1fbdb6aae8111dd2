// What the ranks were started with (the shell's 9<file) belongs to all of them: one that closes it does not
// have it any more, and the others do.
#include <fcntl.h>

#include "../files/check.h"

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  char text[4] = "";
  check(fcntl(9, F_GETFD) >= 0, "descriptor 9 is not open");
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank != 0) {
    check(close(9) == 0, "close: %s", strerror(errno));
    errno = 0;
    check(close(9) == -1 && errno == EBADF, "close again: %s", strerror(errno));
    check(read(9, text, 1) == -1, "read of what is closed");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) check(pread(9, text, 3, 0) == 3, "read: %s", strerror(errno));
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) check(close(9) == 0, "close of the last: %s", strerror(errno));
  return check_end();
}
