// A thread of rank 0 sleeps until something from outside of its process wakes it, while all else waits in
// MPI: woken CASE. Right: the job is left alone meanwhile, says "woken", and then, as its ranks do wait for
// what cannot come, ends as a deadlock, although the thread has left behind what it had: a handler, a timer
// that has expired, a child that has ended.
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sources.h"

enum { kMain = 1, kNever = 2 };

static void* pool(void* unused) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
  pthread_mutex_lock(&mutex);
  for (;;) pthread_cond_wait(&work, &mutex);
  return unused;
}

static void* wait_and_send(void* source) {
  ((const struct Source*)source)->wait();
  MPI_Send(NULL, 0, MPI_BYTE, 0, kMain, MPI_COMM_WORLD);
  return NULL;
}

int main(int argc, char** argv) {
  const struct Source* const source = find_source(argc > 1 ? argv[1] : "");
  if (source == NULL) return 9;
  int given = 0, rank = 0;
  // A signal from outside may be for any rank of the process.
  signal(SIGUSR1, SIG_IGN);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    pthread_t thread;
    if (source->prepare != NULL) source->prepare();
    if (source->wait != NULL) {
      pthread_create(&thread, NULL, wait_and_send, (void*)source);
      pthread_detach(thread);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, 0, kMain, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("woken\n");
    fflush(stdout);
    pthread_create(&thread, NULL, pool, NULL);
  }
  MPI_Recv(NULL, 0, MPI_BYTE, rank, kNever, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return 0;
}
