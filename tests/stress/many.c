/* many: a barrier, a ring and a reduction over very many ranks. */
#include "stress.h"

int main(int argc, char** argv) {
  stress_begin(&argc, &argv, "0");
  MPI_Barrier(MPI_COMM_WORLD);
  int token = 0;
  const int left = (stress_rank - 1 + stress_size) % stress_size, right = (stress_rank + 1) % stress_size;
  for (int lap = 0; lap < 3; ++lap) {
    if (stress_rank > 0) MPI_Recv(&token, 1, MPI_INT, left, lap, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ++token;
    MPI_Send(&token, 1, MPI_INT, right, lap, MPI_COMM_WORLD);
    if (stress_rank == 0) MPI_Recv(&token, 1, MPI_INT, left, lap, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (stress_rank == 0) STRESS_CHECK(token == 3 * stress_size);
  long long mine[3] = {stress_rank, 1, -stress_rank}, sum[3];
  MPI_Allreduce(mine, sum, 3, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  const long long all = (long long)stress_size * (stress_size - 1) / 2;
  STRESS_CHECK(sum[0] == all && sum[1] == stress_size && sum[2] == -all);
  MPI_Finalize();
  return 0;
}
