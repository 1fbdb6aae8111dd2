// A deadlock in MPI while other threads of the ranks sleep outside of it: OpenMP's threads between two
// parallel regions, a thread pool that waits for work, a thread that waits for a condition. Hybrid programs
// are like that most of the time. Right: the job ends, and says that no rank can go on.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;

static void* wait_for_work(void* argument) {
  (void)argument;
  pthread_mutex_lock(&mutex);
  for (;;) pthread_cond_wait(&work, &mutex);
  return NULL;
}

static void* receive(void* argument) {
  int number;
  MPI_Recv(&number, 1, MPI_INT, *(int*)argument, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return NULL;
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "openmp";
  int given = 0, rank = 0, size = 0, number = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int next = (rank + 1) % size;
  if (strcmp(kind, "openmp") == 0) {
#pragma omp parallel num_threads(3) reduction(+ : number)
    number += 1;
    MPI_Recv(&number, 1, MPI_INT, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(kind, "pool") == 0) {
    pthread_t threads[3];
    for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, wait_for_work, NULL);
    MPI_Recv(&number, 1, MPI_INT, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(kind, "main") == 0) {
    // The main thread waits for one that waits in MPI.
    pthread_t thread;
    pthread_create(&thread, NULL, receive, &next);
    pthread_join(thread, NULL);
  } else if (strcmp(kind, "condition") == 0 && rank == 0) {
    // One rank has forgotten to tell itself to go on; the others wait for it.
    wait_for_work(NULL);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
