// Signals between the threads of a rank: to the main thread while it computes, waits in MPI or sleeps, to a
// thread that computes; and those for the rank, which a thread gets that does not block them.
// For: language run-times that interrupt their threads (Go's and Java's by pthread_kill or tgkill), watchdog
// threads that end a main thread's wait.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "check.h"

int tgkill(pid_t process, pid_t thread, int number);

static volatile sig_atomic_t got;
static volatile int go, over, computes;
static pthread_t main_thread;
static pid_t main_number;
static __thread volatile int mine;
static void count(int number) {
  (void)number;
  got++;
  mine++;
}

static void* call_main(void* unused) {
  (void)unused;
  for (int turn = 1; turn <= 4; ++turn) {
    while (go < turn) usleep(1000);
    usleep(200000);
    if (turn % 2)
      CHECK(pthread_kill(main_thread, SIGUSR1) == 0);
    else
      CHECK(tgkill(getpid(), main_number, SIGUSR1) == 0);
  }
  CHECK(mine == 0);
  return NULL;
}

static void* compute(void* unused) {
  (void)unused;
  computes = 1;
  while (!mine) {
  }
  over = 1;
  return NULL;
}

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  main_thread = pthread_self();
  main_number = gettid();
  install(SIGUSR1, count, 0);
  pthread_t caller, computer;
  CHECK(pthread_create(&caller, NULL, call_main, NULL) == 0);
  // Computing.
  go = 1;
  while (mine < 1) {
  }
  // Asleep.
  go = 2;
  CHECK(sleep(100) > 50 && mine == 2);
  // In MPI.
  int what = 0;
  MPI_Request request;
  MPI_Irecv(&what, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &request);
  go = 3;
  if (rank == 0) {
    while (mine < 3) {
    }
    usleep(300000);
    MPI_Send(&rank, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(&rank, 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD);
  }
  CHECK(mine == 3);
  // In a system call.
  int ends[2];
  char byte;
  CHECK(pipe(ends) == 0);
  go = 4;
  CHECK(read(ends[0], &byte, 1) == -1 && errno == EINTR && mine == 4);
  pthread_join(caller, NULL);
  // A thread that computes.
  CHECK(pthread_create(&computer, NULL, compute, NULL) == 0);
  while (!computes) usleep(100);
  CHECK(pthread_kill(computer, SIGUSR1) == 0 && pthread_kill(computer, 0) == 0);
  pthread_join(computer, NULL);
  CHECK(over && mine == 4);
  // One that is for the rank, while the main thread blocks it.
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  over = computes = 0;
  CHECK(pthread_create(&computer, NULL, compute, NULL) == 0);
  sigprocmask(SIG_BLOCK, &one, NULL);
  while (!computes) usleep(100);
  kill(getpid(), SIGUSR1);
  pthread_join(computer, NULL);
  CHECK(over && mine == 4);
  CHECK(got == 6);
  return end();
}
