/* A stencil whose rows cost different amounts of work.   usage: imbalance [N] [ITERATIONS] [CORES] [UNITS]

   N x N points are cut into strips of rows, one for each rank. An iteration exchanges the rows at the edges
   with the strips above and below, then replaces every point by a function of its four neighbours. The
   function has more steps the lower the row is: the last row costs four times the work of the first one, as
   with chemistry that depends on what is at a place. With a rank for each core the others wait for the last
   rank. With more ranks than cores a core that has nothing to do can go on with another rank.

   The program prints the time of an iteration against the perfect balance of its work: what it would take if
   all CORES (those that the ranks may use, if not given) were busy all the time. For that it measures first
   how long a unit of work takes while all rows cost the same. UNITS (8) is the work of a point in the first
   row. With N of at most 512 rank 0 does all of it again alone, and the result has to be the same to the last
   bit. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMostChecked = 512, kDearest = 4 };

static int n, units, rank, size;
static int balanced; /* all rows cost the same */

struct Strip {
  int first, rows;    /* the row of all that it begins with; how many it has */
  double *now, *next; /* (rows + 2) x (n + 2) */
};

static double* row_of(double* points, int i) { return points + (size_t)i * (n + 2); }

static int work_of(int row) {
  if (balanced) return (kDearest + 1) * units / 2;
  return units + (kDearest - 1) * units * row / (n > 1 ? n - 1 : 1);
}

/* So many steps towards a value that the neighbours and the steps before it give. */
static double advance(double around, int steps) {
  double value = around;
  for (int step = 0; step < steps; ++step) value += 0.125 * (around - value * value);
  return value;
}

static void update(struct Strip* strip) {
  for (int i = 1; i <= strip->rows; ++i) {
    const int work = work_of(strip->first + i - 1);
    const double *above = row_of(strip->now, i - 1), *here = row_of(strip->now, i),
                 *below = row_of(strip->now, i + 1);
    double* const result = row_of(strip->next, i);
    for (int j = 1; j <= n; ++j)
      result[j] = advance(0.25 * (above[j] + below[j] + here[j - 1] + here[j + 1]), work);
  }
  double* const swap = strip->now;
  strip->now = strip->next;
  strip->next = swap;
}

static void exchange(struct Strip* strip) {
  const int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
  const int rows = strip->rows;
  MPI_Request requests[4];
  MPI_Irecv(row_of(strip->now, 0) + 1, n, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(row_of(strip->now, rows + 1) + 1, n, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(row_of(strip->now, 1) + 1, n, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(row_of(strip->now, rows) + 1, n, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static struct Strip make_strip(int first, int rows) {
  struct Strip strip = {first, rows, NULL, NULL};
  const size_t points = (size_t)(rows + 2) * (n + 2);
  strip.now = calloc(points, sizeof(double));
  strip.next = calloc(points, sizeof(double));
  if (strip.now == NULL || strip.next == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 1; i <= rows; ++i)
    for (int j = 1; j <= n; ++j) row_of(strip.now, i)[j] = (double)((first + i) % 7 + j % 5) / 16;
  return strip;
}

static void free_strip(struct Strip* strip) {
  free(strip->now);
  free(strip->next);
}

static int first_row(int of_rank) { return (int)((long)n * of_rank / size); }

static double work_of_rows(int first, int rows) {
  double sum = 0;
  for (int i = first; i < first + rows; ++i) sum += work_of(i);
  return sum * n;
}

/* How many cores the ranks may use together, on all hosts. */
static int cores_of_job(void) {
  cpu_set_t mine, all;
  int cores = 0, sum = 0, rank_here;
  MPI_Comm host;
  CPU_ZERO(&mine);
  CPU_ZERO(&all);
  sched_getaffinity(0, sizeof mine, &mine);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &rank_here);
  MPI_Reduce(&mine, &all, sizeof all, MPI_BYTE, MPI_BOR, 0, host);
  if (rank_here == 0) cores = CPU_COUNT(&all);
  MPI_Allreduce(&cores, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_free(&host);
  return sum;
}

/* Seconds of one core for a unit of work: all ranks do the same work, and do not communicate. */
static double seconds_of_a_unit(int cores) {
  enum { kRepeats = 3, kUpdates = 5 };
  const int first = first_row(rank);
  struct Strip strip = make_strip(first, first_row(rank + 1) - first);
  double best = 0;
  balanced = 1;
  for (int repeat = 0; repeat <= kRepeats; ++repeat) { /* the first one does not count: its memory is new */
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < kUpdates; ++i) update(&strip);
    MPI_Barrier(MPI_COMM_WORLD);
    const double seconds = MPI_Wtime() - begin;
    if (repeat == 1 || (repeat > 1 && seconds < best)) best = seconds;
  }
  const double work = kUpdates * work_of_rows(0, n);
  balanced = 0;
  free_strip(&strip);
  return best * (cores < size ? cores : size) / work;
}

/* How many points differ from what rank 0 finds alone; -1 on other ranks. */
static int differences(const struct Strip* strip, int iterations) {
  int counts[size], places[size];
  for (int r = 0; r < size; ++r) {
    counts[r] = (first_row(r + 1) - first_row(r)) * (n + 2);
    places[r] = first_row(r) * (n + 2);
  }
  double* const all = rank == 0 ? malloc((size_t)n * (n + 2) * sizeof(double)) : NULL;
  MPI_Gatherv(row_of(strip->now, 1), counts[rank], MPI_DOUBLE, all, counts, places, MPI_DOUBLE, 0,
              MPI_COMM_WORLD);
  if (rank != 0) return -1;
  struct Strip alone = make_strip(0, n);
  for (int i = 0; i < iterations; ++i) update(&alone);
  int differ = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 1; j <= n; ++j) differ += row_of(all, i)[j] != row_of(alone.now, i + 1)[j];
  free_strip(&alone);
  free(all);
  return differ;
}

static void report(int iterations, int cores, double seconds, double unit) {
  const double perfect = unit * work_of_rows(0, n) / cores;
  double least = 0, most = 0;
  for (int r = 0; r < size; ++r) {
    const double work = work_of_rows(first_row(r), first_row(r + 1) - first_row(r));
    if (r == 0 || work < least) least = work;
    if (work > most) most = work;
  }
  printf("%d x %d points, %d ranks on %d cores: %.3f ms an iteration, the mean of %d\n", n, n, size, cores,
         1e3 * seconds, iterations);
  printf(
      "the rank with the most work has %.2f times that of the one with the least, and needs %.3f ms for it\n",
      most / least, 1e3 * unit * most);
  printf("perfect balance %.3f ms: %.3f times that\n", 1e3 * perfect, seconds / perfect);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  n = argc > 1 ? atoi(argv[1]) : 512;
  const int iterations = argc > 2 ? atoi(argv[2]) : 50;
  const int cores = argc > 3 ? atoi(argv[3]) : cores_of_job();
  units = argc > 4 ? atoi(argv[4]) : 8;
  if (n < size || iterations < 1 || cores < 1 || units < 1) {
    if (rank == 0)
      fprintf(stderr,
              "imbalance: N has to be at least the %d ranks, and ITERATIONS, CORES and UNITS at least 1\n",
              size);
    MPI_Finalize();
    return 2;
  }
  const double unit = seconds_of_a_unit(cores);
  struct Strip strip = make_strip(first_row(rank), first_row(rank + 1) - first_row(rank));
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < iterations; ++i) {
    exchange(&strip);
    update(&strip);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = (MPI_Wtime() - begin) / iterations;
  int differ = 0;
  if (n <= kMostChecked) differ = differences(&strip, iterations);
  if (rank == 0) {
    report(iterations, cores, seconds, unit);
    if (differ != 0) printf("%d points differ from what rank 0 finds alone\n", differ);
  }
  free_strip(&strip);
  MPI_Finalize();
  return differ > 0;
}
