// What a rank has as descriptors 0, 1 and 2 between fork() or vfork() and exec(), and what it does there, is
// as in a process: a child may redirect its own without touching the rank's, which may have redirected them
// before. Programs run helpers in this way and read what they print through a pipe.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/wait.h>

#include "check.h"

static char name[64];

static void end_of(pid_t child, const char* what) {
  int status = -1;
  check(child > 0 && waitpid(child, &status, 0) == child && status == 0, "%s: status %x", what,
        (unsigned)status);
}

// Reads all that the children of `ends` print.
static void expect(int from, const char* expected) {
  char text[256] = "";
  size_t bytes = 0;
  for (ssize_t got; (got = read(from, text + bytes, sizeof text - 1 - bytes)) > 0;) bytes += (size_t)got;
  close(from);
  check(strcmp(text, expected) == 0, "read '%s' instead of '%s'", text, expected);
}

static void by_fork(void) {
  int ends[2];
  check(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    dup2(1, 2);
    close(0);
    open("/dev/null", O_RDONLY);
    execl("/bin/sh", "sh", "-c", "echo out; echo err >&2; read x || echo end", NULL);
    _exit(9);
  }
  close(ends[1]);
  expect(ends[0], "out\nerr\nend\n");
  end_of(child, "fork");
}

static void by_vfork(void) {
  int ends[2];
  check(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
  const pid_t child = vfork();
  if (child == 0) {
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    execl("/bin/sh", "sh", "-c", "echo out; echo err >&2", NULL);
    _exit(9);
  }
  close(ends[1]);
  expect(ends[0], "out\nerr\n");
  end_of(child, "vfork");
}

// It redirects nothing: the child has what the rank has.
static void by_vfork_as_is(void) {
  const pid_t child = vfork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "echo as it is", NULL);
    _exit(9);
  }
  end_of(child, "vfork without redirection");
}

static void without_exec(void) {
  const pid_t child = fork();
  if (child == 0) {
    printf("child prints\n");
    fflush(stdout);
    if (write(1, "child writes\n", 13) != 13) _exit(8);
    close(1);
    _exit(write(1, "x", 1) == -1 && errno == EBADF ? 0 : 7);
  }
  end_of(child, "fork without exec");
}

static void swapped(void) {
  int ends[2];
  check(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
  const int saved[] = {dup(1), dup(2)};
  dup2(ends[1], 2);
  const int keep = dup(1);
  dup2(2, 1);
  dup2(keep, 2);
  close(keep);
  check(system("echo to pipe") == 0, "system");
  dup2(saved[0], 1);
  dup2(saved[1], 2);
  close(saved[0]);
  close(saved[1]);
  close(ends[1]);
  expect(ends[0], "to pipe\n");
}

static void all(void) {
  by_fork();
  by_vfork();
  swapped();
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  snprintf(name, sizeof name, "children.%d.%d", check_job, check_rank);
  all();
  const int saved = dup(1);
  const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  dup2(file, 1);
  close(file);
  all();
  by_vfork_as_is();
  without_exec();
  MPI_Barrier(MPI_COMM_WORLD);
  dup2(saved, 1);
  close(saved);
  check_contents(name, "as it is\nchild prints\nchild writes\n");
  unlink(name);
  return check_end();
}
