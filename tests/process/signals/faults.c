// A fault runs the handler of the rank that has caused it, which may leave by siglongjmp(); ranks without a
// handler are not concerned.
// For: numerical programs with feenableexcept() and a SIGFPE handler, probes for instructions by SIGILL
// (OpenSSL's, GMP's), garbage collectors and libsigsegv that handle SIGSEGV, also on a stack of their own.
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>

#include "check.h"

static sigjmp_buf place;
static volatile sig_atomic_t faults, code;
static void* volatile address;
static volatile char* page;
static char signal_stack[1 << 16];
static volatile sig_atomic_t on_signal_stack;

static void leave(int number, siginfo_t* info, void* context) {
  (void)context;
  char here;
  faults++;
  code = info->si_code;
  address = info->si_addr;
  on_signal_stack = &here >= signal_stack && &here < signal_stack + sizeof signal_stack;
  siglongjmp(place, number);
}
static void mend(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  faults++;
  if ((char*)info->si_addr == page) mprotect((void*)page, 4096, PROT_READ | PROT_WRITE);
}
/// Its stack is looked at before the handler runs, and errno stays the program's.
static void* go_on_in_thread(void* unused) {
  errno = 77;
  page[0] = 2;
  CHECK(errno == 77 && page[0] == 2 && faults == 2);
  return unused;
}
static int __attribute__((noinline)) use_up(volatile char* before) {
  volatile char frame[1 << 16];
  frame[0] = before != NULL ? before[0] : 1;
  return use_up(frame) + frame[0];
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  int turn = 0;
  MPI_Barrier(MPI_COMM_WORLD);
#if defined(__x86_64__)
  if (rank % 2 == 1) {
    install_info(SIGFPE, leave, 0);
    feenableexcept(FE_DIVBYZERO);
    for (volatile int i = 0; i < 3; ++i) {
      volatile double zero = 0, result = 0;
      if (sigsetjmp(place, 1) == 0) {
        result = 1 / zero;
        CHECK(result == 0);  // is not reached
      } else {
        CHECK(code == FPE_FLTDIV);
        feclearexcept(FE_ALL_EXCEPT);
        feenableexcept(FE_DIVBYZERO);
      }
    }
    fedisableexcept(FE_ALL_EXCEPT);
    CHECK(faults == 3);
  } else {
    volatile double zero = 0, result = 1 / zero;
    CHECK(result > 1e300);
  }
#endif
  MPI_Allreduce(&rank, &turn, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);

  faults = 0;
  page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (rank % 2 == 0) {
    install_info(SIGSEGV, mend, 0);
    page[0] = 1;  // goes on after the handler
    CHECK(faults == 1 && page[0] == 1);
    mprotect((void*)page, 4096, PROT_NONE);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, go_on_in_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
    faults = 1;
    install_info(SIGSEGV, leave, 0);
    for (volatile int i = 0; i < 3; ++i)
      if (sigsetjmp(place, 1) == 0) *(volatile int*)(8L * rank) = 1;
    CHECK(faults == 4 && address == (void*)(8L * rank) && !on_signal_stack);
    // Used up, and handled on a stack that is there for that.
    stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack}, before;
    CHECK(sigaltstack(&stack, NULL) == 0 && sigaltstack(NULL, &before) == 0 && before.ss_sp == signal_stack);
    install_info(SIGSEGV, leave, SA_ONSTACK);
    if (sigsetjmp(place, 1) == 0) use_up(NULL);
    CHECK(faults == 5 && on_signal_stack);
    signal(SIGSEGV, SIG_DFL);
  }
  struct sigaction seen;
  CHECK(sigaction(SIGSEGV, NULL, &seen) == 0 && seen.sa_handler == SIG_DFL);
  sigset_t now;
  sigprocmask(SIG_BLOCK, NULL, &now);
  CHECK(!sigismember(&now, SIGSEGV) && !sigismember(&now, SIGFPE));
  return end();
}
