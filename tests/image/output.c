/* Lines in pieces, by every way to stdout, come out whole. */
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rank.h"

int main(void) {
  const int rank = begin_rank();
  char buffer[BUFSIZ];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  for (int i = 0; i < 3; ++i) {
    printf("piece %d", i);
    MPI_Barrier(MPI_COMM_WORLD);
    fputs(" and", stdout);
    putchar(' ');
    MPI_Barrier(MPI_COMM_WORLD);
    puts("rest");
  }
  write(STDOUT_FILENO, "by ", 3);
  MPI_Barrier(MPI_COMM_WORLD);
  write(STDOUT_FILENO, "write\n", 6);
  struct iovec parts[2] = {{"by ", 3}, {"writev\n", 7}};
  writev(STDOUT_FILENO, parts, 2);
  printf("descriptor %d\n", fileno(stdout));
  printf("no end of line in rank %d", rank);
  MPI_Finalize();
  return 0;
}
