/* A tool that wraps MPI_Allreduce in C: it sees the calls of Fortran programs, and goes on by PMPI_Allreduce.
 */
#include <mpi.h>
#include <stdio.h>

static int calls = 0;

int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm) {
  ++calls;
  return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Finalize(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("seen in C: %d\n", calls);
  return PMPI_Finalize();
}
