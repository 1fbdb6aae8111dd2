/* What is special where operations are messages, as between hosts: errors that are found at the target, and
   how much memory operations that are under way take. Without such hosts it is as quiet. */
#include <sys/resource.h>

#include "check.h"

static int rank, size, called;
static MPI_Win told;

static void handle(MPI_Win* win, int* code, ...) {
  ++called;
  told = *win;
  CHECK_EQ(*code != MPI_SUCCESS, 1);
}

/* Nothing is attached there: the call says so, or MPI_Wait, but not both, and no later call. */
static void test_requests(MPI_Win win, int target, int by_handler) {
  for (int kind = 0; kind < 3; ++kind) {
    int value = 1, found = 0, code = MPI_SUCCESS;
    MPI_Request request = MPI_REQUEST_NULL;
    called = 0, told = MPI_WIN_NULL;
    if (kind == 0) code = MPI_Rput(&value, 1, MPI_INT, target, 64, 1, MPI_INT, win, &request);
    if (kind == 1) code = MPI_Rget(&found, 1, MPI_INT, target, 64, 1, MPI_INT, win, &request);
    if (kind == 2)
      code = MPI_Rget_accumulate(&value, 1, MPI_INT, &found, 1, MPI_INT, target, 64, 1, MPI_INT, MPI_SUM, win,
                                 &request);
    if (code == MPI_SUCCESS)
      code =
          kind == 1 ? MPI_Waitall(1, &request, MPI_STATUSES_IGNORE) : MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (code != MPI_ERR_IN_STATUS) CHECK_CLASS(code, MPI_ERR_RMA_RANGE);
    CHECK_EQ(called, by_handler);
    if (by_handler) CHECK_EQ(told, win);
    CHECK_EQ(MPI_Win_flush(target, win), MPI_SUCCESS);
    CHECK_EQ(called, by_handler);
  }
}

static long kilobytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/* One flush after very many operations. */
static void test_many(MPI_Win win, double* mine, int target) {
  enum { kOperations = 150000 };
  const double value = rank + 1;
  double* const found = calloc(kOperations, sizeof(double));
  MPI_Barrier(MPI_COMM_WORLD);
  const long before = kilobytes();
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < kOperations; ++i) MPI_Put(&value, 1, MPI_DOUBLE, target, i % 8, 1, MPI_DOUBLE, win);
  MPI_Win_flush(target, win);
  for (int i = 0; i < kOperations; ++i) MPI_Get(&found[i], 1, MPI_DOUBLE, target, i % 8, 1, MPI_DOUBLE, win);
  MPI_Win_flush(target, win);
  MPI_Win_unlock_all(win);
  const long more = kilobytes() - before;
  if (more > 60 * 1024L) CHECK_FAILED("%d operations took %ld MB", kOperations, more / 1024);
  for (int i = 0; i < kOperations; ++i) CHECK_EQ(found[i], value);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 8; ++i) CHECK_EQ(mine[i], (rank + size - 1) % size + 1);
  free(found);
}

int main(int argc, char** argv) {
  double mine[8] = {0};
  MPI_Win win = MPI_WIN_NULL;
  MPI_Errhandler errhandler = MPI_ERRHANDLER_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int target = (rank + 1) % size;

  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  test_requests(win, target, 0);
  MPI_Win_create_errhandler(handle, &errhandler);
  MPI_Win_set_errhandler(win, errhandler);
  MPI_Errhandler_free(&errhandler);
  test_requests(win, target, 1);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);

  MPI_Win_create(mine, sizeof mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  test_many(win, mine, target);
  MPI_Win_free(&win);
  MPI_Finalize();
  return check_result();
}
