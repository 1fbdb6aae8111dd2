/* The text of an error stays the rank's own, however often other ranks fail before it asks, and other threads
 * of the rank may ask. */
#include <pthread.h>

#include "check.h"

enum { kTimes = 70000 };

static int code;
static char text[MPI_MAX_ERROR_STRING];

static int fail_with(int dest) { return MPI_Send(NULL, 0, MPI_INT, dest, 0, MPI_COMM_WORLD); }

static void* ask(void* unused) {
  (void)unused;
  int length = 0;
  CHECK_OK(MPI_Error_string(code, text, &length));
  return NULL;
}

int main(int argc, char** argv) {
  int rank, size, provided;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  code = fail_with(1000 + rank);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; rank != 0 && i < kTimes; ++i) {
    const int other = fail_with(2000 + rank);
    char own[MPI_MAX_ERROR_STRING] = "", expected[40];
    int length = 0;
    if (i % 1000 != 0) continue;
    snprintf(expected, sizeof expected, "dest = %d)", 2000 + rank);
    CHECK_OK(MPI_Error_string(other, own, &length));
    CHECK(strstr(own, expected) != NULL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    ask(NULL);
    CHECK(strstr(text, "dest = 1000)") != NULL);
    text[0] = '\0';
    pthread_create(&thread, NULL, ask, NULL);
    pthread_join(thread, NULL);
    CHECK(strstr(text, "dest = 1000)") != NULL);
  }
  MPI_Finalize();
  return check_result();
}
