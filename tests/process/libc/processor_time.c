// Processor time, as programs report it for each rank: clock(), times(), getrusage(), the process's clock.
// Right: it is the rank's own, with its threads, and not that of ranks that compute beside it.
#include "check.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <time.h>

static double of(const struct timespec* time) { return (double)time->tv_sec + 1e-9 * (double)time->tv_nsec; }

static double by_clock(void) { return (double)clock() / CLOCKS_PER_SEC; }
static double by_times(void) {
  struct tms used;
  times(&used);
  return (double)(used.tms_utime + used.tms_stime) / (double)sysconf(_SC_CLK_TCK);
}
static double by_getrusage(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}
static double by_process_clock(void) {
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return of(&used);
}
static double by_clock_of_process(void) {
  struct timespec used;
  clockid_t clock;
  if (clock_getcpuclockid(getpid(), &clock) != 0) return -1;
  clock_gettime(clock, &used);
  return of(&used);
}

// Until the calling thread has used so much itself. Writes how much it was.
static void* compute(void* argument) {
  const double wanted = *(const double*)argument;
  struct timespec used;
  double begin = -1, now;
  do {
    for (volatile int i = 0; i < 1000000; ++i) {
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    now = of(&used);
    if (begin < 0) begin = now;
  } while (now - begin < wanted);
  *(double*)argument = now - begin;
  return NULL;
}

int main(int argc, char** argv) {
  enum { kWays = 5 };
  double (*const ways[kWays])(void) = {by_clock, by_times, by_getrusage, by_process_clock,
                                       by_clock_of_process};
  static const char* const names[kWays] = {"clock", "times", "getrusage", "CLOCK_PROCESS_CPUTIME_ID",
                                           "clock_getcpuclockid"};
  double before[kWays];
  begin(&argc, &argv);
  step();
  for (int i = 0; i < kWays; ++i) before[i] = ways[i]();
  double wanted = 0.6, of_thread = 0.3;
  if (rank == 0) {
    pthread_t thread;
    compute(&wanted);
    pthread_create(&thread, NULL, compute, &of_thread);
    pthread_join(thread, NULL);
  } else {
    for (int i = 0; i < 100; ++i) {
      usleep(5000);
      MPI_Sendrecv(&wanted, 0, MPI_INT, MPI_PROC_NULL, 0, &of_thread, 0, MPI_INT, MPI_PROC_NULL, 0,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  double used[kWays];
  for (int i = 0; i < kWays; ++i) used[i] = ways[i]() - before[i];
  double most = wanted + of_thread;
  MPI_Bcast(&most, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < kWays; ++i) {
    // A hundredth more was usual, and thousandths where a rank has slept. Were the thread's time counted
    // twice, it would be a third more.
    if (rank == 0)
      check(used[i] > 0.94 * most && used[i] < 1.3 * most, "%s: %.2f s, and has used %.2f s", names[i],
            used[i], most);
    else
      check(used[i] >= 0 && used[i] < 0.5 * most, "%s: %.2f s, and has slept while another rank used %.2f s",
            names[i], used[i], most);
  }
  step();
  return end();
}
