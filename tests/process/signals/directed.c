// A signal that a rank sends to itself runs its own handler, with the mask, the flags and the siginfo_t that
// it would get as a process; no other rank's handler runs, and none's disposition changes.
// For: test suites of libraries that raise() signals in themselves, language runtimes (Python's and Perl's
// signal modules call sigaction() and set a flag), programs that stop themselves by kill(getpid(), ...).
#include <pthread.h>
#include <sys/syscall.h>

#include "check.h"

static volatile sig_atomic_t got[65], depth, deepest, last_code, last_value, masked;
static volatile pid_t last_pid;
static void count(int number) { got[number]++; }
static void note(int number, siginfo_t* info, void* context) {
  (void)context;
  got[number]++;
  last_code = info->si_code;
  last_pid = info->si_pid;
  last_value = info->si_value.sival_int;
}
static void nest(int number) {
  if (++depth > deepest) deepest = depth;
  if (got[number]++ < 2) raise(number);
  --depth;
}
static void look_at_mask(int number) {
  sigset_t now;
  (void)number;
  sigprocmask(SIG_BLOCK, NULL, &now);
  masked = sigismember(&now, SIGUSR1) + 2 * sigismember(&now, SIGUSR2) + 4 * sigismember(&now, SIGHUP);
}
static void raise_other(int number) {
  got[number]++;
  raise(SIGHUP);  // blocked meanwhile: its handler comes after this one
  CHECK(got[SIGHUP] == 0);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  // Odd ranks handle SIGUSR1, even ones ignore it.
  signal(SIGUSR1, rank % 2 ? count : SIG_IGN);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i <= rank; ++i) {
    CHECK(raise(SIGUSR1) == 0);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    CHECK(pthread_kill(pthread_self(), SIGUSR1) == 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(got[SIGUSR1] == (rank % 2 ? 3 * (rank + 1) : 0));
  struct sigaction seen;
  CHECK(sigaction(SIGUSR1, NULL, &seen) == 0 && seen.sa_handler == (rank % 2 ? count : SIG_IGN));

  install_info(SIGUSR2, note, 0);
  CHECK(raise(SIGUSR2) == 0 && last_code == SI_TKILL && last_pid == getpid());
  CHECK(kill(getpid(), SIGUSR2) == 0 && last_code == SI_USER);
  CHECK(sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = 100 + rank}) == 0);
  CHECK(last_code == SI_QUEUE && last_value == 100 + rank && got[SIGUSR2] == 3);
  CHECK(kill(getpid(), 0) == 0 && raise(1000) != 0);

  // Past the C library.
  got[SIGUSR2] = 0;
  CHECK(syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR2) == 0);
  CHECK(got[SIGUSR2] == 1 && last_code == SI_TKILL);
  CHECK(syscall(SYS_kill, getpid(), SIGUSR2) == 0 && got[SIGUSR2] == 2);

  // Nested, one after the other, and once.
  install(SIGHUP, nest, 0);
  raise(SIGHUP);
  CHECK(got[SIGHUP] == 3 && deepest == 1);
  got[SIGHUP] = deepest = 0;
  install(SIGHUP, nest, SA_NODEFER);
  raise(SIGHUP);
  CHECK(got[SIGHUP] == 3 && deepest == 3);
  got[SIGHUP] = 0;
  install(SIGHUP, count, (int)SA_RESETHAND);
  raise(SIGHUP);
  CHECK(sigaction(SIGHUP, NULL, &seen) == 0 && seen.sa_handler == SIG_DFL && got[SIGHUP] == 1);

  // The mask in a handler, and after it.
  struct sigaction masking;
  memset(&masking, 0, sizeof masking);
  masking.sa_handler = look_at_mask;
  sigaddset(&masking.sa_mask, SIGUSR2);
  sigaction(SIGUSR1, &masking, NULL);
  raise(SIGUSR1);
  CHECK(masked == 1 + 2);
  sigset_t set, now;
  sigprocmask(SIG_BLOCK, NULL, &now);
  CHECK(!sigismember(&now, SIGUSR1) && !sigismember(&now, SIGUSR2));

  // Pending, once; it comes when it is let in.
  signal(SIGUSR1, count);
  got[SIGUSR1] = 0;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  if (rank % 2 == 0) {
    raise(SIGUSR1);
    raise(SIGUSR1);
    kill(getpid(), SIGUSR1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  sigset_t pending;
  CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == (rank % 2 == 0));
  CHECK(got[SIGUSR1] == 0);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  CHECK(got[SIGUSR1] == (rank % 2 == 0 ? 2 : 0));  // one for the thread, one for the rank
  CHECK(sigpending(&pending) == 0 && !sigismember(&pending, SIGUSR1));

  // One that a handler raises and blocks waits for its end.
  got[SIGHUP] = got[SIGUSR2] = 0;
  struct sigaction raising;
  memset(&raising, 0, sizeof raising);
  raising.sa_handler = raise_other;
  sigaddset(&raising.sa_mask, SIGHUP);
  sigaction(SIGUSR2, &raising, NULL);
  signal(SIGHUP, count);
  raise(SIGUSR2);
  CHECK(got[SIGUSR2] == 1 && got[SIGHUP] == 1);

  // Real-time signals are queued, in order.
  const int queued = SIGRTMIN + 3;
  install_info(queued, note, 0);
  sigemptyset(&set);
  sigaddset(&set, queued);
  sigprocmask(SIG_BLOCK, &set, NULL);
  for (int i = 0; i < 5; ++i) CHECK(sigqueue(getpid(), queued, (union sigval){.sival_int = i}) == 0);
  CHECK(got[queued] == 0);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  CHECK(got[queued] == 5 && last_value == 4);

  // What is ignored is forgotten.
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  got[SIGUSR1] = 0;
  raise(SIGUSR1);
  signal(SIGUSR1, SIG_IGN);
  signal(SIGUSR1, count);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  CHECK(got[SIGUSR1] == 0);
  return end();
}
