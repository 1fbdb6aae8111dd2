/* Much data, outside of a parallel region and inside of one: prints what part of the work, in percent,
 * somebody else did. The results have to be right in any case. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kNumbers = 1 << 20, kRounds = 50, kRow = 16 };

static int rank, size;
static int *from, *to;
static MPI_T_pvar_session session;
static MPI_T_pvar_handle offered, helped;

static MPI_T_pvar_handle handle_of(const char* name) {
  int index, count;
  MPI_T_pvar_handle handle;
  MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index);
  MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
  MPI_T_pvar_start(session, handle);
  return handle;
}

static unsigned long long value_of(MPI_T_pvar_handle handle) {
  unsigned long long value;
  MPI_T_pvar_read(session, handle, &value);
  return value;
}

static void expect(int index, int value, const char* what) {
  if (to[index] == value) return;
  printf("%s: element %d is %d where %d is right\n", what, index, to[index], value);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(int factor, int shift, const char* what) {
  for (int i = 0; i < kNumbers; i += 97) expect(i, i * factor + shift, what);
  expect(kNumbers - 1, (kNumbers - 1) * factor + shift, what);
}

static void move_much(int round) {
  const int peer = (rank + 1) % size, other = (rank + size - 1) % size;
  for (int i = 0; i < kNumbers; ++i) from[i] = i + round;
  MPI_Sendrecv(from, kNumbers, MPI_INT, peer, 0, to, kNumbers, MPI_INT, other, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  check(1, round, "MPI_Sendrecv");
  MPI_Reduce_local(from, to, kNumbers, MPI_INT, MPI_SUM);
  check(2, 2 * round, "MPI_Reduce_local");
  MPI_Allreduce(from, to, kNumbers, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check(size, size * round, "MPI_Allreduce");
  MPI_Bcast(from, kNumbers, MPI_INT, 0, MPI_COMM_WORLD);

  /* Every other row of a matrix, packed and unpacked. */
  MPI_Datatype rows;
  MPI_Type_vector(kNumbers / kRow / 2, kRow, 2 * kRow, MPI_INT, &rows);
  MPI_Type_commit(&rows);
  int* const packed = malloc(kNumbers / 2 * sizeof(int));
  int position = 0;
  MPI_Pack(from, 1, rows, packed, kNumbers / 2 * (int)sizeof(int), &position, MPI_COMM_WORLD);
  for (int i = 0; i < kNumbers; ++i) to[i] = -1;
  position = 0;
  MPI_Unpack(packed, kNumbers / 2 * (int)sizeof(int), &position, to, 1, rows, MPI_COMM_WORLD);
  for (int i = 0; i < kNumbers; ++i) expect(i, i / kRow % 2 == 0 ? i + round : -1, "MPI_Pack and MPI_Unpack");
  free(packed);
  MPI_Type_free(&rows);
}

static void report(const char* where, void (*body)(int round)) {
  usleep(50000); /* whoever still looks around goes to sleep */
  const unsigned long long offered_before = value_of(offered), helped_before = value_of(helped);
  for (int round = 0; round < kRounds; ++round) body(round);
  const unsigned long long all = value_of(offered) - offered_before;
  if (rank == 0) printf("%s: %llu of %llu parts\n", where, value_of(helped) - helped_before, all);
}

static void move_much_inside(int round) {
#pragma omp parallel num_threads(2)
  {
#pragma omp master
    move_much(round);
  }
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_T_pvar_session_create(&session);
  offered = handle_of("parts_offered");
  helped = handle_of("parts_helped");
  from = malloc(kNumbers * sizeof(int));
  to = malloc(kNumbers * sizeof(int));
  report("outside", move_much);
  report("inside", move_much_inside);
  free(from);
  free(to);
  MPI_T_pvar_session_free(&session);
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
