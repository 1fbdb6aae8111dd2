// pthread_key_create() in every rank: a process has 1,024 keys (PTHREAD_KEYS_MAX), and thread caches of
// allocators, OpenMP and language run-time libraries take some. Right: each rank may have many, new keys are
// null in all threads, values are the thread's own, and the destructor is the one that this rank has named.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>

enum { kKeys = 120, kRounds = 50 };

static int rank, failures = 0;
static pthread_key_t keys[kKeys];
static long destructed = 0;  // a copy for each rank
static tss_t c11_key;

#define EXPECT(condition)                                                         \
  do {                                                                            \
    if (!(condition)) {                                                           \
      ++failures;                                                                 \
      printf("rank %d: line %d: %s does not hold\n", rank, __LINE__, #condition); \
    }                                                                             \
  } while (0)

static void destruct(void* value) { destructed += (long)(size_t)value; }
static void destruct_twice(void* value) { destructed += 2 * (long)(size_t)value; }

static void* use_keys(void* argument) {
  (void)argument;
  for (int i = 0; i < kKeys; ++i) {
    EXPECT(pthread_getspecific(keys[i]) == NULL);
    EXPECT(pthread_setspecific(keys[i], (void*)(size_t)(rank + 1)) == 0);
  }
  EXPECT(tss_get(c11_key) == NULL);
  EXPECT(tss_set(c11_key, (void*)(size_t)(rank + 1)) == thrd_success);
  return NULL;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // Even ranks name the one destructor first, odd ranks the other one.
  for (int i = 0; i < kKeys; ++i)
    EXPECT(pthread_key_create(&keys[i], (i + rank) % 2 == 0 ? destruct : destruct_twice) == 0);
  EXPECT(tss_create(&c11_key, NULL) == thrd_success);
  for (int i = 0; i < kKeys; ++i) {
    EXPECT(pthread_getspecific(keys[i]) == NULL);
    EXPECT(pthread_setspecific(keys[i], &keys[i]) == 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);

  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, use_keys, NULL) == 0);
  pthread_join(thread, NULL);
  EXPECT(destructed == (long)kKeys / 2 * 3 * (rank + 1));

  // Keys that come and go, at another pace in each rank: what was set by an older key is not seen.
  for (int round = 0; round < kRounds * (rank % 3 + 1); ++round) {
    pthread_key_t passing;
    EXPECT(pthread_key_create(&passing, NULL) == 0);
    EXPECT(pthread_getspecific(passing) == NULL);
    EXPECT(pthread_setspecific(passing, &passing) == 0);
    if (round % 10 == 0)
      MPI_Sendrecv(&round, 1, MPI_INT, rank, 0, &round, 1, MPI_INT, rank, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    EXPECT(pthread_getspecific(passing) == &passing);
    EXPECT(pthread_key_delete(passing) == 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kKeys; ++i) {
    EXPECT(pthread_getspecific(keys[i]) == &keys[i]);
    EXPECT(pthread_key_delete(keys[i]) == 0);
  }
  tss_delete(c11_key);
  MPI_Finalize();
  return failures;
}
