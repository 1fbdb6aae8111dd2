/* measured FILE COMMAND [ARG ...]: runs a test and writes the seconds of processor time that it took into FILE, "user system". Children that the command
   has waited for are in it; a daemon that outlives it is not. Ends as the command does: with its exit code, or by its signal. If measured itself is killed,
   so is the command. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int cannot(const char *what, const char *which) {
  fprintf(stderr, "measured: cannot %s %s: %s\n", what, which, strerror(errno));
  return 127;
}

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

static int end_like(int status) {
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  const struct rlimit no_second_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_second_core);
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  return 128 + WTERMSIG(status); /* the signal is blocked here */
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: measured FILE COMMAND [ARG ...]\n");
    return 2;
  }
  unlink(argv[1]); /* what an earlier run took is not told for this one */
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child < 0) return cannot("start", argv[2]);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(127); /* killed before prctl() */
    execvp(argv[2], argv + 2);
    _exit(cannot("start", argv[2]));
  }
  signal(SIGINT, SIG_IGN); /* the terminal sends these to the command too, and it decides */
  signal(SIGQUIT, SIG_IGN);
  int status = 0;
  struct rusage used;
  while (wait4(child, &status, 0, &used) < 0)
    if (errno != EINTR) return cannot("wait for", argv[2]);
  FILE *file = fopen(argv[1], "w");
  if (!file) return cannot("write", argv[1]);
  fprintf(file, "%.3f %.3f\n", seconds(used.ru_utime), seconds(used.ru_stime));
  if (fclose(file)) return cannot("write", argv[1]);
  return end_like(status);
}
