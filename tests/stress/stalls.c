/* stalls SECONDS [SEED]: small collectives while a thread that belongs to no rank stops the other threads of
   its process for a fraction of a millisecond, at any instruction, as a crowded machine does. Whoever waits
   for somebody who does not know it, waits for ever. What it does to the process it asks the C library itself
   for: the functions that the program finds are about its rank. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "stress.h"

enum { kMostThreads = 64, kShots = 50 };

static long (*real_syscall)(long, ...);

/* The kernel thread, not the rank: our own nanosleep would let another rank run. */
static void stand_still(long nanoseconds) {
  const struct timespec time = {0, nanoseconds};
  real_syscall(SYS_nanosleep, &time, NULL);
}

static void when_shot(int signal) {
  const int before = errno; /* whoever was stopped may be about to look at it */
  (void)signal;
  stand_still(150000);
  errno = before;
}

static int find_threads(pid_t* threads) {
  const pid_t mine = (pid_t)syscall(SYS_gettid);
  int count = 0;
  DIR* const folder = opendir("/proc/self/task");
  for (struct dirent* entry; folder != NULL && count < kMostThreads && (entry = readdir(folder)) != NULL;) {
    const pid_t thread = (pid_t)atoi(entry->d_name);
    if (thread > 0 && thread != mine) threads[count++] = thread;
  }
  closedir(folder);
  return count;
}

static void* shoot(void* unused) {
  Random random = random_from(1, 0, 0);
  for (;;) { /* as long as the process */
    pid_t threads[kMostThreads];
    const int count = find_threads(threads);
    for (int shot = 0; shot < kShots; ++shot) {
      real_syscall(SYS_tgkill, real_syscall(SYS_getpid), threads[random_below(&random, count)], SIGUSR2);
      stand_still(30000);
    }
  }
  return unused;
}

static void begin_to_shoot(void) {
  struct sigaction action = {0};
  pthread_t thread;
  void* const libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  STRESS_CHECK(libc != NULL);
  int (*const real_sigaction)(int, const struct sigaction*, struct sigaction*) =
      (int (*)(int, const struct sigaction*, struct sigaction*))dlsym(libc, "sigaction");
  real_syscall = (long (*)(long, ...))dlsym(libc, "syscall");
  STRESS_CHECK(real_sigaction != NULL && real_syscall != NULL);
  action.sa_handler = when_shot;
  action.sa_flags = SA_RESTART;
  real_sigaction(SIGUSR2, &action, NULL);
  STRESS_CHECK(pthread_create(&thread, NULL, shoot, NULL) == 0);
}

/* Shorter than disturb(): ranks are to be at all points of a collective, thousands of times a second. */
static void linger(Random* mine) {
  switch (random_below(mine, 16)) {
    case 0:
      sched_yield();
      break;
    case 1:
      nanosleep(&(struct timespec){0, random_below(mine, 20000)}, NULL);
      break;
    case 2:
      compute(random_below(mine, 3) * 1e-6);
      break;
    default:
      break;
  }
}

/* Roots leave a small broadcast behind, and go on: who came late finds it. */
static void broadcasts(Random* common, Random* mine) {
  for (int left = 1 + random_below(common, 4); left > 0; --left) {
    const int root = random_below(common, stress_size);
    int value = stress_rank == root ? stress_round : -1;
    linger(mine);
    MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
    STRESS_CHECK(value == stress_round);
  }
}

/* Returns whether all have time left. */
static int agree(Random* common, int in_time) {
  int all = 1, others[1024];
  switch (random_below(common, 3)) {
    case 0:
      MPI_Barrier(MPI_COMM_WORLD);
      return 1;
    case 1:
      MPI_Allgather(&in_time, 1, MPI_INT, others, 1, MPI_INT, MPI_COMM_WORLD);
      for (int rank = 0; rank < stress_size; ++rank) all &= others[rank];
      return all;
    default:
      MPI_Allreduce(&in_time, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
      return all;
  }
}

int main(int argc, char** argv) {
  stress_begin(&argc, &argv, argc > 2 ? argv[2] : NULL);
  const double end = seconds() + (argc > 1 ? atof(argv[1]) : 3);
  STRESS_CHECK(stress_size <= 1024);
  if (stress_rank == 0) begin_to_shoot();
  MPI_Barrier(MPI_COMM_WORLD);
  Random common = random_from(0, 0, 0), mine = random_from(0, (uint64_t)stress_rank, 1);
  do {
    ++stress_round;
    broadcasts(&common, &mine);
    linger(&mine);
  } while (agree(&common, seconds() < end));
  if (stress_rank == 0) printf("stalls: %d rounds\n", stress_round);
  MPI_Finalize();
  return 0;
}
