// Null in place of what the C library's headers say is not null: the calls of the kernel fail with EFAULT,
// and so do the functions that Clump puts in their place.
#include "check.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>

static void* volatile null;  // which no compiler knows

#define CHECK_FAULT(call)                                                                    \
  do {                                                                                       \
    errno = 0;                                                                               \
    const long result = (long)(call);                                                        \
    check(result == -1 && errno == EFAULT, "%s is %ld: %s", #call, result, strerror(errno)); \
  } while (0)

static void check_paths(void) {
  struct stat about;
  char text[8];
  CHECK_FAULT(readlink(null, text, sizeof text));
  CHECK_FAULT(readlinkat(AT_FDCWD, null, text, sizeof text));
  CHECK_FAULT(stat(null, &about));
  CHECK_FAULT(lstat(null, &about));
  CHECK_FAULT(open(null, O_RDONLY));
  CHECK_FAULT(openat(AT_FDCWD, null, O_RDONLY));
  CHECK_FAULT(access(null, R_OK));
  CHECK_FAULT(chdir(null));
  CHECK_FAULT(truncate(null, 0));
  errno = 0;
  check(fopen(null, "r") == NULL && errno == EFAULT, "fopen: %s", strerror(errno));
  errno = 0;
  check(realpath(null, text) == NULL && errno == EINVAL, "realpath: %s", strerror(errno));
}

static void check_times(void) {
  CHECK_FAULT(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, null));
  CHECK_FAULT(clock_gettime(CLOCK_THREAD_CPUTIME_ID, null));
  CHECK_FAULT(nanosleep(null, null));
  CHECK_FAULT(getitimer(ITIMER_REAL, null));
}

static void check_signals(void) {
  int number;
  sigset_t none;
  sigemptyset(&none);
  CHECK_FAULT(sigpending(null));
  CHECK_FAULT(sigsuspend(null));
  CHECK_FAULT(sigtimedwait(null, null, null));
  CHECK_FAULT(sigwaitinfo(null, null));
  check(sigwait(null, &number) == EFAULT, "sigwait without signals does not fail");
}

static void check_data(void) {
  int ends[2];
  if (pipe(ends) != 0) exit(2);
  CHECK_FAULT(write(ends[1], null, 3));
  CHECK_FAULT(write(STDOUT_FILENO, null, 3));
  check(write(STDOUT_FILENO, null, 0) == 0, "write of nothing: %s", strerror(errno));
  check(write(ends[1], "abc", 3) == 3, "write: %s", strerror(errno));
  CHECK_FAULT(read(ends[0], null, 3));
  CHECK_FAULT(pipe(null));
  close(ends[0]), close(ends[1]);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  check_paths();
  check_times();
  check_signals();
  check_data();
  return end();
}
