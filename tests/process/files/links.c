// A rank that has sent its stdout to a file finds that file behind /dev/stdout, /dev/fd/1 and
// /proc/self/fd/1: by readlink(), realpath(), stat() and open(). For: programs with an option "-o
// /dev/stdout", and those that ask where their output goes.
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "check.h"

static char name[PATH_MAX];

static void check_path(const char* path) {
  char found[PATH_MAX] = "";
  check(realpath(path, found) != NULL && strcmp(found, name) == 0, "realpath(%s) gives %s", path, found);
  struct stat its, file;
  check(stat(path, &its) == 0 && stat(name, &file) == 0 && its.st_ino == file.st_ino,
        "stat(%s) is another file", path);
  FILE* const stream = fopen(path, "a");
  if (stream == NULL) return check(0, "fopen(%s): %s", path, strerror(errno));
  fprintf(stream, "by %s\n", path);
  fclose(stream);
}

static void check_link(const char* path, const char* expected) {
  char found[PATH_MAX] = "";
  check(readlink(path, found, sizeof found - 1) > 0 && strcmp(found, expected) == 0,
        "readlink(%s) gives %s, not %s", path, found, expected);
  memset(found, 0, sizeof found);
  check(readlinkat(AT_FDCWD, path, found, sizeof found - 1) > 0 && strcmp(found, expected) == 0,
        "readlinkat(%s) gives %s, not %s", path, found, expected);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  char folder[PATH_MAX - 64];
  check(getcwd(folder, sizeof folder) != NULL, "getcwd");
  snprintf(name, sizeof name, "%s/links.%d.%d", folder, check_job, check_rank);
  const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
  check(dup2(file, 1) == 1, "dup2: %s", strerror(errno));
  close(file);
  MPI_Barrier(MPI_COMM_WORLD);
  check_path("/dev/stdout");
  check_path("/dev/fd/1");
  check_path("/proc/self/fd/1");
  check_contents(name, "by /dev/stdout\nby /dev/fd/1\nby /proc/self/fd/1\n");
  check_link("/proc/self/fd/1", name);
  check_link("/dev/fd/1", name);
  check_link("/dev/stdout", "/proc/self/fd/1");
  unlink(name);
  return check_end();
}
