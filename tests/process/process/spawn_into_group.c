// posix_spawn() into a control group, of glibc 2.39 and newer, by a rank whose process starts with limits of
// its own: so Clump starts it itself. Right: the program is in the group; what is no folder of a control
// group is an error, and no program starts. Without control groups of version 2 that may be made here, only
// the error is looked at.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../signals/check.h"

extern char** environ;

/// As posix_spawnattr_setcgroup_np(), which an older C library does not have.
static void set_group(posix_spawnattr_t* attributes, int folder) {
  posix_spawnattr_init(attributes);
  attributes->__flags |= 0x100;
  memcpy((char*)attributes + offsetof(posix_spawnattr_t, __policy) + sizeof attributes->__policy, &folder,
         sizeof folder);
}

static int spawn(int folder, int* status) {
  char* arguments[] = {"sh", "-c", "grep -q \"^0::.*/$CLUMP_TEST_GROUP\\$\" /proc/self/cgroup", NULL};
  posix_spawnattr_t attributes;
  pid_t child = 0;
  set_group(&attributes, folder);
  const int error = posix_spawn(&child, "/bin/sh", NULL, &attributes, arguments, environ);
  if (error == 0) CHECK(waitpid(child, status, 0) == child);
  return error;
}

/// Where the second version is mounted; empty: nowhere.
static void find_groups(char* place, size_t room) {
  char line[4096], at[4096], kind[64];
  FILE* const all = fopen("/proc/mounts", "r");
  place[0] = '\0';
  while (all != NULL && fgets(line, sizeof line, all) != NULL)
    if (sscanf(line, "%*s %4095s %63s", at, kind) == 2 && strcmp(kind, "cgroup2") == 0)
      snprintf(place, room, "%s", at);
  if (all != NULL) fclose(all);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  struct rlimit files;
  CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
  files.rlim_cur = 300u + (unsigned)rank;
  CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);

  int status = -1;
  const int other = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  CHECK(spawn(other, &status) == EBADF);
  close(other);
  CHECK(spawn(-1, &status) == EBADF);

  char place[4096], name[64], path[4200];
  find_groups(place, sizeof place);
  snprintf(name, sizeof name, "clump_test_%d_%d", (int)getpid(), rank);
  snprintf(path, sizeof path, "%s/%s", place, name);
  if (place[0] != '\0' && mkdir(path, 0700) == 0) {
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    setenv("CLUMP_TEST_GROUP", name, 1);
    CHECK(spawn(folder, &status) == 0 && status == 0);
    close(folder);
    CHECK(rmdir(path) == 0);
  } else if (rank == 0) {
    printf("no control group can be made here\n");
  }
  return end();
}
