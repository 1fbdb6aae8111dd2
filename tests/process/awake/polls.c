// All ranks ask again and again for what never comes, or the first one waits for it beside a thread of its
// own that sleeps: polls CASE. Right: --hang-after ends the job.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static MPI_Request request;
static int is_there, index_of, count;

static void test(void) { MPI_Test(&request, &is_there, MPI_STATUS_IGNORE); }
static void test_all(void) { MPI_Testall(1, &request, &is_there, MPI_STATUSES_IGNORE); }
static void test_any(void) { MPI_Testany(1, &request, &index_of, &is_there, MPI_STATUS_IGNORE); }
static void test_some(void) { MPI_Testsome(1, &request, &count, &index_of, MPI_STATUSES_IGNORE); }
static void get_status(void) { MPI_Request_get_status(request, &is_there, MPI_STATUS_IGNORE); }
static void probe(void) { MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE); }
static void matched_probe(void) {
  MPI_Message message;
  MPI_Improbe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &is_there, &message, MPI_STATUS_IGNORE);
}
/// What asks for other things as well is no different.
static void mixed(void) {
  int rank;
  probe();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

/// Uses a fifth of a core: of a process, that is no sign that the rank which waits in it computes.
static void use_time_and_probe(void) {
  const clock_t begin = clock();
  while (clock() - begin < CLOCKS_PER_SEC / 4000) {
  }
  probe();
}

static void* wait_for_work(void* unused) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
  pthread_mutex_lock(&mutex);
  for (;;) pthread_cond_wait(&work, &mutex);
  return unused;
}
/// The first rank has a pool of threads without work, and waits in MPI.
static void wait_with_pool(void) {
  pthread_t thread;
  for (int i = 0; i < 3; ++i) pthread_create(&thread, NULL, wait_for_work, NULL);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static const struct Poll {
  const char* name;
  void (*call)(void);
  void (*wait)(void);  ///< instead of `call`, by rank 0; may be null
} kPolls[] = {
    {"test", test, NULL},
    {"testall", test_all, NULL},
    {"testany", test_any, NULL},
    {"testsome", test_some, NULL},
    {"get_status", get_status, NULL},
    {"iprobe", probe, NULL},
    {"improbe", matched_probe, NULL},
    {"mixed", mixed, NULL},
    {"pool", use_time_and_probe, wait_with_pool},
};

int main(int argc, char** argv) {
  const struct Poll* poll = NULL;
  for (size_t i = 0; i < sizeof kPolls / sizeof kPolls[0]; ++i)
    if (argc > 1 && strcmp(kPolls[i].name, argv[1]) == 0) poll = &kPolls[i];
  if (poll == NULL) return 9;
  int byte, given, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Irecv(&byte, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &request);
  if (poll->wait != NULL && rank == 0) poll->wait();
  for (;;) {
    poll->call();
    usleep(1000);  // other tests run beside this one
  }
}
