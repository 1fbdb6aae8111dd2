// A handler that prints the stack finds the function that has caused the signal on it.
// For: handlers that print a backtrace (libgfortran's, GCC's libbacktrace examples, glog, Abseil).
#include <execinfo.h>
#include <setjmp.h>

#include "check.h"

static sigjmp_buf place;
static volatile sig_atomic_t found;
static char* volatile wanted;

static void look(int number) {
  void* frames[64];
  const int count = backtrace(frames, 64);
  found = 0;
  for (int i = 0; i < count; ++i) found += (char*)frames[i] >= wanted && (char*)frames[i] < wanted + 256;
  if (number == SIGSEGV) siglongjmp(place, 1);
}

static int __attribute__((noinline, noclone)) fault(volatile int* where) { return *where + 1; }
static int __attribute__((noinline, noclone)) call_raise(int number) { return raise(number) + 1; }
static volatile int flag;
static void* volatile nowhere = (void*)16;
static int __attribute__((noinline, noclone)) compute(void) {
  int laps = 0;
  while (!found && ++laps) flag++;
  return laps;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  void* frames[4];
  backtrace(frames, 4);  // loads what it needs
  install(SIGSEGV, look, 0);
  install(SIGUSR1, look, 0);
  install(SIGALRM, look, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  wanted = (char*)(void*)fault;
  if (sigsetjmp(place, 1) == 0) CHECK(fault(nowhere) == 0);
  CHECK(found >= 1);
  wanted = (char*)(void*)call_raise;
  CHECK(call_raise(SIGUSR1) == 1 && found >= 1);
  wanted = (char*)(void*)compute;
  found = 0;
  alarm(1);
  CHECK(compute() != 0 && found >= 1);
  return end();
}
