/* MPI from a thread that belongs to no rank: one that the C library has made by itself, to tell of an input
 * that is done. */
#include <aio.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rank.h"

static void on_input(union sigval value) {
  int rank = -1;
  (void)value;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  puts("a thread of no rank has called MPI");
}

int main(void) {
  static char byte;
  struct aiocb input;
  begin_rank();
  memset(&input, 0, sizeof input);
  input.aio_fildes = open("/dev/zero", O_RDONLY);
  input.aio_buf = &byte;
  input.aio_nbytes = 1;
  input.aio_sigevent.sigev_notify = SIGEV_THREAD;
  input.aio_sigevent.sigev_notify_function = on_input;
  if (aio_read(&input) != 0) return 1;
  sleep(10);
  MPI_Finalize();
  return 0;
}
