// The child of a rank has that rank for its parent: getppid() is the rank's process id, and a signal to it
// reaches that rank alone, before and after the child has started a program.
// For: helpers that tell their parent by a signal that they are ready or that time is up, shell scripts with
// `kill -USR1 $PPID`, pre-fork servers, watchdogs.
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../signals/check.h"

extern char** environ;
static volatile sig_atomic_t got;
static volatile pid_t last_sender;
static int expected;

static void note(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  last_sender = info->si_pid;
  got++;
}

static int ends_well(pid_t child) {
  int status = -1;
  pid_t ended;
  while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  return ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// This rank has got one more signal, and each other rank has got none.
static void got_one_more(void) {
  ++expected;
  for (int i = 0; i < 100000 && got < expected; ++i) usleep(1000);
  MPI_Barrier(MPI_COMM_WORLD);
  usleep(2000);
  CHECK(got == expected);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void in_turn(void (*signals_itself)(void)) {
  for (int turn = 0; turn < size; ++turn) {
    if (turn == rank) signals_itself();
    if (turn == rank) {
      got_one_more();
      continue;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(got == expected);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void by_fork(void) {
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    const int right = getpid() != parent && getpid() == (pid_t)syscall(SYS_getpid) && getppid() == parent &&
                      (pid_t)syscall(SYS_getppid) == parent && gettid() == getpid();
    _exit(right && kill(getppid(), SIGUSR1) == 0 ? 0 : 1);
  }
  CHECK(ends_well(child));
  for (int i = 0; i < 100000 && last_sender != child; ++i) usleep(1000);
  CHECK(last_sender == child);
}

static void by_vfork(void) {
  const pid_t child = vfork();
  if (child == 0) _exit(kill(getppid(), SIGUSR1) == 0 ? 0 : 1);
  CHECK(ends_well(child));
}

static void by_grandchild(void) {
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    const pid_t mine = getpid(), its = fork();
    if (its == 0) _exit(getppid() == mine && kill(parent, SIGUSR1) == 0 ? 0 : 1);
    int status = -1;
    _exit(waitpid(its, &status, 0) == its && status == 0 ? 0 : 1);
  }
  CHECK(ends_well(child));
}

static void by_shell(void) { CHECK(system("kill -USR1 $PPID") == 0); }

static void by_shell_with_number(void) {
  char command[64];
  snprintf(command, sizeof command, "kill -USR1 %d", getpid());
  CHECK(system(command) == 0);
}

static void by_spawned_grandchild(void) {
  char command[] = "sh -c 'kill -USR1 $0; sleep 0.05' $PPID; true", shell[] = "sh", option[] = "-c";
  char* arguments[] = {shell, option, command, NULL};
  pid_t child;
  CHECK(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) == 0 && ends_well(child));
}

/// All at once: as each rank has a place of its own for pending signals, none is lost.
static void all_at_once(void) {
  for (int i = 0; i < 20; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    by_fork();
    ++expected;
    for (int k = 0; k < 100000 && got < expected; ++k) usleep(1000);
    CHECK(got == expected);
  }
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  install_info(SIGUSR1, note, SA_RESTART);
  MPI_Barrier(MPI_COMM_WORLD);
  in_turn(by_fork);
  in_turn(by_vfork);
  in_turn(by_grandchild);
  in_turn(by_shell);
  in_turn(by_shell_with_number);
  in_turn(by_spawned_grandchild);
  all_at_once();
  return end();
}
