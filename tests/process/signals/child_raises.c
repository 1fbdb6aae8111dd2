// A child that a rank has forked ends by a fatal signal, whether an instruction causes it, or raise() or
// kill(). For: shells and test drivers that look at WTERMSIG.
#include <sys/wait.h>

#include "check.h"

static int raise_it(int number) { return raise(number); }
static int kill_itself(int number) { return kill(getpid(), number); }
static int fault(int number) { return *(volatile int*)(long)(number & 0); }

static int how_it_ends(int (*end_by)(int), int number) {
  const pid_t child = fork();
  if (child == 0) {
    end_by(number);
    _exit(99);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int all[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGTERM, SIGUSR1};
  for (unsigned i = 0; i < sizeof all / sizeof *all; ++i) {
    CHECK(how_it_ends(raise_it, all[i]) == all[i]);
    CHECK(how_it_ends(kill_itself, all[i]) == all[i]);
  }
  CHECK(how_it_ends(fault, SIGSEGV) == SIGSEGV);
  return end();
}
