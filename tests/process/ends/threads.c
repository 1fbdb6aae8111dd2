// The main thread ends by pthread_exit() after MPI_Finalize, as tutorials of threads have it, and the rank
// ends with its last thread: with code 0, and with an error if MPI_Finalize was not called.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank;

static void at_end(void* unused) {
  (void)unused;
  printf("rank %d ends\n", rank);
  fflush(stdout);
}

static void* work(void* unused) {
  usleep(100000 * (useconds_t)rank);
  at_end(unused);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_t thread;
  if (rank % 2 == 1 && pthread_create(&thread, NULL, work, NULL) == 0) pthread_detach(thread);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(argv[1], "finalized") == 0 || rank != 1) MPI_Finalize();
  pthread_exit(NULL);
}
