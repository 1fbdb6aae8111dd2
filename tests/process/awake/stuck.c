// Ranks wait for what cannot come, beside something that looks as if it could wake a thread and does not:
// stuck CASE. A thread sleeps outside MPI. Right: the job ends as a deadlock.
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank;
static sem_t never;

static void handle(int signal) { (void)signal; }

static void* wait_for_work(void* unused) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
  pthread_mutex_lock(&mutex);
  for (;;) pthread_cond_wait(&work, &mutex);
  return unused;
}
static void* receive(void* unused) {
  MPI_Recv(NULL, 0, MPI_BYTE, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return unused;
}
static void start_pool(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, wait_for_work, NULL);
}
static void join_receiver(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, receive, NULL);
  pthread_join(thread, NULL);
}

/// A handler does not wake a thread that waits for a condition, a mutex or the end of another thread.
static void with_handler(void) {
  const int numbers[] = {SIGUSR1, SIGUSR2, SIGTERM, SIGINT, SIGHUP, SIGRTMIN};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) signal(numbers[i], handle);
  start_pool();
}
/// A semaphore that no handler can post.
static void with_semaphore(void) {
  if (rank == 0)
    while (sem_wait(&never) != 0 && errno == EINTR) {
    }
}
static void with_zombie(void) {
  if (fork() == 0) _exit(0);
  siginfo_t ended;
  waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT);
  join_receiver();
}
static void with_profiler(void) {
  signal(SIGPROF, handle);
  const struct itimerval often = {{0, 10000}, {0, 10000}};
  setitimer(ITIMER_PROF, &often, NULL);
  join_receiver();
}
static void with_virtual_timer(void) {
  signal(SIGVTALRM, handle);
  const struct itimerval often = {{0, 10000}, {0, 10000}};
  setitimer(ITIMER_VIRTUAL, &often, NULL);
  join_receiver();
}
static void call_nothing(union sigval unused) { (void)unused; }
static timer_t make_timer(clockid_t clock, struct sigevent event) {
  timer_t timer;
  if (timer_create(clock, &event, &timer) != 0) exit(2);
  return timer;
}
static void set(timer_t timer, long seconds) {
  const struct itimerspec once = {{0, 0}, {seconds, 0}};
  timer_settime(timer, 0, &once, NULL);
}
static void with_unset_timer(void) {
  const timer_t timer = make_timer(CLOCK_MONOTONIC, (struct sigevent){.sigev_notify = SIGEV_NONE});
  set(timer, 3600);
  const timer_t other =
      make_timer(CLOCK_MONOTONIC, (struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN});
  set(other, 3600);
  set(other, 0);
  start_pool();
}
static void with_processor_timer(void) {
  signal(SIGRTMIN, handle);
  set(make_timer(CLOCK_PROCESS_CPUTIME_ID,
                 (struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN}),
      3600);
  start_pool();
}
static void with_thread_timer(void) {
  const struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = call_nothing};
  set(make_timer(CLOCK_MONOTONIC, event), 1);  // expires
  const timer_t unset = make_timer(CLOCK_MONOTONIC, event), deleted = make_timer(CLOCK_MONOTONIC, event);
  set(unset, 3600);
  set(unset, 0);
  set(deleted, 3600);
  timer_delete(deleted);
}
/// A thread that ends last, long after all others sleep in MPI, and never calls MPI itself.
static void* sleep_and_end(void* unused) {
  const struct timespec rest = {0, 400000000};
  nanosleep(&rest, NULL);
  return unused;
}
static void with_thread_that_ends(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, sleep_and_end, NULL);
  pthread_detach(thread);
}
/// One rank sleeps outside of MPI, with all its threads; the others wait for it.
static void with_condition(void) {
  if (rank == 0) wait_for_work(NULL);
}
/// So do all ranks.
static void with_conditions(void) { wait_for_work(NULL); }

static const struct Beside {
  const char* name;
  void (*begin)(void);
} kBesides[] = {
    {"handler", with_handler},
    {"semaphore", with_semaphore},
    {"zombie", with_zombie},
    {"profiler", with_profiler},
    {"virtual_timer", with_virtual_timer},
    {"unset_timer", with_unset_timer},
    {"processor_timer", with_processor_timer},
    {"thread_timer", with_thread_timer},
    {"thread_that_ends", with_thread_that_ends},
    {"condition", with_condition},
    {"conditions", with_conditions},
};

int main(int argc, char** argv) {
  const struct Beside* beside = NULL;
  for (size_t i = 0; i < sizeof kBesides / sizeof kBesides[0]; ++i)
    if (argc > 1 && strcmp(kBesides[i].name, argv[1]) == 0) beside = &kBesides[i];
  if (beside == NULL) return 9;
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sem_init(&never, 0, 0);
  beside->begin();
  MPI_Recv(NULL, 0, MPI_BYTE, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return 0;
}
