// Functions that are no cancellation points with the C library alone: a thread that was cancelled before goes
// through them, with all that they do, and ends at the next cancellation point. For: runtimes that cancel
// their threads, and load plugins in them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>

#include "../signals/check.h"

extern char** environ;

static int made;  // a descriptor above those that are open

static int in_dlopen(void) {
  void* const library = dlopen("libz.so.1", RTLD_NOW);
  return library == NULL || dlclose(library) == 0;
}
static int in_dlopen_of_nothing(void) {
  return dlopen("no_such_library.so", RTLD_NOW) == NULL && dlerror() != NULL;
}
static int in_dlsym(void) { return dlsym(RTLD_DEFAULT, "getpid") != NULL; }
static int in_fork(void) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  made = child;
  return child > 0;
}
static int in_raw_fork(void) {
  const pid_t child = _Fork();
  if (child == 0) _exit(0);
  made = child;
  return child > 0;
}
static int in_posix_spawn(void) {
  char* arguments[] = {"true", NULL};
  pid_t child = 0;
  const int error = posix_spawnp(&child, "true", NULL, NULL, arguments, environ);
  made = child;
  return error == 0;
}
static int in_closefrom(void) {
  const int before = fcntl(made, F_GETFD);
  closefrom(made);
  return before >= 0 && fcntl(made, F_GETFD) < 0 && errno == EBADF;
}
static int in_close_range(void) {
  const int before = fcntl(made, F_GETFD);
  return before >= 0 && close_range((unsigned)made, ~0U, 0) == 0 && fcntl(made, F_GETFD) < 0;
}
static int in_dup(void) {
  const int two = dup(0);
  return two < 0 || dup2(two, two) == two;
}
static int in_pipe(void) {
  int ends[2];
  return pipe(ends) == 0;
}
static int in_setenv(void) {
  return setenv("CLUMP_TEST_CANCEL", "1", 1) == 0 && unsetenv("CLUMP_TEST_CANCEL") == 0;
}
static int in_localtime(void) {
  const time_t now = 12345;
  struct tm parts;
  return localtime_r(&now, &parts) != NULL && mktime(&parts) != -1;
}
static int in_sigaction(void) {
  struct sigaction action = {.sa_handler = SIG_IGN};
  return sigaction(SIGUSR2, &action, NULL) == 0;
}
static int in_timer(void) {
  timer_t timer;
  return timer_create(CLOCK_MONOTONIC, &(struct sigevent){.sigev_notify = SIGEV_NONE}, &timer) == 0 &&
         timer_delete(timer) == 0;
}
static void* nothing(void* argument) { return argument; }
static int in_pthread_create(void) {
  pthread_t thread;
  return pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_detach(thread) == 0;
}
static int in_exec_of_nothing(void) {
  return execl("/no/such/program", "it", (char*)NULL) < 0 && errno == ENOENT;
}

static const struct Call {
  const char* name;
  int (*call)(void);
} calls[] = {
    {"dlopen", in_dlopen},
    {"dlopen of nothing", in_dlopen_of_nothing},
    {"dlsym", in_dlsym},
    {"fork", in_fork},
    {"_Fork", in_raw_fork},
    {"posix_spawnp", in_posix_spawn},
    {"closefrom", in_closefrom},
    {"close_range", in_close_range},
    {"dup", in_dup},
    {"pipe", in_pipe},
    {"setenv", in_setenv},
    {"localtime_r", in_localtime},
    {"sigaction", in_sigaction},
    {"timer_create", in_timer},
    {"execl", in_exec_of_nothing},
    {"pthread_create", in_pthread_create},
};

static volatile int went_through;

static void* run(void* argument) {
  const struct Call* const call = argument;
  int before = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  pthread_cancel(pthread_self());
  pthread_setcancelstate(before, NULL);
  const int result = call->call();
  went_through = result ? 1 : 2;
  pthread_testcancel();
  return NULL;
}

int main(int argc, char** argv) {
  int level = 0;
  alarm(100);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (unsigned i = 0; i < sizeof calls / sizeof *calls; ++i) {
    pthread_t thread;
    void* result = NULL;
    const int closes = calls[i].call == in_closefrom || calls[i].call == in_close_range;
    made = closes ? fcntl(0, F_DUPFD, 500 + 20 * rank) : 0;
    went_through = 0;
    CHECK(pthread_create(&thread, NULL, run, (void*)&calls[i]) == 0);
    CHECK(pthread_join(thread, &result) == 0);
    if (went_through != 1 || result != PTHREAD_CANCELED) {
      printf("rank %d: a thread that is cancelled in %s(): %s\n", rank, calls[i].name,
             went_through == 0   ? "it does not go through"
             : went_through == 2 ? "the call fails"
                                 : "it goes on afterwards");
      wrong = 1;
    }
    if (!closes && made > 0) CHECK(waitpid(made, NULL, 0) == made);
  }
  return end();
}
