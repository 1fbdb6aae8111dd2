// What a child has: after fork() all of the rank's dispositions and its mask; after exec what it ignores
// and its mask. And SIGCHLD comes to the rank whose child has ended.
// For: shells and make (SIGCHLD handlers that reap), nohup, daemons that start helpers with SIGPIPE ignored.
#include <spawn.h>
#include <sys/wait.h>

#include "check.h"

static volatile sig_atomic_t got, reaped;
static void count(int number) {
  (void)number;
  got++;
}
static void reap(int number) {
  (void)number;
  got++;
  while (waitpid(-1, NULL, WNOHANG) > 0) reaped++;
}

static int is_in(const char* line, int number) {
  FILE* status = fopen("/proc/self/status", "r");
  char text[256];
  unsigned long long set = 0;
  while (fgets(text, sizeof text, status))
    if (strncmp(text, line, strlen(line)) == 0) sscanf(text + strlen(line), "%llx", &set);
  fclose(status);
  return (int)(set >> (number - 1) & 1);
}

/// What a program that this one starts finds.
static int heir(const char* expected) {
  const int found = 1 * is_in("SigIgn:", SIGPIPE) + 2 * is_in("SigIgn:", SIGUSR1) +
                    4 * is_in("SigBlk:", SIGHUP) + 8 * is_in("SigCgt:", SIGUSR2);
  if (found != atoi(expected)) fprintf(stderr, "the new program has %d, not %s\n", found, expected);
  return found != atoi(expected);
}

int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[1], "heir") == 0) return heir(argv[2]);
  begin(&argc, &argv);
  signal(SIGPIPE, rank % 2 ? SIG_IGN : SIG_DFL);
  signal(SIGUSR1, rank % 2 ? count : SIG_IGN);
  signal(SIGUSR2, count);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGHUP);
  if (rank % 2) sigprocmask(SIG_BLOCK, &one, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  int status = -1;
  pid_t child = fork();
  if (child == 0) {
    raise(SIGUSR2);
    raise(SIGUSR1);
    kill(getpid(), SIGUSR2);
    _exit(got == (rank % 2 ? 3 : 2) && is_in("SigBlk:", SIGHUP) == rank % 2 ? 0 : 1);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  child = fork();
  if (child == 0) {
    char expected[8];
    snprintf(expected, sizeof expected, "%d", rank % 2 ? 1 + 4 : 2);
    execl("/proc/self/exe", argv[0], "heir", expected, (char*)NULL);
    _exit(3);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  // The same by posix_spawn() and by the shell.
  extern char** environ;
  char expected[8];
  snprintf(expected, sizeof expected, "%d", rank % 2 ? 1 + 4 : 2);
  char* arguments[] = {argv[0], (char*)"heir", expected, NULL};
  CHECK(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) == 0);
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  char command[4200];
  snprintf(command, sizeof command, "%s heir %d", argv[0], rank % 2 ? 1 : 2);  // dash blocks nothing
  CHECK(system(command) == 0);
  // A child that has the default action ends by it, and the rank does not.
  child = fork();
  if (child == 0) {
    signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
    _exit(3);
  }
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  MPI_Barrier(MPI_COMM_WORLD);

  // Even ranks have children, which end at the same time.
  got = 0;
  signal(SIGCHLD, reap);
  MPI_Barrier(MPI_COMM_WORLD);
  sigset_t none;
  sigemptyset(&one);
  sigaddset(&one, SIGCHLD);
  sigprocmask(SIG_BLOCK, &one, &none);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank % 2 == 0) {
    for (int i = 0; i < 3; ++i) {
      if (fork() == 0) {
        usleep(50000);
        _exit(0);
      }
    }
    while (reaped < 3) sigsuspend(&none);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  sigprocmask(SIG_SETMASK, &none, NULL);
  CHECK(reaped == (rank % 2 ? 0 : 3) && (got == 0) == (rank % 2 == 1));
  return end();
}
