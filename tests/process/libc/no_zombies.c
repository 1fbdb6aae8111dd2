// Ranks that ignore SIGCHLD, beside ranks that wait for their children. Right: the ones get ECHILD, after the
// child has ended, and the others get what the child has said.
#include "check.h"

#include <signal.h>

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int ignores = rank % 2;
  step();
  if (ignores) signal(SIGCHLD, SIG_IGN);
  step();
  for (int round = 0; round < 5; ++round) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
      usleep(20000);
      _exit(3);
    }
    errno = 0;
    const pid_t ended = round % 2 != 0 ? waitpid(child, &status, 0) : wait(&status);
    if (ignores) {
      check(ended == -1 && errno == ECHILD, "wait gives %d (%s)", (int)ended, strerror(errno));
      check(kill(child, 0) == -1 && errno == ESRCH, "the child is there still");
    } else {
      check(ended == child && WEXITSTATUS(status) == 3, "wait gives %d, status %x", (int)ended, (unsigned)status);
    }
  }
  signal(SIGCHLD, SIG_DFL);
  return end();
}
