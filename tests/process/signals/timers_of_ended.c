// Rank 0 ends with timers that run. Right: they end with it: no function of theirs is called any more, and no
// signal comes to another rank, whose action would end it, or whose handler would count it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

#include "check.h"

struct Shared {
  volatile int calls;
  volatile int has_ended;
};
static struct Shared* shared;
static volatile sig_atomic_t handled;

static void count_call(union sigval value) {
  (void)value;
  ++shared->calls;
}
static void count_signal(int number) {
  (void)number;
  ++handled;
}
static void note_end(void) { shared->has_ended = 1; }

static void share(char* name) {
  if (rank == 0) {
    const int file = mkstemp(name);
    CHECK(file >= 0 && ftruncate(file, 4096) == 0);
    close(file);
  }
  MPI_Bcast(name, (int)strlen(name) + 1, MPI_CHAR, 0, MPI_COMM_WORLD);
  const int file = open(name, O_RDWR);
  shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(file >= 0 && shared != MAP_FAILED);
  close(file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) unlink(name);
}

static void start_timers(void) {
  const struct itimerspec often = {{0, 2000000}, {0, 2000000}};
  struct sigevent by_signal = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  struct sigevent by_default = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
  struct sigevent by_call = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = count_call};
  struct sigevent* const all[] = {&by_signal, &by_default, &by_call};
  signal(SIGUSR2, SIG_IGN);
  for (int i = 0; i < 3; ++i) {
    timer_t timer;
    CHECK(timer_create(CLOCK_MONOTONIC, all[i], &timer) == 0);
    CHECK(timer_settime(timer, 0, &often, NULL) == 0);
  }
  while (shared->calls < 3 || handled < 3) usleep(1000);
}

/// Waits until no function was called for a while. Otherwise rank 0's timers go on.
static void look_at_calls(void) {
  enum { kStill = 20, kMost = 500 };
  while (!shared->has_ended) usleep(1000);
  int still = 0;
  for (int looks = 0, before = -1; still < kStill && looks < kMost; ++looks) {
    const int now = shared->calls;
    still = now == before ? still + 1 : 0;
    before = now;
    usleep(5000);
  }
  CHECK(still == kStill);
}

int main(int argc, char** argv) {
  char name[] = "/tmp/clump_timers_XXXXXX";
  begin(&argc, &argv);
  share(name);
  install(SIGUSR1, count_signal, SA_RESTART);
  if (rank == 0) {
    start_timers();
    atexit(note_end);
  }
  const int any = end();
  if (rank == 0) return any;
  look_at_calls();
  CHECK(handled == 0);
  return wrong;
}
