/* Programs whose threads do more than the level allows that they have asked for; and some that keep to it. What is expected has a line for itself,
 * however long. */
// clang-format off
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "corpus.h"

static void run_thread(void* (*body)(void*)) {
  pthread_t thread;
  pthread_create(&thread, NULL, body, NULL);
  pthread_join(thread, NULL);
}

static void* barrier(void* unused) {
  MPI_Barrier(MPI_COMM_SELF);
  return unused;
}

/* CASE funneled
 * options: --check
 * code: 16
 * says: MPI_Barrier: a thread that has not initialised MPI calls it, and the program has asked for MPI_THREAD_FUNNELED: ask for MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE */
static void funneled(void) { run_thread(barrier); }

/* CASE single
 * options: --check
 * code: 16
 * says: MPI_Barrier: a thread that has not initialised MPI calls it, and the program has asked for MPI_THREAD_SINGLE (as MPI_Init does) */
static void single(void) { run_thread(barrier); }

static atomic_int is_waiting;

static void* receive(void* unused) {
  int got;
  is_waiting = 1;
  MPI_Recv(&got, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return unused;
}

/* CASE serialized
 * options: --check
 * code: 16
 * says: two threads of the rank are in calls of MPI at the same time, and the program has asked for MPI_THREAD_SERIALIZED: ask for MPI_THREAD_MULTIPLE */
static void serialized(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, receive, NULL);
  while (!is_waiting) usleep(1000);
  usleep(300000);
  MPI_Send(&one, 1, MPI_INT, rank, 7, MPI_COMM_WORLD);
  pthread_join(thread, NULL);
}

/* CASE serialized-in-turn
 * options: --check */
static void serialized_in_turn(void) {
  for (int i = 0; i < 20; ++i) {
    run_thread(barrier);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void* ask(void* unused) {
  int flag;
  MPI_Initialized(&flag);
  MPI_Finalized(&flag);
  MPI_Query_thread(&flag);
  MPI_Wtime();
  return unused;
}

/* CASE funneled-and-kept-to
 * options: --check */
static void funneled_and_kept_to(void) {
  int level;
  run_thread(ask);
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_FUNNELED) exit(98);
}

/* CASE multiple
 * options: --check */
static void multiple(void) { serialized(); }

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
    int level;
  } cases[] = {
      {"funneled", funneled, MPI_THREAD_FUNNELED},
      {"single", single, MPI_THREAD_SINGLE},
      {"serialized", serialized, MPI_THREAD_SERIALIZED},
      {"serialized-in-turn", serialized_in_turn, MPI_THREAD_SERIALIZED},
      {"funneled-and-kept-to", funneled_and_kept_to, MPI_THREAD_FUNNELED},
      {"multiple", multiple, MPI_THREAD_MULTIPLE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    int provided;
    if (argc < 2 || strcmp(cases[i].name, argv[1]) != 0) continue;
    if (cases[i].level == MPI_THREAD_SINGLE)
      MPI_Init(&argc, &argv);
    else
      MPI_Init_thread(&argc, &argv, cases[i].level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    cases[i].run();
    MPI_Finalize();
    return 0;
  }
  fprintf(stderr, "there is no such case\n");
  return 99;
}
