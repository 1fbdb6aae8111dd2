/* blocked: rank 0 waits in read() for another process, rank 1 sleeps in the kernel in a way that no library
   call shows, and the others exchange messages meanwhile, also where all have one core. */
#include <poll.h>
#include <sys/syscall.h>

#include "stress.h"

int main(int argc, char** argv) {
  stress_begin(&argc, &argv, "0");
  STRESS_CHECK(stress_size > 3);
  MPI_Comm others;
  MPI_Comm_split(MPI_COMM_WORLD, stress_rank < 2, 0, &others);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = seconds();
  double end;
  if (stress_rank == 0) {
    FILE* process = popen("sleep 4; echo done", "r");
    char line[10] = "";
    STRESS_CHECK(process != NULL && fgets(line, sizeof line, process) != NULL && strcmp(line, "done\n") == 0);
    STRESS_CHECK(pclose(process) == 0);
    end = seconds();
  } else if (stress_rank == 1) {
    const struct timespec time = {4, 0};
    syscall(SYS_nanosleep, &time, NULL);
    end = seconds();
  } else {
    int sum, rank;
    MPI_Comm_rank(others, &rank);
    for (int i = 0; i < 2000; ++i) {
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, others);
      STRESS_CHECK(sum == (stress_size - 2) * (stress_size - 3) / 2);
    }
    end = seconds();
  }
  /* 2,000 reductions take a fraction of the four seconds that the first two ranks are away. */
  const double mine = end - begin;
  double first = mine;
  MPI_Bcast(&first, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (stress_rank < 2) {
    STRESS_CHECK(mine >= 3.999);
  } else if (mine >= first) {
    STRESS_FAIL("the messages took %.3f s, the blocked rank was back after %.3f s", mine, first);
  }
  MPI_Comm_free(&others);
  MPI_Finalize();
  return 0;
}
