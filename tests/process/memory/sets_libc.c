/* A program that sets and asks the C library's own allocator (mallopt(), mallinfo2(), malloc_trim(): codes
   that keep large arrays off mmap() and report their memory). Right: what it allocates is what that allocator
   counts. */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBlocks = 1000, kBytes = 10000 };

int main(int argc, char** argv) {
  static char* blocks[kBlocks];
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int wrong = mallopt(M_MMAP_THRESHOLD, 1 << 30) != 1;
  MPI_Barrier(MPI_COMM_WORLD);
  const struct mallinfo2 before = mallinfo2();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kBlocks; ++i) memset(blocks[i] = malloc(kBytes), 1, kBytes);
  MPI_Barrier(MPI_COMM_WORLD);
  const struct mallinfo2 after = mallinfo2();
  if (rank == 0 && after.arena + after.hblkhd == 0) ++wrong;
  (void)before;
  char text[64];
  snprintf(text, sizeof text, "%zu", after.uordblks);
  for (int i = 0; i < kBlocks; ++i) free(blocks[i]);
  (void)malloc_trim(0);
  if (wrong != 0) fprintf(stderr, "rank %d: the C library's allocator is not the one in use\n", rank);
  MPI_Finalize();
  return wrong != 0;
}
