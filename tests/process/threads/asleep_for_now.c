// Threads that sleep outside of MPI while all else waits in it, and go on by themselves: by the clock, when a
// child ends, when a signal comes, when something can be read. Right: the job is left alone and ends well.
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kSeconds = 4 };

static const char* kind;
static int rank;
static sem_t posted;
static int ends[2];

static void post(int signal) {
  (void)signal;
  sem_post(&posted);
}

static void wait_for_post(void) {
  while (sem_wait(&posted) != 0 && errno == EINTR) {
  }
}

/// Sends after some seconds what its rank's main thread waits for.
static void* send_later(void* argument) {
  (void)argument;
  char byte = 1;
  if (strcmp(kind, "clock") == 0) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += kSeconds;
    while (sem_timedwait(&posted, &limit) != 0 && errno == EINTR) {
    }
  } else if (strcmp(kind, "alarm") == 0) {
    wait_for_post();
  } else if (strcmp(kind, "pipe") == 0) {
    byte = read(ends[0], &byte, 1) == 1;
  } else if (strcmp(kind, "sleep") == 0) {
    sleep(kSeconds);
  }
  MPI_Send(&byte, 1, MPI_BYTE, rank, 0, MPI_COMM_WORLD);
  return NULL;
}

int main(int argc, char** argv) {
  kind = argc > 1 ? argv[1] : "clock";
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sem_init(&posted, 0, 0);
  if (rank == 0 && strcmp(kind, "alarm") == 0) {
    signal(SIGALRM, post);
    alarm(kSeconds);
  }
  if (rank == 0 && strcmp(kind, "pipe") == 0) {
    if (pipe(ends) != 0) return 2;
    if (fork() == 0) {
      sleep(kSeconds);
      _exit(write(ends[1], "1", 1) == 1 ? 0 : 1);
    }
  }
  char byte = 0;
  if (rank == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, send_later, NULL);
    MPI_Recv(&byte, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
  }
  MPI_Bcast(&byte, 1, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (byte != 1) printf("rank %d: got %d\n", rank, byte);
  MPI_Finalize();
  return byte != 1;
}
