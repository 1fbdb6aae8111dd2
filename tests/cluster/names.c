/* Jobs that publish the same names at the same time: names WHEN NUMBER. The last rank publishes NUMBER names,
   each at its time after WHEN (seconds, of the system's clock), and prints 1 for each that the job gets, and
   0. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../mpi/check.h"

int main(int argc, char** argv) {
  int rank, size;
  char port[MPI_MAX_PORT_NAME], name[60];
  CHECK_OK(MPI_Init(&argc, &argv));
  CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  const long begin = atol(argv[1]);
  const int number = atoi(argv[2]);
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  if (rank == size - 1) {
    CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    for (int i = 0; i < number; ++i) {
      const struct timespec at = {begin + i / 20, i % 20 * 50000000L};
      clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL);
      snprintf(name, sizeof name, "names %ld %d", begin, i);
      putchar(MPI_Publish_name(name, MPI_INFO_NULL, port) == MPI_SUCCESS ? '1' : '0');
    }
    putchar('\n');
    fflush(stdout);
  }
  if (rank == 0) getchar(); /* the names are there until standard input ends */
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_OK(MPI_Finalize());
  return check_result();
}
