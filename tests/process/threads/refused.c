// A program that confines itself, as sandboxes do (PR_SET_NO_NEW_PRIVS comes before a seccomp filter): it
// cannot be taken back, so kernel threads that other ranks run on must not have it. Right: ranks that are
// fibers are told which option helps; kernel threads and processes of their own may.
#include <mpi.h>
#include <stdio.h>
#include <sys/prctl.h>

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 2;
  MPI_Barrier(MPI_COMM_WORLD);
  const int is_right = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == (rank == 1);
  if (!is_right) printf("rank %d: PR_GET_NO_NEW_PRIVS says otherwise\n", rank);
  MPI_Finalize();
  return !is_right;
}
