// A handler runs while its rank is in a call of the C library that has a lock, or that waits for a reader: it may fork(), and it may be what lets
// the call go on. For: programs that fork a reporter from a timer's handler, and that react to a reader which has stopped.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"

static volatile sig_atomic_t count;
static int ends[2];

static void fork_one(int number) {
  (void)number;
  const pid_t child = fork();
  if (child == 0) _exit(0);
  if (child > 0) waitpid(child, NULL, 0);
  ++count;
}

static void read_all(int number) {
  char room[4096];
  (void)number;
  while (read(ends[0], room, sizeof room) > 0) {
  }
  ++count;
}

static void forks_in_a_lock(void) {
  const struct itimerval once = {{0, 0}, {0, 20000}};
  unsigned sum = 0;
  install(SIGALRM, fork_one, SA_RESTART);
  /* One at a time: a handler waits for its child, on a loaded machine for longer than until the next signal of an
     interval, which would come before anything else is done. */
  for (count = 0; count < 5;) {
    const int before = count;
    setitimer(ITIMER_REAL, &once, NULL);
    while (count == before) sum += (unsigned)rand();
  }
  CHECK(sum != 1);
}

static void reader_stops(void) {
  const struct itimerval soon = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
  char line[512];
  memset(line, 'x', sizeof line - 1);
  line[sizeof line - 1] = '\0';
  fflush(stdout);
  const int before = dup(1);
  CHECK(pipe2(ends, O_CLOEXEC) == 0);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  dup2(ends[1], 1);
  count = 0;
  install(SIGALRM, read_all, SA_RESTART);
  setitimer(ITIMER_REAL, &soon, NULL);
  for (int i = 0; i < 400; ++i) printf("%s\n", line);  // more than a pipe takes
  fflush(stdout);
  setitimer(ITIMER_REAL, &never, NULL);
  dup2(before, 1);
  close(before);
  close(ends[0]);
  close(ends[1]);
  CHECK(count > 0);
}

static void no_zone(void) {
  struct tm time;
  char text[32];
  memset(&time, 0x55, sizeof time);  // as a program leaves it that sets the fields it needs
  time.tm_year = 126, time.tm_mon = 10, time.tm_mday = 28;
  time.tm_hour = time.tm_min = time.tm_sec = time.tm_wday = time.tm_yday = time.tm_isdst = 0;
  CHECK(strftime(text, sizeof text, "%Y-%m-%d", &time) == 10 && strcmp(text, "2026-11-28") == 0);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  forks_in_a_lock();
  reader_stops();
  no_zone();
  return end();
}
