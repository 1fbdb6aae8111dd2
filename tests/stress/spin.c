/* spin FILE ROUNDS: ranks hand a turn to each other through memory that they share, and spin for it without
   any call: only a scheduler that takes the core from a spinning rank lets this end on one core. */
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "stress.h"

int main(int argc, char** argv) {
  stress_begin(&argc, &argv, "0");
  if (argc < 3) STRESS_FAIL("usage: spin FILE ROUNDS");
  if (stress_rank == 0) {
    const int made = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    STRESS_CHECK(made >= 0 && ftruncate(made, 4096) == 0);
    close(made);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const int file = open(argv[1], O_RDWR);
  _Atomic int* turn = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  STRESS_CHECK(file >= 0 && turn != MAP_FAILED);
  close(file);
  for (int round = 0; round < atoi(argv[2]); ++round) {
    while (atomic_load_explicit(turn, memory_order_acquire) != round * stress_size + stress_rank) {
    }
    atomic_fetch_add_explicit(turn, 1, memory_order_release);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  STRESS_CHECK(atomic_load(turn) == atoi(argv[2]) * stress_size);
  if (stress_rank == 0) unlink(argv[1]);
  MPI_Finalize();
  return 0;
}
