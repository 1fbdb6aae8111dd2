// What the kernel keeps for a thread: its memory policy (libnuma, codes that interleave or bind), timer
// slack, the priority of its input and output (ionice), its name. Also through syscall(), as libnuma and
// OpenMP do. Right: each rank has what it has set, however often others run in between, and so have its
// threads.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kRounds = 50, kDefault = 0, kPreferred = 1, kInterleave = 3 };

static int rank, failures = 0;

#define EXPECT(condition)                                                         \
  do {                                                                            \
    if (!(condition)) {                                                           \
      ++failures;                                                                 \
      printf("rank %d: line %d: %s does not hold\n", rank, __LINE__, #condition); \
    }                                                                             \
  } while (0)

static int policy_supported;

static int policy(void) {
  int mode = -1;
  unsigned long nodes[16] = {0};
  syscall(SYS_get_mempolicy, &mode, nodes, 1024UL, NULL, 0UL);
  return mode;
}

static int wanted_policy(void) { return rank % 3 == 0 ? kDefault : rank % 3 == 1 ? kPreferred : kInterleave; }
static long wanted_slack(void) { return 60000 + 1000 * rank; }
/// Of the best-effort class, levels 1 to 4.
static long wanted_io(void) { return 2 << 13 | (rank % 4 + 1); }

static void check(void) {
  if (policy_supported) EXPECT(policy() == wanted_policy());
  EXPECT(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0) == wanted_slack());
  EXPECT(syscall(SYS_ioprio_get, 1, 0) == wanted_io());
}

static void* in_thread(void* argument) {
  (void)argument;
  check();
  return NULL;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unsigned long first_node = 1;
  const int set = rank % 3 == 0 ? syscall(SYS_set_mempolicy, kDefault, NULL, 0UL)
                                : syscall(SYS_set_mempolicy, wanted_policy(), &first_node, 64UL);
  policy_supported = set == 0 && policy() == wanted_policy();  // not in every container
  EXPECT(prctl(PR_SET_TIMERSLACK, wanted_slack(), 0, 0, 0) == 0);
  EXPECT(syscall(SYS_ioprio_set, 1, 0, wanted_io()) == 0);
  char name[16], own[16];
  snprintf(name, sizeof name, "solver %d", rank);
  EXPECT(rank % 2 ? prctl(PR_SET_NAME, name, 0, 0, 0) == 0 : pthread_setname_np(pthread_self(), name) == 0);
  EXPECT(syscall(SYS_umask, 070 + rank % 8) >= 0);
  const long number = syscall(SYS_gettid);
  EXPECT(number == gettid());
  cpu_set_t cores, by_call;
  CPU_ZERO(&cores);
  CPU_ZERO(&by_call);
  EXPECT(sched_getaffinity(0, sizeof cores, &cores) == 0);
  EXPECT(syscall(SYS_sched_getaffinity, 0, sizeof by_call, &by_call) > 0);
  EXPECT(CPU_EQUAL(&cores, &by_call));

  for (int round = 0; round < kRounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (round % 10 == 0) usleep(1000);
    check();
    EXPECT(syscall(SYS_gettid) == number);
    EXPECT(pthread_getname_np(pthread_self(), own, sizeof own) == 0 && strcmp(own, name) == 0);
    EXPECT(prctl(PR_GET_NAME, own, 0, 0, 0) == 0 && strcmp(own, name) == 0);
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, in_thread, NULL) == 0);
    pthread_join(thread, NULL);
  }
  const mode_t mask = umask(0);
  EXPECT(mask == (mode_t)(070 + rank % 8));
  MPI_Finalize();
  return failures;
}
