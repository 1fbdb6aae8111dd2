// What the C library writes to descriptor 2 by itself: herror, syslog with LOG_PERROR, backtrace_symbols_fd.
// Right: where a rank has sent its stderr to a file, all of it is there.
#include "check.h"

#include <execinfo.h>
#include <netdb.h>
#include <syslog.h>

int main(int argc, char** argv) {
  begin(&argc, &argv);
  make_folder();
  char name[96];
  snprintf(name, sizeof name, "%s/stderr", folder);
  const int before = dup(2), file = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
  dup2(file, 2);
  close(file);
  step();
  h_errno = HOST_NOT_FOUND;
  herror("by herror");
  openlog("name", LOG_PERROR, LOG_USER);
  errno = ENOENT;
  syslog(LOG_INFO, "by syslog %d: %m", rank);
  closelog();
  void* places[8];
  backtrace_symbols_fd(places, backtrace(places, 8), 2);
  step();
  dup2(before, 2);

  static char all[16384];
  FILE* const written = fopen(name, "r");
  all[fread(all, 1, sizeof all - 1, written)] = '\0';
  fclose(written);
  char wanted[64];
  snprintf(wanted, sizeof wanted, "name: by syslog %d: No such file or directory\n", rank);
  check(strstr(all, "by herror: ") != NULL, "herror has written elsewhere");
  check(strstr(all, wanted) != NULL, "syslog has written elsewhere, or something else: %s", all);
  check(strstr(all, "stderr_inside(") != NULL, "backtrace_symbols_fd has written elsewhere, or no names");
  return end();
}
