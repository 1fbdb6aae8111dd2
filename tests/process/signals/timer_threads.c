// SIGEV_THREAD: the function runs on a thread of the rank that has made the timer. Right: it has the rank's
// locale, its directory, and the rounding mode of the thread that has made the timer; its keys are the
// rank's; it may end by pthread_exit(). With "deadlock" the rank waits afterwards for what nobody sends,
// which is told.
#define _GNU_SOURCE
#include "check.h"

#include <fenv.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

static char codeset[32], directory[PATH_MAX];
static volatile int rounding = -1, called, destructed;
static pthread_key_t key;

static void destruct(void* value) { destructed = *(int*)value; }

static void leave(union sigval value) {
  (void)value;
  snprintf(codeset, sizeof codeset, "%s", nl_langinfo(CODESET));
  if (getcwd(directory, sizeof directory) == NULL) directory[0] = '\0';
  rounding = fegetround();
  pthread_setspecific(key, &rank);
  called = 1;
  pthread_exit(NULL);
}

static void expire(void) {
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = leave};
  const struct itimerspec soon = {{0, 0}, {0, 1000000}};
  destructed = -1;
  called = 0;
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  CHECK(timer_settime(timer, 0, &soon, NULL) == 0);
  while (!called || destructed < 0) usleep(1000);
  CHECK(timer_delete(timer) == 0);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int deadlocks = argc > 1 && !strcmp(argv[1], "deadlock");
  // As kernel threads the ranks have the directory of the kernel's threads, and these are of the process.
  const char* const scheduler = getenv("CLUMP_SCHEDULER");
  const int has_directory = scheduler == NULL || strcmp(scheduler, "threads") != 0;
  CHECK(pthread_key_create(&key, destruct) == 0);
  // The first timer of the process: the C library makes a thread for it, which makes all others.
  if (rank == 0) expire();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    char own[] = "/tmp/clump_timer_XXXXXX";
    CHECK(mkdtemp(own) != NULL);
    CHECK(setlocale(LC_ALL, "C.UTF-8") != NULL);
    if (has_directory) CHECK(chdir(own) == 0);
    fesetround(FE_UPWARD);
    expire();
    fesetround(FE_TONEAREST);
    CHECK(!strcmp(codeset, "UTF-8"));
    CHECK(!has_directory || !strcmp(directory, own));
    CHECK(rounding == FE_UPWARD);
    CHECK(destructed == rank);
    if (has_directory) CHECK(chdir("/") == 0);
    rmdir(own);
  }
  if (deadlocks)
    MPI_Recv((void*)&called, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return end();
}
