// What a rank does with the memory of another process. It is not position-independent: a rank that takes
// itself for the other one finds memory at the address.
//   messages  long messages both ways
//   window    MPI_Win_create
//   shared    MPI_Win_allocate, and what it says if it fails
//   leave     rank 0 leaves with code 3 while the others wait
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kBytes = 4 << 20, kTimes = 4 };
static char data[kBytes], got[kBytes];

static int count_other(const char* bytes, int n, char wanted) {
  int others = 0;
  for (int i = 0; i < n; ++i) others += bytes[i] != wanted;
  return others;
}

static void messages(int rank) {
  int wrong = 0;
  for (int i = 0; i < kTimes; ++i) {
    const char mine = (char)('a' + 2 * i + rank), its = (char)('a' + 2 * i + !rank);
    // Each sends from the address at which the other receives.
    memset(rank == i % 2 ? data : got, mine, kBytes);
    if (rank == i % 2) {
      MPI_Send(data, kBytes, MPI_CHAR, !rank, 0, MPI_COMM_WORLD);
    } else {
      memset(data, '-', kBytes);
      MPI_Recv(data, kBytes, MPI_CHAR, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      wrong += count_other(data, kBytes, its);
    }
  }
  printf("rank %d: %d bytes wrong\n", rank, wrong);
}

static void window(int rank) {
  MPI_Win win;
  memset(data, 'a' + rank, kBytes);
  MPI_Win_create(data, kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Get(got, kBytes / 2, MPI_CHAR, !rank, 0, kBytes / 2, MPI_CHAR, win);
  MPI_Win_fence(0, win);
  int wrong = count_other(got, kBytes / 2, (char)('a' + !rank));
  memset(got, 'A' + rank, kBytes / 2);
  MPI_Put(got, kBytes / 2, MPI_CHAR, !rank, kBytes / 2, kBytes / 2, MPI_CHAR, win);
  const char one = 1;
  MPI_Accumulate(&one, 1, MPI_CHAR, !rank, 0, 1, MPI_CHAR, MPI_SUM, win);
  MPI_Win_fence(0, win);
  wrong += data[0] != 'a' + rank + 1;
  wrong += count_other(data + kBytes / 2, kBytes / 2, (char)('A' + !rank));
  MPI_Win_free(&win);
  printf("rank %d: %d bytes wrong\n", rank, wrong);
}

static void shared(int rank) {
  MPI_Win win;
  char* base = NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int code = MPI_Win_allocate(kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  if (code != MPI_SUCCESS) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0, class = 0;
    MPI_Error_string(code, text, &length);
    MPI_Error_class(code, &class);
    printf("rank %d: %s%s\n", rank, class == MPI_ERR_RMA_SHARED ? "" : "another class: ", text);
    return;
  }
  memset(base, 'a' + rank, kBytes);
  MPI_Win_fence(0, win);
  MPI_Get(got, kBytes, MPI_CHAR, !rank, 0, kBytes, MPI_CHAR, win);
  MPI_Win_fence(0, win);
  printf("rank %d: %d bytes wrong\n", rank, count_other(got, kBytes, (char)('a' + !rank)));
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "messages") == 0) messages(rank);
  if (strcmp(what, "window") == 0) window(rank);
  if (strcmp(what, "shared") == 0) shared(rank);
  if (strcmp(what, "leave") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) exit(3);
    for (;;) pause();
  }
  MPI_Finalize();
  return 0;
}
