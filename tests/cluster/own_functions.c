/* Functions of the program with names of the C library's, which libfabric calls, too: none of them is called by another than the
 * program. */
#include <mpi.h>
#include <stdio.h>

static int called;
#define OWN(name) \
  int name(int a, double* b, int c, int d) { return b[0] = a + c + d, ++called; }
OWN(send)
OWN(recv)
OWN(accept)
OWN(connect)
OWN(listen)
OWN(bind)

int main(int argc, char** argv) {
  int rank, size, sum = 0;
  double room = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  send(rank, &room, 0, 0);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const int is_right = called == 1 && room == rank && sum == size * (size - 1) / 2;
  if (!is_right) printf("rank %d: called %d times, sum %d\n", rank, called, sum);
  MPI_Finalize();
  return !is_right;
}
