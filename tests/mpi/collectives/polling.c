/* Ranks that poll for what others have to do first, more than there are cores: who polls gives others his
   core, and does not keep it until the kernel takes it away. */
#include <time.h>

#include "check.h"

enum { kRounds = 500 };

/* Of all ranks in the caller's process. */
static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char** argv) {
  int size, done;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = cpu_seconds();
  for (int round = 0; round < kRounds; ++round) {
    int mine = round, sum = 0;
    MPI_Request request;
    CHECK_OK(MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    do CHECK_OK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    while (!done);
    CHECK_EQ(sum, round * size);
  }
  /* Not the time that passes: others may have the machine. Eight milliseconds are far more than a round takes,
     also on a crowded machine; for a core that is kept, the kernel's share is several for each of several
     steps. */
  const double spent = (cpu_seconds() - begin) / kRounds;
  if (spent > 8e-3) CHECK_FAILED("a round takes %g ms of the processor", spent * 1e3);
  MPI_Finalize();
  return check_result();
}
