// Ranks open together more files than the soft limit of one process allows: each as many as it could have in
// a process of its own. And a rank may close all numbers from 3 on, as programs do that want to be rid of
// what they have inherited: MPI goes on.
#include <fcntl.h>

#include "check.h"

enum { kEach = 150, kLimit = 256 };

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  int files[kEach];
  for (int i = 0; i < kEach; ++i) {
    files[i] = open("/dev/null", O_RDONLY);
    check(files[i] >= 0, "file %d: %s", i, strerror(errno));
    if (files[i] < 0) break;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kEach; ++i)
    if (files[i] >= 0) close(files[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1 && check_rank == 0)
    for (int i = 3; i < 4 * kLimit; ++i) close(i);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d\n", check_rank);
  fflush(stdout);
  check(system("exit 3") == 3 << 8, "system");
  return check_end();
}
