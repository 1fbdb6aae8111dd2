/* What all parts of the fuzzer share: the plan's random numbers, a failure that ends the job, threads, the
   program. All ranks derive one plan from the seed, so each computes what it has to get without MPI.

   PART SEED [SEEDS] [steps=LIST] [bytes=MOST] [threads=MOST] [plan=1] [without=KINDS] [fails=STEP]
   [NAME=VALUE] runs SEEDS plans from SEED on. steps=1,4-6 runs these steps of a plan only: a step draws from
   numbers of its own, so that it is the same without the others. Plain C11 and MPI. */
#ifndef CLUMP_TESTS_FUZZ_H
#define CLUMP_TESTS_FUZZ_H

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMostSteps = 200, kMostThreads = 4 };

static struct {
  const char* part;
  unsigned long seed;
  int rank, size, steps, bytes, threads, plan, fails;
  char left_out[kMostSteps];
  int argc;
  char** argv;
  MPI_Comm world; /* or null: a program without MPI_Init */
} fuzz = {.bytes = 3000000, .threads = kMostThreads};
static _Thread_local int fuzz_step = -1; /* the step that this thread is in */

static inline void fail(const char* format, ...) {
  char text[2000];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  fprintf(stderr, "FAIL part=%s seed=%lu step=%d rank=%d: %s\n", fuzz.part, fuzz.seed, fuzz_step, fuzz.rank,
          text);
  fflush(stderr);
  if (fuzz.world != MPI_COMM_NULL) MPI_Abort(fuzz.world, 3);
  exit(3);
}
#define CHECK(condition, ...)            \
  do {                                   \
    if (!(condition)) fail(__VA_ARGS__); \
  } while (0)

/* A line of the plan, by rank 0 if plan=1 asks for it. A step that fails= names fails here: a test of the
 * driver. */
static inline void note(const char* format, ...) {
  va_list list;
  if (fuzz.plan && fuzz.rank == 0) {
    printf("  step %d: ", fuzz_step);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    printf("\n");
    fflush(stdout);
  }
  if (fuzz.fails == fuzz_step) fail("asked for by fails=%d", fuzz_step);
}

/* The value of NAME=VALUE of the command line. */
static inline const char* option(const char* name, const char* usual) {
  const size_t length = strlen(name);
  for (int i = 1; i < fuzz.argc; i++)
    if (!strncmp(fuzz.argv[i], name, length) && fuzz.argv[i][length] == '=') return fuzz.argv[i] + length + 1;
  return usual;
}
static inline int number_option(const char* name, int usual) {
  const char* text = option(name, NULL);
  return text ? atoi(text) : usual;
}

/* Whether without=3,5 of the command line leaves out steps of this kind. */
static inline int left_out(int kind) {
  for (const char* list = option("without", NULL); list;
       list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
    if (atoi(list) == kind) return 1;
  return 0;
}

/* On which host of hosts=NAME:SLOTS,... a rank of MPI_COMM_WORLD is, as mpiexec places ranks; its name, if
   `name` is there. Without hosts= all are on one. */
static inline int host_of(int rank, char name[64]) {
  const char* list = option("hosts", "");
  int host = 0, slots = 0, length = 0;
  for (int last = 0; sscanf(list, "%*[^:]%n:%d%n", &length, &slots, &last) == 1; host++, list += last + 1) {
    if (name) snprintf(name, 64, "%.*s", length, list);
    if ((rank -= slots) < 0 || list[last] == '\0') return host;
  }
  return 0;
}
/* Whether the ranks of MPI_COMM_WORLD can have shared memory. */
static inline int is_one_host(void) { return host_of(fuzz.size - 1, NULL) == 0; }

/* Begins step i in this thread: false if steps= leaves it out. */
static inline int step_begins(int i) {
  fuzz_step = i;

  return !fuzz.left_out[i];
}

/* --- random numbers: those who make one from the same numbers draw the same --- */
typedef struct {
  uint64_t state;
} Random;

static inline uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
static inline uint64_t hash(uint64_t a, uint64_t b) {
  return mixed(mixed(a + 0x9e3779b97f4a7c15u) ^ (b * 0xd6e8feb86659fd93u + 1));
}
static inline uint64_t draw(Random* random) { return mixed(random->state += 0x9e3779b97f4a7c15u); }
static inline int below(Random* random, int limit) {
  return limit <= 1 ? 0 : (int)(draw(random) % (uint64_t)limit);
}
static inline int between(Random* random, int low, int high) { return low + below(random, high - low + 1); }
static inline int chance(Random* random, int percent) { return below(random, 100) < percent; }
/* The plan's numbers for one purpose of a step: the same at all ranks. */
static inline Random plan_of(int step, int purpose) {
  return (Random){hash(hash(fuzz.seed, (uint64_t)step + 10), (uint64_t)purpose)};
}
/* Numbers of this rank alone. */
static inline Random own_of(int step, int purpose) {
  return (Random){
      hash(hash(hash(fuzz.seed, (uint64_t)step + 10), (uint64_t)purpose), 77 + (uint64_t)fuzz.rank)};
}

static inline void permute(Random* random, int* list, int count) {
  for (int i = 0; i < count; i++) list[i] = i;
  for (int i = count - 1; i > 0; i--) {
    const int j = below(random, i + 1), kept = list[i];
    list[i] = list[j];
    list[j] = kept;
  }
}
static inline int divisor(Random* random, int number) {
  int all[64], count = 0;
  for (int i = 1; i <= number && count < 64; i++)
    if (number % i == 0) all[count++] = i;
  return count ? all[below(random, count)] : 1;
}
/* A number of bytes: none, few, around the limits of protocols, or any. */
static inline int bytes_of(Random* random, int most) {
  const int kind = below(random, 100);
  int bytes = 0;
  if (most > fuzz.bytes) most = fuzz.bytes;
  if (kind >= 98)
    bytes = between(random, 1, 1000000);
  else if (kind >= 80)
    bytes = between(random, 1, 20000);
  else if (kind >= 35)
    bytes =
        (8 << below(random, chance(random, 93) ? 14 : 19)) + between(random, -1, 1) * between(random, 1, 9);
  else if (kind >= 8)
    bytes = between(random, 1, 64);
  if (bytes < 0) bytes = 0;
  return bytes > most ? below(random, most + 1) : bytes;
}

/* Completes one request in one of all ways. */
static inline void complete(Random* random, MPI_Request* request, MPI_Status* status) {
  int done = 0, index = 0, count = 0;
  const int way = below(random, 7);
  if (way == 0) MPI_Waitany(1, request, &index, status);
  if (way == 1) MPI_Waitsome(1, request, &count, &index, status);
  if (way == 2 || way == 3 || way == 4)
    while (!done) {
      if (way == 2) MPI_Test(request, &done, status);
      if (way == 3) MPI_Testall(1, request, &done, status);
      if (way == 4) MPI_Request_get_status(*request, &done, status);
      if (!done) sched_yield();
    }
  if (way >= 4) MPI_Wait(request, status);
}

/* Runs `work` in `count` threads, of which the caller is the first; `each` is given to all. */
typedef struct {
  int index, count, step;
  void* data;
  void (*work)(int index, void* data);
} ThreadStart;
static inline void* thread_begins(void* argument) {
  const ThreadStart* start = argument;
  fuzz_step = start->step;
  start->work(start->index, start->data);
  return NULL;
}
static inline void in_threads(int count, void (*work)(int index, void* data), void* data) {
  pthread_t threads[kMostThreads];
  ThreadStart starts[kMostThreads];
  for (int i = count - 1; i >= 0; i--) {
    starts[i] = (ThreadStart){i, count, fuzz_step, data, work};
    if (i == 0)
      thread_begins(&starts[0]);
    else if (pthread_create(&threads[i], NULL, thread_begins, &starts[i]))
      fail("no thread could be made");
  }
  for (int i = 1; i < count; i++) pthread_join(threads[i], NULL);
}
/* How many threads a step has. */
static inline int threads_of(Random* random, int most) {
  const int count = between(random, 1, most);
  return count > fuzz.threads ? fuzz.threads : count;
}

/* --- the program --- */
static inline void choose_steps(const char* list) {
  memset(fuzz.left_out, list != NULL, sizeof fuzz.left_out);
  while (list && *list) {
    char* end = NULL;
    long first = strtol(list, &end, 10), last = first;
    if (*end == '-') last = strtol(end + 1, &end, 10);
    for (long i = first; i <= last && i < kMostSteps; i++) fuzz.left_out[i] = 0;
    list = *end == ',' ? end + 1 : NULL;
  }
}
static inline void read_options(void) {
  fuzz.bytes = number_option("bytes", fuzz.bytes);
  fuzz.threads = number_option("threads", fuzz.threads);
  fuzz.plan = number_option("plan", 0);
  fuzz.fails = number_option("fails", -1);
  choose_steps(option("steps", NULL));
}
static inline void fuzz_init(int argc, char** argv, const char* part) {
  int level = 0;
  fuzz.part = part;
  fuzz.argc = argc;
  fuzz.argv = argv;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  fuzz.world = MPI_COMM_WORLD;
  MPI_Comm_rank(MPI_COMM_WORLD, &fuzz.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &fuzz.size);
  read_options();
}
/* Runs the seeds of the command line: `plan` is called with the number of steps of a plan, at most `most`. */
static inline void run_seeds(int most, void (*plan)(int steps)) {
  const unsigned long first = fuzz.argc > 1 ? strtoul(fuzz.argv[1], NULL, 10) : 1;
  const unsigned long seeds = fuzz.argc > 2 ? strtoul(fuzz.argv[2], NULL, 10) : 1;
  long steps = 0;
  for (fuzz.seed = first; fuzz.seed < first + seeds; fuzz.seed++) {
    Random random = plan_of(-1, 0);
    fuzz.steps = between(&random, 1, most);
    if (fuzz.rank == 0) printf("seed %lu steps %d\n", fuzz.seed, fuzz.steps);
    if (fuzz.rank == 0) fflush(stdout);
    plan(fuzz.steps);
    fuzz_step = -1;
    if (fuzz.world != MPI_COMM_NULL)
      MPI_Barrier(fuzz.world); /* receives with wildcards must not find messages of the next seed */
    steps += fuzz.steps;
  }
  if (fuzz.rank == 0) printf("done %lu seeds, %ld steps\n", seeds, steps);
  if (fuzz.rank == 0) fflush(stdout);
}

#endif
