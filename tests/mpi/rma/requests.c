/* MPI_Rput, Rget, Raccumulate, Rget_accumulate, small and large, completed by all kinds of calls. */
#include "check.h"

static int rank, size;

static void test(MPI_Win win, double* mine, int n) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  double *const out = malloc(sizeof(double) * (size_t)n), *const in = malloc(sizeof(double) * (size_t)n);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status;
  for (int i = 0; i < n; ++i) out[i] = rank + i, mine[i] = -1;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  MPI_Rput(out, n, MPI_DOUBLE, right, 0, n, MPI_DOUBLE, win, &requests[0]);
  MPI_Wait(&requests[0], &status);
  CHECK_EQ(requests[0], MPI_REQUEST_NULL);
  MPI_Win_flush(right, win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) CHECK_EQ(mine[i], left + i);
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Rget(in, n, MPI_DOUBLE, right, 0, n, MPI_DOUBLE, win, &requests[0]);
  int done = 0;
  while (!done) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
  for (int i = 0; i < n; ++i) CHECK_EQ(in[i], rank + i);
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Raccumulate_c(out, n, MPI_DOUBLE, right, 0, n, MPI_DOUBLE, MPI_SUM, win, &requests[0]);
  MPI_Rget_accumulate(out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, right, 0, n, MPI_DOUBLE, MPI_SUM, win,
                      &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < n; ++i) CHECK_EQ(in[i], 2 * (rank + i)); /* in the order of the calls */
  MPI_Win_flush_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) CHECK_EQ(mine[i], 3 * (left + i));

  MPI_Rput(out, 0, MPI_DOUBLE, MPI_PROC_NULL, 0, 0, MPI_DOUBLE, win, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Rput(out, 1, MPI_DOUBLE, rank, 0, 1, MPI_DOUBLE, win, &requests[0]);
  MPI_Request_free(&requests[0]);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  free(out), free(in);
}

int main(int argc, char** argv) {
  enum { kMost = 20000 };
  double *base = NULL, *const memory = malloc(kMost * sizeof(double));
  MPI_Win win = MPI_WIN_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win_create(memory, kMost * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  test(win, memory, 3);
  test(win, memory, kMost);
  MPI_Win_free(&win);
  MPI_Win_allocate(kMost * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  test(win, base, 3);
  test(win, base, kMost);
  MPI_Win_free(&win);
  MPI_Finalize();
  free(memory);
  return check_result();
}
