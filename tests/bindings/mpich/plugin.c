/* A library that is made for another family's ABI, for a program that knows nothing of it. */
#include <mpi.h>
#include <stdio.h>

static void product(void* in, void* inout, int* count, MPI_Datatype* type) {
  if (*type != MPI_INT) MPI_Abort(MPI_COMM_WORLD, 4);
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] *= ((int*)in)[i];
}

/* 0, and a line of rank 0. */
int multiply(void) {
  int begun, rank, value, result = 0;
  MPI_Op op;
  MPI_Status status;
  MPI_Initialized(&begun);
  if (!begun) MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  value = rank + 2;
  MPI_Op_create(product, 1, &op);
  MPI_Allreduce(&value, &result, 1, MPI_INT, op, MPI_COMM_WORLD);
  MPI_Op_free(&op);
  MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
  if (status.MPI_SOURCE != MPI_PROC_NULL || value != rank + 2) return 1;
  if (rank == 0) printf("the product is %d\n", result);
  if (!begun) MPI_Finalize();
  return 0;
}
