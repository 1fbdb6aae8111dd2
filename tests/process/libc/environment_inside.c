// What the C library reads from the environment by itself: HOME for glob(), PATH for posix_spawnp(). Right: each rank gets what it has set.
#include "check.h"

#include <glob.h>
#include <spawn.h>

extern char** environ;

static void expect_glob(const char* pattern, int flags, const char* wanted) {
  glob_t found;
  if (glob(pattern, flags, NULL, &found) != 0) {
    check(0, "glob(\"%s\") finds nothing", pattern);
    return;
  }
  check_text(pattern, found.gl_pathv[0], wanted);
  globfree(&found);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  make_folder();
  char path[512], program[96];
  setenv("HOME", folder, 1);
  snprintf(path, sizeof path, "%s:%s", folder, getenv("PATH"));
  setenv("PATH", path, 1);
  snprintf(program, sizeof program, "%s/of_rank", folder);
  FILE* const script = fopen(program, "w");
  fprintf(script, "#!/bin/sh\nexit %d\n", 20 + rank);
  fclose(script);
  chmod(program, 0700);
  step();

  expect_glob("~/of_*", GLOB_TILDE, program);
  expect_glob("{~/of_r*,/nowhere}", GLOB_TILDE | GLOB_BRACE, program);
  expect_glob("~", GLOB_TILDE_CHECK, folder);

  pid_t child = 0;
  int status = -1;
  char* arguments[] = {"of_rank", NULL};
  const int error = posix_spawnp(&child, "of_rank", NULL, NULL, arguments, environ);
  check(error == 0, "posix_spawnp: %s", strerror(error));
  if (error == 0) waitpid(child, &status, 0);
  check(WIFEXITED(status) && WEXITSTATUS(status) == 20 + rank, "posix_spawnp has run another rank's program: %x",
        (unsigned)status);
  check(posix_spawnp(&child, "clump_no_such_program", NULL, NULL, arguments, environ) == ENOENT,
        "posix_spawnp of what is not there is no ENOENT");
  return end();
}
