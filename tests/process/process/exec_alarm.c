// A rank sets a timer and replaces itself by exec(); the new program cancels the timer. Right: nothing rings,
// neither in the new program, whose action is the default, nor in what the rank was before. For:
// `timeout`-like programs that start another one.
#define _GNU_SOURCE
#include <sys/time.h>

#include "../signals/check.h"

static void ring(int number) {
  (void)number;
  static const char kText[] = "the handler of the program before exec() has run\n";
  (void)!write(2, kText, sizeof kText - 1);
  _exit(9);
}

static int cancel(void) {
  const struct itimerval never = {{0, 0}, {0, 0}};
  struct itimerval left = never;
  CHECK(setitimer(ITIMER_REAL, &never, &left) == 0);
  CHECK(left.it_value.tv_sec > 0 || left.it_value.tv_usec > 0);
  usleep(2300000);
  if (!wrong) printf("cancelled after exec: ok\n");
  return wrong;
}

int main(int argc, char** argv) {
  if (argc > 1) return cancel();
  begin(&argc, &argv);
  if (end() != 0) return 1;
  const struct itimerval once = {{0, 0}, {2, 0}};
  install(SIGALRM, ring, 0);
  setitimer(ITIMER_REAL, &once, NULL);
  execl("/proc/self/exe", argv[0], "cancel", (char*)NULL);
  return 8;
}
