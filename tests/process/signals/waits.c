// A thread, or the main thread, waits for signals that all block; each rank gets its own.
// For: daemons and schedulers' jobs that block signals in all threads and have one in sigwait() (checkpoint
// on SIGUSR1 or SIGTERM), event loops around sigtimedwait(), shells that wait in sigsuspend().
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/select.h>
#include <time.h>

#include "check.h"

static volatile sig_atomic_t flag;
static void set(int number) {
  (void)number;
  flag++;
}
static volatile int caught[3];

static void* wait_for_three(void* unused) {
  sigset_t set;
  (void)unused;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGTERM);
  for (int i = 0; i < 3; ++i) {
    int number = 0;
    CHECK(sigwait(&set, &number) == 0);
    caught[i] = number;
  }
  return NULL;
}

static void* count_in_thread(void* unblocked) {
  struct timespec moment = {0, 1000000};
  pthread_sigmask(SIG_UNBLOCK, unblocked, NULL);
  for (int i = 0; i < 100000 && flag == 0; ++i) nanosleep(&moment, NULL);
  return pthread_self() != 0 && flag == 1 ? unblocked : NULL;
}

int main(int argc, char** argv) {
  sigset_t all, none, one;
  sigfillset(&all);
  sigemptyset(&none);
  sigprocmask(SIG_BLOCK, &all, NULL);
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  // A thread of its own for them.
  pthread_t waiter;
  CHECK(pthread_create(&waiter, NULL, wait_for_three, NULL) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank % 2 == 0) {
    for (int i = 0; i < 3; ++i) {
      kill(getpid(), i == 1 ? SIGTERM : SIGUSR1);
      while (caught[i] == 0) usleep(1000);
    }
    CHECK(caught[0] == SIGUSR1 && caught[1] == SIGTERM && caught[2] == SIGUSR1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank % 2 == 1) {
    CHECK(caught[0] == 0);  // those of others
    for (int i = 0; i < 3; ++i) {
      pthread_kill(waiter, SIGTERM);
      while (caught[i] == 0) usleep(1000);
    }
  }
  pthread_join(waiter, NULL);

  // The main thread, with a time limit; values; order by number.
  sigemptyset(&one);
  sigaddset(&one, SIGUSR2);
  sigaddset(&one, SIGUSR1);
  struct timespec limit = {0, 50000000};
  CHECK(sigtimedwait(&one, NULL, &limit) == -1 && errno == EAGAIN);
  siginfo_t info;
  sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = 7 + rank});
  raise(SIGUSR1);
  CHECK(sigwaitinfo(&one, &info) == SIGUSR1 && info.si_code == SI_USER);  // the C library calls SI_TKILL so
  CHECK(sigwaitinfo(&one, &info) == SIGUSR2 && info.si_value.sival_int == 7 + rank);
  limit.tv_nsec = 0;
  CHECK(sigtimedwait(&one, &info, &limit) == -1 && errno == EAGAIN);
  alarm(1);
  sigemptyset(&one);
  sigaddset(&one, SIGALRM);
  CHECK(sigwaitinfo(&one, &info) == SIGALRM);

  // sigsuspend() lets one in, and the mask is back after it.
  install(SIGUSR1, set, 0);
  raise(SIGUSR1);
  CHECK(flag == 0);
  CHECK(sigsuspend(&none) == -1 && errno == EINTR && flag == 1);
  sigset_t now;
  sigprocmask(SIG_BLOCK, NULL, &now);
  CHECK(sigismember(&now, SIGUSR1) == 1);
  raise(SIGUSR1);
  CHECK(ppoll(NULL, 0, NULL, &none) == -1 && errno == EINTR && flag == 2);
  install(SIGALRM, set, 0);
  alarm(1);
  struct timespec long_time = {200, 0};
  CHECK(pselect(0, NULL, NULL, NULL, &long_time, &none) == -1 && errno == EINTR && flag == 3);
  sigprocmask(SIG_BLOCK, NULL, &now);
  CHECK(sigismember(&now, SIGALRM) == 1);

  // A signal to the rank goes to the thread that lets it in.
  flag = 0;
  pthread_t open;
  void* result = NULL;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  CHECK(pthread_create(&open, NULL, count_in_thread, &one) == 0);
  usleep(20000);
  kill(getpid(), SIGUSR1);
  pthread_join(open, &result);
  CHECK(result != NULL);
  return end();
}
