/* Rank 0 writes lines to a descriptor without end: spew DESCRIPTOR FILE. FILE has a word for each of these: how many lines rank 0 has written, and what
   rank 1 does when it is not 0 any more: it ends with this exit code. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kLine = 1000 };

int main(int argc, char** argv) {
  int rank, descriptor = atoi(argv[1]), file = open(argv[2], O_RDWR);
  volatile int* words = mmap(NULL, 2 * sizeof *words, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (words == MAP_FAILED) return 1;
  for (; rank == 0; ++words[0]) {
    char line[kLine + 1];
    int begin = sprintf(line, "line %d ", words[0]);
    memset(line + begin, '.', kLine - begin - 1);
    line[kLine - 1] = '\n';
    if (write(descriptor, line, kLine) != kLine) return 2;
  }
  while (words[1] == 0) usleep(10000);
  exit(words[1]);
}
