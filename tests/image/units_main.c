#include <stdio.h>

#include "rank.h"

void write_unit(int rank);
int read_unit(void);

int main(void) {
  const int rank = begin_rank();
  write_unit(rank);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("unit 10: %d\n", read_unit() - rank);
  MPI_Finalize();
  return 0;
}
