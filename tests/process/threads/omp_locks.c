// MPI calls inside of OpenMP's locks: how hybrid codes with MPI_THREAD_SERIALIZED let one thread at a time
// communicate. A rank that waits for another one inside its critical section must not keep that one out of
// its own. Right: each rank gets what its partner has sent, and the job ends at once.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRounds = 20 };

static long got = 0;
static int rank, partner;

static void exchange(int tag) {
  const int mine = rank;
  int theirs = -1;
  if (rank & 1) {
    MPI_Recv(&theirs, 1, MPI_INT, partner, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&mine, 1, MPI_INT, partner, tag, MPI_COMM_WORLD);
  } else {
    MPI_Send(&mine, 1, MPI_INT, partner, tag, MPI_COMM_WORLD);
    MPI_Recv(&theirs, 1, MPI_INT, partner, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  got += theirs;
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "critical";
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  partner = rank ^ 1;
  omp_lock_t lock;
  omp_nest_lock_t nest_lock;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest_lock);
  long double sum = 0;  // too large for an atomic instruction: the run-time library has a lock for it
  for (int round = 0; round < kRounds; ++round) {
#pragma omp parallel num_threads(2)
    {
      const int tag = omp_get_thread_num();
      if (strcmp(kind, "critical") == 0) {
#pragma omp critical
        exchange(tag);
      } else if (strcmp(kind, "named") == 0) {
#pragma omp critical(mpi)
        exchange(tag);
      } else if (strcmp(kind, "lock") == 0) {
        omp_set_lock(&lock);
        exchange(tag);
        omp_unset_lock(&lock);
      } else if (strcmp(kind, "nest_lock") == 0) {
        omp_set_nest_lock(&nest_lock);
        exchange(tag);
        omp_unset_nest_lock(&nest_lock);
      } else if (strcmp(kind, "ordered") == 0) {
#pragma omp for ordered
        for (int i = 0; i < 2; ++i) {
#pragma omp ordered
          exchange(i);
        }
      } else if (strcmp(kind, "atomic") == 0) {
#pragma omp critical
        exchange(tag);
#pragma omp atomic
        sum += 1;
      } else if (strcmp(kind, "reduction") == 0) {
#pragma omp for reduction(+ : sum)
        for (int i = 0; i < 2; ++i) sum += 1;
#pragma omp critical
        exchange(tag);
      }
    }
  }
  const long expected = 2L * kRounds * partner;
  const int counts = strcmp(kind, "atomic") == 0 || strcmp(kind, "reduction") == 0;
  const int is_right = got == expected && sum == (counts ? 2 * kRounds : 0);
  if (!is_right) printf("rank %d: %s: got %ld, expected %ld; sum %Lf\n", rank, kind, got, expected, sum);
  MPI_Finalize();
  return is_right ? 0 : 1;
}
