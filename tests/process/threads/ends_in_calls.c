// A handler that calls pthread_exit(), and has interrupted a function of the C library at any place: also one
// that is no cancellation point, and one that Clump stands in for. Right: the thread ends, its cleanup
// handlers run, and the rank goes on, as with the C library alone. With the name of a function: this one
// alone.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/time.h>
#include <time.h>

#include "../signals/check.h"

enum { kRounds = 12 };

static void in_getpid(void) { (void)getpid(); }
static void in_getppid(void) { (void)getppid(); }
static void in_clock_gettime(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
}
static void in_clock(void) { (void)clock(); }
static void in_dup(void) { close(dup(0)); }
static void in_pthread_kill(void) { pthread_kill(pthread_self(), 0); }
static void in_key(void) {
  pthread_key_t key;
  if (pthread_key_create(&key, NULL) == 0) pthread_key_delete(key);
}
static void in_raise(void) { raise(SIGURG); }
static void in_setitimer(void) {
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_PROF, &never, NULL);
}
static void in_sigaction(void) {
  struct sigaction action;
  sigaction(SIGUSR2, NULL, &action);
}
static void in_signal(void) { signal(SIGUSR2, SIG_IGN); }

static const struct Call {
  const char* name;
  void (*call)(void);
} calls[] = {
    {"getpid", in_getpid},
    {"getppid", in_getppid},
    {"clock_gettime", in_clock_gettime},
    {"clock", in_clock},
    {"dup and close", in_dup},
    {"pthread_kill", in_pthread_kill},
    {"raise", in_raise},
    {"setitimer", in_setitimer},
    {"sigaction", in_sigaction},
    {"signal", in_signal},
    {"pthread_key_create and _delete", in_key},
};

static volatile int begun, cleaned;

static void on_signal(int number) {
  (void)number;
  pthread_exit((void*)7);
}
static void clean_up(void* argument) {
  (void)argument;
  cleaned = 1;
}

static void* run(void* argument) {
  const struct Call* const call = argument;
  pthread_cleanup_push(clean_up, NULL);
  begun = 1;
  for (;;) call->call();
  pthread_cleanup_pop(0);
  return NULL;
}

static void end_in(const struct Call* call, unsigned pause) {
  pthread_t thread;
  void* result = NULL;
  begun = cleaned = 0;
  CHECK(pthread_create(&thread, NULL, run, (void*)call) == 0);
  while (!begun) usleep(50);
  usleep(pause);
  CHECK(pthread_kill(thread, SIGUSR1) == 0);
  CHECK(pthread_join(thread, &result) == 0);
  if (result == (void*)7 && cleaned) return;
  printf("rank %d: %s(): the thread has not ended as it should\n", rank, call->name);
  wrong = 1;
}

int main(int argc, char** argv) {
  int level = 0;
  alarm(100);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  install(SIGUSR1, on_signal, 0);
  for (unsigned i = 0; i < sizeof calls / sizeof *calls; ++i) {
    if (argc > 1 && strcmp(argv[1], calls[i].name) != 0) continue;
    for (unsigned round = 0; round < kRounds; ++round) end_in(&calls[i], 100 + 17 * round);
    pthread_key_t key;  // no lock is left that other threads and ranks wait for
    CHECK(pthread_key_create(&key, NULL) == 0 && pthread_key_delete(key) == 0);
  }
  return end();
}
