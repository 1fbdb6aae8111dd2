// work KIND: hello, ring, collectives, threads or openmp. Checks what it computes; rank 0 says "KIND: N ranks
// are right" at the end, and a rank that finds something wrong ends the job with code 3. Messages are of all
// lengths, so that each protocol is used.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1 << 18, THREADS = 2 };

static int rank, ranks;

static void check(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "rank %d of %d: %s is wrong\n", rank, ranks, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static int* room(size_t words) {
  int* const memory = malloc(words * sizeof(int));
  if (memory == NULL) {
    fprintf(stderr, "work: malloc of %zu bytes gives nothing\n", words * sizeof(int));
    MPI_Abort(MPI_COMM_WORLD, 4);
  }
  return memory;
}

static void ring(int tag) {
  int *const out = room(LONGEST), *const in = room(LONGEST);
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  for (int words = 1; words <= LONGEST; words *= 64) {
    for (int i = 0; i < words; ++i) out[i] = rank + i + tag;
    MPI_Sendrecv(out, words, MPI_INT, right, tag, in, words, MPI_INT, left, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < words; ++i) check(in[i] == left + i + tag, "a message");
  }
  free(out);
  free(in);
}

static void collectives(void) {
  for (int words = 1; words <= LONGEST / 16; words *= 128) {
    int *const mine = room((size_t)words * ranks), *const all = room((size_t)words * ranks);
    for (int i = 0; i < words; ++i) mine[i] = rank + i;
    MPI_Allreduce(mine, all, words, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < words; ++i) check(all[i] == ranks * (ranks - 1) / 2 + ranks * i, "MPI_Allreduce");
    MPI_Allgather(mine, words, MPI_INT, all, words, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; ++r) check(all[r * words + words - 1] == r + words - 1, "MPI_Allgather");
    for (int i = 0; i < words * ranks; ++i) mine[i] = rank * ranks + i / words;
    MPI_Alltoall(mine, words, MPI_INT, all, words, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; ++r) check(all[r * words] == r * ranks + rank, "MPI_Alltoall");
    for (int root = 0; root < ranks; root += 5) {
      mine[0] = rank * ranks;
      MPI_Bcast(mine, words, MPI_INT, root, MPI_COMM_WORLD);
      check(mine[0] == root * ranks, "MPI_Bcast");
    }
    free(mine);
    free(all);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void* one_ring(void* tag) {
  ring(*(int*)tag);
  return NULL;
}

static void threads(void) {
  pthread_t made[THREADS];
  int tags[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    tags[i] = i + 1;
    const int error = pthread_create(&made[i], NULL, one_ring, &tags[i]);
    if (error != 0) {
      fprintf(stderr, "work: pthread_create: %s\n", strerror(error));
      MPI_Abort(MPI_COMM_WORLD, 4);
    }
  }
  for (int i = 0; i < THREADS; ++i) pthread_join(made[i], NULL);
}

static void openmp(void) {
  long sum = 0;
#pragma omp parallel for num_threads(THREADS) reduction(+ : sum)
  for (int i = 0; i < 1000; ++i) sum += i + rank;
  long all = 0;
  MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  check(rank != 0 || all == 499500L * ranks + 1000L * ranks * (ranks - 1) / 2, "a sum of OpenMP's threads");
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* const kind = argc > 1 ? argv[1] : "hello";
  if (strcmp(kind, "ring") == 0) ring(0);
  if (strcmp(kind, "collectives") == 0) collectives();
  if (strcmp(kind, "threads") == 0) threads();
  if (strcmp(kind, "openmp") == 0) openmp();
  if (rank == 0) printf("%s: %d ranks are right\n", kind, ranks);
  MPI_Finalize();
  return 0;
}
