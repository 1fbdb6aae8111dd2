/* Right: what a rank writes to the system's log has the name that this rank has given to openlog(), and its
 * mask. With LOG_PERROR it is written to stderr, too. */
#include <syslog.h>

#include "expect.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const char* const names[] = {"first", "second"};
  openlog(names[rank % 2], LOG_PERROR, LOG_USER);
  if (rank % 2 == 1) setlogmask(LOG_UPTO(LOG_WARNING));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) syslog(LOG_INFO, "is wanted");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) syslog(LOG_INFO, "is not wanted");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) syslog(LOG_ERR, "is an error");
  return end();
}
