// What the tests of mpiexec --seed and --explore ask for: behaviour MODE.
#include "explore.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static int order_of_arrival(void) {
  const int rank = rank_in_world(), size = size_of_world();
  int source = 0;
  for (int i = 1; i < size; ++i) {
    MPI_Status status;
    if (rank == 0) {
      MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
      printf("%d ", status.MPI_SOURCE);
      source = status.MPI_SOURCE;
    }
  }
  if (rank == 0)
    printf("after %.6f\n", MPI_Wtime());
  else
    MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  return source;
}

static void* call_mpi(void* unused) {
  (void)unused;
  rank_in_world();
  return NULL;
}

static void* sleep_a_little(void* unused) {
  usleep(20000);
  return unused;
}

static void run_thread(void* (*body)(void*)) {
  pthread_t thread;
  pthread_create(&thread, NULL, body, NULL);
  pthread_join(thread, NULL);
}

static void poll_for_ever(void) {
  for (int there = 0; !there;) MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
}

/// Whether there are the two lines that the test gives.
static int read_input(void) {
  char line[100];
  int lines = 0;
  while (rank_in_world() == 0 && fgets(line, sizeof line, stdin) != NULL) ++lines;
  return rank_in_world() != 0 || lines == 2 ? 0 : 9;
}

int main(int argc, char** argv) {
  int level, code = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  const char* const mode = argc > 1 ? argv[1] : "";
  if (strcmp(mode, "order") == 0) order_of_arrival();
  if (strcmp(mode, "last") == 0) code = order_of_arrival() == 2 ? 7 : 0;
  if (strcmp(mode, "signal") == 0 && order_of_arrival() == 2) raise(SIGUSR1);
  if (strcmp(mode, "thread") == 0) run_thread(call_mpi);
  if (strcmp(mode, "join") == 0) {
    run_thread(sleep_a_little);
    order_of_arrival();
  }
  if (strcmp(mode, "poll") == 0) poll_for_ever();
  if (strcmp(mode, "hour") == 0) sleep(3600);
  if (strcmp(mode, "input") == 0) code = read_input();
  MPI_Finalize();
  return code;
}
