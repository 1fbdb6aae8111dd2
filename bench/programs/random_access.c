/* Updates of random places in a table that lies in a window, as HPC Challenge's RandomAccess does them by
   messages. usage: random_access WORDS UPDATES

   The table has WORDS words of 8 bytes, the ranks have an equal part each. All ranks together do UPDATES
   updates: a random word is exclusive-ored to the word of the table that its low bits name. MPI_Accumulate
   does that for any rank's part, and every 1024 updates are flushed. Done twice, the table is as it was
   before. */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kLook = 1024 };

static int rank, size;

/* The next of a sequence of 64 bits (xorshift*), which never is 0. */
static uint64_t next(uint64_t* state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 2685821657736338717u;
}

static void update(MPI_Win table, long words, long updates) {
  static uint64_t values[kLook];
  const long part = words / size;
  uint64_t state = 88172645463325252u + (uint64_t)rank * 7046029254386353131u;
  for (long done = 0; done < updates; ++done) {
    uint64_t* const value = &values[done % kLook];
    *value = next(&state);
    const long place = (long)(*value % (uint64_t)words);
    MPI_Accumulate(value, 1, MPI_UINT64_T, (int)(place / part), place % part, 1, MPI_UINT64_T, MPI_BXOR,
                   table);
    if (done % kLook == kLook - 1) MPI_Win_flush_all(table);
  }
  MPI_Win_flush_all(table);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long words = argc > 1 ? atol(argv[1]) : 0, updates = argc > 2 ? atol(argv[2]) : 0;
  if (words < size || words % size != 0 || updates < size) {
    if (rank == 0)
      fprintf(stderr,
              "random_access: give WORDS, a multiple of the %d ranks, and UPDATES, at least as many\n", size);
    MPI_Finalize();
    return 2;
  }
  uint64_t* mine;
  MPI_Win table;
  MPI_Win_allocate(words / size * (MPI_Aint)sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                   &table);
  const uint64_t first = (uint64_t)rank * (uint64_t)(words / size);
  MPI_Win_lock_all(0, table);
  for (long i = 0; i < words / size; ++i) mine[i] = first + (uint64_t)i;
  MPI_Win_sync(table);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  update(table, words, updates / size);
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - begin;
  update(table, words, updates / size);
  MPI_Win_unlock_all(table);
  MPI_Barrier(MPI_COMM_WORLD);
  long wrong = 0, all = 0;
  for (long i = 0; i < words / size; ++i) wrong += mine[i] != first + (uint64_t)i;
  MPI_Reduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%.3f million updates a second\n%ld wrong of %ld words\n",
           1e-6 * (double)(updates / size * size) / seconds, all, words);
  MPI_Win_free(&table);
  MPI_Finalize();
  return all != 0;
}
