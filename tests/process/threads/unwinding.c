// Threads of a rank that end in a function of the C library: cancelled there, or by pthread_exit() in a
// signal handler; and in code without unwind tables. Right: the thread ends with its result, cleanup handlers
// run, and the rank goes on. Also threads whose pthread_t is gone when they run.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void* leave(void* argument);  // no_tables.c

static int rank, failures;
static volatile int begun, cleaned;
static int locked = -1;  // a file on which another has all locks
static pid_t child;      // which waits for ever

static void fail(const char* call, const char* what) {
  ++failures;
  printf("rank %d: %s: %s\n", rank, call, what);
}

static void on_signal(int number) {
  (void)number;
  pthread_exit((void*)7);
}

static sigset_t only_usr1(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  return set;
}

static void pend(void) {
  const sigset_t set = only_usr1();
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  pthread_kill(pthread_self(), SIGUSR1);
}

// Calls in which the handler runs that ends the thread.
static void by_raise(void) { raise(SIGUSR1); }
static void by_gsignal(void) { gsignal(SIGUSR1); }
static void by_kill(void) { kill(getpid(), SIGUSR1); }
static void by_pthread_kill(void) { pthread_kill(pthread_self(), SIGUSR1); }
static void by_tgkill(void) { tgkill(getpid(), gettid(), SIGUSR1); }
static void by_sigqueue(void) { sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 1}); }
static void by_pthread_sigqueue(void) {
  pthread_sigqueue(pthread_self(), SIGUSR1, (union sigval){.sival_int = 1});
}
static void by_pthread_sigmask(void) {
  const sigset_t set = only_usr1();
  pend();
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
static void by_sigprocmask(void) {
  const sigset_t set = only_usr1();
  pend();
  sigprocmask(SIG_UNBLOCK, &set, NULL);
}
static void by_siglongjmp(void) {
  sigjmp_buf place;
  if (sigsetjmp(place, 1) != 0) return;
  pend();
  siglongjmp(place, 1);
}
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void by_sigrelse(void) {
  pend();
  sigrelse(SIGUSR1);
}
static void by_sigset(void) {
  pend();
  sigset(SIGUSR1, on_signal);
}
static void by_sigsetmask(void) {
  pend();
  sigsetmask(0);
}
static void by_ppoll(void) {
  sigset_t none;
  sigemptyset(&none);
  pend();
  ppoll(NULL, 0, NULL, &none);
}
static void in_sched_yield(void) {
  for (;;) sched_yield();
}
static void in_flock(void) { flock(locked, LOCK_EX); }
static void in_fcntl(void) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  fcntl(locked, F_SETLKW, &lock);
}
static void in_lockf(void) { (void)!lockf(locked, F_LOCK, 0); }
static void in_wait4(void) { wait4(child, NULL, 0, NULL); }
static void in_wait3(void) { wait3(NULL, 0, NULL); }
static void in_waitid(void) {
  siginfo_t info;
  waitid(P_PID, (id_t)child, &info, WEXITED);
}
static void in_waitid_of_all(void) {
  siginfo_t info;
  waitid(P_ALL, 0, &info, WEXITED);
}
static void in_waitpid(void) { waitpid(child, NULL, 0); }

static const struct Call {
  const char* name;
  void (*call)(void);
  int waits;      // for a signal that another thread sends
  int cancelled;  // is a cancellation point
} calls[] = {
    {"raise", by_raise, 0, 0},
    {"gsignal", by_gsignal, 0, 0},
    {"kill", by_kill, 0, 0},
    {"pthread_kill", by_pthread_kill, 0, 0},
    {"tgkill", by_tgkill, 0, 0},
    {"sigqueue", by_sigqueue, 0, 0},
    {"pthread_sigqueue", by_pthread_sigqueue, 0, 0},
    {"pthread_sigmask", by_pthread_sigmask, 0, 0},
    {"sigprocmask", by_sigprocmask, 0, 0},
    {"siglongjmp", by_siglongjmp, 0, 0},
    {"sigrelse", by_sigrelse, 0, 0},
    {"sigset", by_sigset, 0, 0},
    {"sigsetmask", by_sigsetmask, 0, 0},
    {"ppoll", by_ppoll, 0, 0},
    {"sched_yield", in_sched_yield, 1, 0},
    {"flock", in_flock, 1, 0},
    {"fcntl(F_SETLKW)", in_fcntl, 1, 1},
    {"lockf", in_lockf, 1, 1},
    {"wait4", in_wait4, 1, 1},
    {"wait3", in_wait3, 1, 1},
    {"waitid", in_waitid, 1, 1},
    {"waitid(P_ALL)", in_waitid_of_all, 1, 1},
    {"waitpid", in_waitpid, 1, 1},
};

static void clean_up(void* argument) {
  (void)argument;
  cleaned = 1;
}

static void* run(void* argument) {
  const struct Call* const call = argument;
  const sigset_t set = only_usr1();
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  pthread_cleanup_push(clean_up, NULL);
  begun = 1;
  call->call();
  pthread_cleanup_pop(0);
  return NULL;
}

static void check(const struct Call* call, int cancels) {
  pthread_t thread;
  void* result = NULL;
  begun = cleaned = 0;
  pthread_create(&thread, NULL, run, (void*)call);
  while (!begun) usleep(1000);
  if (call->waits) usleep(10000);
  if (cancels)
    pthread_cancel(thread);
  else if (call->waits)
    pthread_kill(thread, SIGUSR1);
  pthread_join(thread, &result);
  if (result != (cancels ? PTHREAD_CANCELED : (void*)7))
    fail(call->name, cancels ? "the thread was not cancelled" : "the thread has not ended in the handler");
  if (!cleaned) fail(call->name, "the cleanup handler has not run");
}

// A process that has the file locked in all ways, and waits.
static void start_child(void) {
  char name[] = "/tmp/clump_unwinding_XXXXXX";
  int ends[2];
  locked = mkstemp(name);
  if (pipe(ends) != 0 || (child = fork()) < 0) exit(2);
  if (child == 0) {
    const int own = open(name, O_RDWR);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (own >= 0 && flock(own, LOCK_EX) == 0 && fcntl(own, F_SETLK, &lock) == 0)
      (void)!write(ends[1], "1", 1);
    for (;;) pause();
  }
  close(ends[1]);
  char byte;
  if (read(ends[0], &byte, 1) != 1) fail("fork", "the child has no locks");
  close(ends[0]);
  unlink(name);
}

// The memory of the pthread_t is the thread's own to free.
struct Memory {
  pthread_t thread;
};
static void* unmap(void* memory) {
  munmap(memory, 4096);
  return NULL;
}

static void check_detached(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  for (int i = 0; i < 1000; ++i) {
    struct Memory* const memory =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    while (pthread_create(&memory->thread, &attributes, unmap, memory) != 0) usleep(1000);
  }
}

static void* nothing(void* argument) { return argument; }

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  alarm(120);
  const sigset_t set = only_usr1();
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGUSR1, &action, NULL);
  start_child();
  for (unsigned i = 0; i < sizeof calls / sizeof *calls; ++i) {
    check(&calls[i], 0);
    if (calls[i].cancelled) check(&calls[i], 1);
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  for (int i = 0; i < 20; ++i) {
    pthread_t thread;
    void* result = NULL;
    pthread_create(&thread, NULL, i % 2 == 0 ? leave : nothing, (void*)7);
    pthread_join(thread, &result);
    if (result != (void*)7) fail("pthread_exit", "the thread without unwind tables has another result");
  }
  check_detached();
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 0;
}
