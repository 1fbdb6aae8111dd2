// A signal whose default action ends a process ends the rank that it is for, and with it the job: the report
// says which rank and which signal, and the code is 128 and the signal's number.
// For: assert() and abort() after handlers were installed, programs that put the default action back and
// raise the signal again (libgfortran, shells), alarm() as a time limit without a handler.
#undef NDEBUG  // which release builds define
#include <assert.h>
#include <sys/mman.h>

#include "check.h"

static void ignore(int number) { (void)number; }

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const char* how = argc > 1 ? argv[1] : "raise";
  const int it = rank == size - 1;
  // The others handle all of it.
  if (!it)
    for (int number = 1; number < 32; ++number)
      if (number != SIGKILL && number != SIGSTOP) signal(number, ignore);
  MPI_Barrier(MPI_COMM_WORLD);
  if (it) {
    if (strcmp(how, "raise") == 0) raise(SIGUSR1);
    if (strcmp(how, "kill") == 0) kill(getpid(), SIGTERM);
    if (strcmp(how, "alarm") == 0) alarm(1);
    if (strcmp(how, "fault") == 0) *(volatile int*)8 = 1;
    if (strcmp(how, "again") == 0) {
      signal(SIGINT, ignore);
      signal(SIGINT, SIG_DFL);
      raise(SIGINT);
    }
    if (strcmp(how, "abort") == 0) {
      signal(SIGABRT, ignore);  // which returns
      abort();
    }
    if (strcmp(how, "assert") == 0) {
      signal(SIGABRT, ignore);
      assert(rank < 0);
    }
    if (strcmp(how, "blocked") == 0) {
      sigset_t all;
      sigfillset(&all);
      sigprocmask(SIG_BLOCK, &all, NULL);
      *(volatile int*)8 = 1;
    }
  }
  for (int i = 0; i < 1000; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(10000);
  }
  return end();
}
