// What a process keeps for the programs that it starts, and over exec(): resource limits, timers, pending and
// ignored signals, the mask, the directory and the file mode mask. A rank that shares its process has its
// own. For: `ulimit` in job scripts that start solvers, alarm(60) and then exec(), nohup.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "../signals/check.h"

extern char** environ;

static void limit(int resource, rlim_t soft) {
  struct rlimit now;
  CHECK(getrlimit(resource, &now) == 0);
  now.rlim_cur = soft;
  CHECK(setrlimit(resource, &now) == 0);
}

/// What a program finds.
static int look(const char* number) {
  rank = atoi(number);
  struct rlimit size_of_file, time, files;
  getrlimit(RLIMIT_FSIZE, &size_of_file);
  getrlimit(RLIMIT_CPU, &time);
  getrlimit(RLIMIT_NOFILE, &files);
  CHECK(size_of_file.rlim_cur == 1048576u * (rank + 1) && time.rlim_cur == 700u + rank &&
        files.rlim_cur == 300u + rank);
  sigset_t blocked;
  struct sigaction action;
  sigprocmask(SIG_BLOCK, NULL, &blocked);
  CHECK(sigismember(&blocked, SIGUSR2) && !sigismember(&blocked, SIGTERM));
  CHECK(sigaction(SIGWINCH, NULL, &action) == 0 && action.sa_handler == (rank % 2 == 1 ? SIG_IGN : SIG_DFL));
  CHECK(sigaction(SIGTERM, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
  char folder[64] = "";
  CHECK(getcwd(folder, sizeof folder) != NULL && strcmp(folder, rank % 2 == 1 ? "/usr" : "/") == 0);
  CHECK(umask(0) == (mode_t)(rank % 2 == 1 ? 077 : 027));
  return wrong;
}

/// Besides, after exec().
static int look_after_exec(const char* number) {
  look(number);
  sigset_t pending;
  struct itimerval left;
  CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR2) && !sigismember(&pending, SIGTERM));
  CHECK(sigismember(&pending, SIGCHLD));
  CHECK(getitimer(ITIMER_REAL, &left) == 0 && left.it_value.tv_sec > 900 &&
        left.it_value.tv_sec <= 1000 + rank);
  CHECK(getitimer(ITIMER_PROF, &left) == 0 && left.it_value.tv_sec > 900 && left.it_interval.tv_sec == 5);
  // The signal and the timers of the program are its own.
  struct sigaction action = {.sa_handler = SIG_IGN};
  CHECK(sigaction(SIGUSR2, &action, NULL) == 0 && sigpending(&pending) == 0 &&
        !sigismember(&pending, SIGUSR2));
  if (!wrong) printf("kept by exec: ok\n");
  return wrong;
}

static void end_of(pid_t child, const char* what) {
  int status = -1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) printf("rank %d: not kept by %s\n", rank, what);
  CHECK(status == 0);
}

static void handler(int number) { (void)number; }

int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[1], "look") == 0) return look(argv[2]);
  if (argc > 2 && strcmp(argv[1], "after") == 0) return look_after_exec(argv[2]);
  begin(&argc, &argv);
  limit(RLIMIT_FSIZE, 1048576u * (rank + 1));
  limit(RLIMIT_CPU, 700u + rank);
  limit(RLIMIT_NOFILE, 300u + rank);
  sigset_t set;
  sigemptyset(&set), sigaddset(&set, SIGUSR2);
  sigprocmask(SIG_BLOCK, &set, NULL);
  if (rank % 2 == 1) signal(SIGWINCH, SIG_IGN);
  install(SIGTERM, handler, 0);
  CHECK(chdir(rank % 2 == 1 ? "/usr" : "/") == 0);
  umask(rank % 2 == 1 ? 077 : 027);

  char path[4096] = "", number[16], command[4200];
  CHECK(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
  snprintf(number, sizeof number, "%d", rank);
  snprintf(command, sizeof command, "exec '%s' look %s", path, number);
  char* arguments[] = {path, "look", number, NULL};
  pid_t child = 0;
  CHECK(posix_spawn(&child, path, NULL, NULL, arguments, environ) == 0);
  end_of(child, "posix_spawn()");
  // With actions and attributes of all kinds.
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  const int file = open("/dev/null", O_RDONLY);
  posix_spawn_file_actions_addopen(&actions, 21, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, 21, 0);
  posix_spawn_file_actions_addclose(&actions, 21);
  posix_spawn_file_actions_addclose(&actions, file);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &set);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  CHECK(posix_spawnp(&child, path, &actions, &attributes, arguments, environ) == 0);
  end_of(child, "posix_spawnp()");
  CHECK(posix_spawn(&child, "/no/such/program", &actions, &attributes, arguments, environ) == ENOENT);
  posix_spawn_file_actions_adddup2(&actions, file, 5);  // which is closed by then
  CHECK(posix_spawn(&child, path, &actions, &attributes, arguments, environ) == EBADF);
  close(file);
  CHECK(system(command) == 0);
  FILE* const stream = popen(command, "r");
  CHECK(stream != NULL && pclose(stream) == 0);
  child = fork();
  if (child == 0) execv(path, arguments), _exit(9);
  end_of(child, "fork() and exec()");
  child = vfork();
  if (child == 0) execv(path, arguments), _exit(9);
  end_of(child, "vfork() and exec()");
  if (end() != 0) return 1;
  const struct itimerval once = {{0, 0}, {1000 + rank, 0}}, often = {{5, 0}, {1000, 0}};
  setitimer(ITIMER_REAL, &once, NULL);
  setitimer(ITIMER_PROF, &often, NULL);
  raise(SIGUSR2);
  install(SIGCHLD, handler, 0);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, NULL);
  raise(SIGCHLD);
  execl("/no/such/program", "program", (char*)NULL);
  sigset_t pending;
  CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGCHLD));
  if (wrong) return 1;
  execl(path, path, "after", number, (char*)NULL);
  return 9;
}
