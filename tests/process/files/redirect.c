// Each rank sends its standard output elsewhere: dup2() to a file or to /dev/null, close() and open(),
// freopen(), fclose(), and back by what dup() has saved. Programs do so to have a log for each rank, to keep
// all but one rank silent, and to silence a library for a while (Fortran and C++ codes around noisy solvers).
// What a rank writes with stdio, with write(), and what its children write, goes to its own place, and other
// ranks do not notice.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "check.h"

extern char** environ;

static char name[64];

static void open_log(int descriptor) {
  const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  check(file > 2, "open: %s", strerror(errno));
  check(dup2(file, descriptor) == descriptor, "dup2: %s", strerror(errno));
  close(file);
}

static void say(int descriptor, const char* text) {
  check(write(descriptor, text, strlen(text)) == (ssize_t)strlen(text), "write %s: %s", text,
        strerror(errno));
}

static void by_all_means(void) {
  printf("printf %d\n", check_rank);
  fflush(stdout);
  say(1, "write\n");
  dprintf(1, "dprintf %d\n", check_rank);
  fputs("part, ", stdout);
  fflush(stdout);
  say(1, "rest\n");
  check(system("echo system") == 0, "system");
  FILE* pipe = popen("cat", "w");
  fputs("popen\n", pipe);
  check(pclose(pipe) == 0, "pclose");
  char* words[] = {"sh", "-c", "echo spawn; echo error >&2", NULL};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  int status = 1;
  check(posix_spawn(&child, "/bin/sh", &actions, NULL, words, environ) == 0, "posix_spawn");
  check(waitpid(child, &status, 0) == child && status == 0, "status %x of posix_spawn", (unsigned)status);
  posix_spawn_file_actions_destroy(&actions);
  child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "echo exec", NULL);
    _exit(1);
  }
  check(waitpid(child, &status, 0) == child && status == 0, "status %x of fork", (unsigned)status);
}

static void check_log(void) {
  char expected[256];
  snprintf(expected, sizeof expected,
           "printf %d\nwrite\ndprintf %d\npart, rest\nsystem\npopen\nspawn\nerror\nexec\n", check_rank,
           check_rank);
  check_contents(name, expected);
}

static void by_dup2_and_back(void) {
  const int saved = dup(1);
  check(saved > 2, "dup: %s", strerror(errno));
  open_log(1);
  by_all_means();
  struct stat log, now;
  check(stat(name, &log) == 0 && fstat(1, &now) == 0 && log.st_ino == now.st_ino, "fstat(1) is not the log");
  check(fileno(stdout) == 1, "fileno %d", fileno(stdout));
  check(isatty(1) == 0, "a log is a terminal");
  check(lseek(1, 0, SEEK_CUR) > 0, "lseek: %s", strerror(errno));
  MPI_Barrier(MPI_COMM_WORLD);
  check(dup2(saved, 1) == 1, "dup2 back: %s", strerror(errno));
  close(saved);
  check_log();
}

static void by_close_and_open(void) {
  const int saved = dup(1);
  close(1);
  errno = 0;
  check(write(1, "x", 1) == -1 && errno == EBADF, "write to what is closed: %s", strerror(errno));
  check(fcntl(1, F_GETFD) == -1 && errno == EBADF, "F_GETFD of what is closed");
  check(close(1) == -1 && errno == EBADF, "close of what is closed");
  const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  check(file == 1, "open after close(1) gives %d", file);
  by_all_means();
  MPI_Barrier(MPI_COMM_WORLD);
  dup2(saved, 1);
  close(saved);
  check_log();
}

static void by_dup_of_lowest(void) {
  const int saved = fcntl(1, F_DUPFD_CLOEXEC, 10);
  check(saved >= 10, "F_DUPFD_CLOEXEC gives %d", saved);
  const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  close(1);
  check(dup(file) == 1, "dup after close(1) is not 1");
  close(file);
  by_all_means();
  MPI_Barrier(MPI_COMM_WORLD);
  dup3(saved, 1, 0);
  close(saved);
  check_log();
}

static void by_freopen(void) {
  const int saved = dup(1);
  check(freopen(name, "w", stdout) == stdout, "freopen: %s", strerror(errno));
  by_all_means();
  MPI_Barrier(MPI_COMM_WORLD);
  fflush(stdout);
  dup2(saved, 1);
  close(saved);
  check_log();
}

static void with_errors(void) {
  const int saved[] = {dup(1), dup(2)};
  open_log(2);
  dup2(2, 1);
  fprintf(stderr, "no end of line");
  printf(" here\n");
  fflush(stdout);
  errno = 0;
  perror("perror");
  say(2, "write\n");
  check(system("echo out; echo err >&2") == 0, "system");
  MPI_Barrier(MPI_COMM_WORLD);
  dup2(saved[0], 1);
  dup2(saved[1], 2);
  close(saved[0]);
  close(saved[1]);
  check_contents(name, "no end of line here\nperror: Success\nwrite\nout\nerr\n");
}

static void by_system_calls(void) {
  const int saved = (int)syscall(SYS_dup, 1);
  const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  check(syscall(SYS_dup3, file, 1, 0) == 1, "SYS_dup3: %s", strerror(errno));
  syscall(SYS_close, file);
  check(syscall(SYS_write, 1, "call\n", 5) == 5, "SYS_write: %s", strerror(errno));
  printf("printf\n");
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  syscall(SYS_dup3, saved, 1, 0);
  syscall(SYS_close, saved);
  check_contents(name, "call\nprintf\n");
}

static void silent_but_first(void) {
  const int saved = dup(1);
  if (check_rank > 0) {
    const int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, 1);
    close(nothing);
  }
  printf("only rank 0 says this: rank %d\n", check_rank);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  dup2(saved, 1);
  close(saved);
}

static void closed_stream(void) {
  const int saved = dup(1);
  if (check_rank > 0) {
    check(fclose(stdout) == 0, "fclose: %s", strerror(errno));
    errno = 0;
    check(write(1, "x", 1) == -1 && errno == EBADF, "write after fclose: %s", strerror(errno));
  } else {
    check(printf("still here\n") == 11 && fflush(stdout) == 0 && !ferror(stdout), "printf of rank 0");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  close(saved);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  snprintf(name, sizeof name, "redirect.%d.%d", check_job, check_rank);
  errno = 0;
  by_dup2_and_back();
  by_close_and_open();
  by_dup_of_lowest();
  by_freopen();
  with_errors();
  by_system_calls();
  silent_but_first();
  closed_stream();
  unlink(name);
  return check_end();
}
