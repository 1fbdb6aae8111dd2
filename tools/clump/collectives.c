/* clump-collectives: how long collective operations take with each of several algorithms. An MPI program,
   started by `clump tune`.

     clump-collectives SECONDS COLLECTIVE:BYTES:ALGORITHM,ALGORITHM... ...

   BYTES are those of a rank's part, as the rules for collectives count them. All algorithms are measured in
   one job, on communicators whose info keys ask for them. There are several rounds, and in each of them every
   argument has its turn (rank 0 prints its number then), and every algorithm of it: so what disturbs the
   machine for a while disturbs all, and each but once. In the last round rank 0 prints a line `ARGUMENT
   ALGORITHM QUARTILE MEDIAN QUARTILE` for each, the first two as numbers from 0 on, the others in seconds for
   one operation. What does not fit into SECONDS is left out: the last arguments. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  kRounds = 7,
  kMostAlgorithms = 16,
  kMostOperations = 1 << 20,
  kMostTouched = 256 << 10,
};

static int rank, size;
static char *in, *out;
static volatile double seen;
static MPI_Comm comm; /* the one that is measured */

_Noreturn static void fail(const char* why) {
  fprintf(stderr, "clump-collectives: %s\n", why);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static int doubles(size_t bytes) { return (int)(bytes / sizeof(double)); }

static void barrier(int root, size_t bytes) {
  (void)root, (void)bytes;
  MPI_Barrier(comm);
}
static void broadcast(int root, size_t bytes) { MPI_Bcast(in, (int)bytes, MPI_BYTE, root, comm); }
static void reduce(int root, size_t bytes) {
  MPI_Reduce(in, out, doubles(bytes), MPI_DOUBLE, MPI_SUM, root, comm);
}
static void allreduce(int root, size_t bytes) {
  (void)root;
  MPI_Allreduce(in, out, doubles(bytes), MPI_DOUBLE, MPI_SUM, comm);
}
static void gather(int root, size_t bytes) {
  MPI_Gather(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, root, comm);
}
static void scatter(int root, size_t bytes) {
  MPI_Scatter(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, root, comm);
}
static void allgather(int root, size_t bytes) {
  (void)root;
  MPI_Allgather(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, comm);
}
static void alltoall(int root, size_t bytes) {
  (void)root;
  MPI_Alltoall(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, comm);
}
static void reduce_scatter(int root, size_t bytes) {
  (void)root;
  MPI_Reduce_scatter_block(in, out, doubles(bytes) / size, MPI_DOUBLE, MPI_SUM, comm);
}
/* And a barrier, the same one for all algorithms, so that low ranks do not run ahead. */
static void scan(int root, size_t bytes) {
  (void)root;
  MPI_Scan(in, out, doubles(bytes), MPI_DOUBLE, MPI_SUM, comm);
  MPI_Barrier(MPI_COMM_WORLD);
}

static const struct Operation {
  const char* name;
  void (*once)(int root, size_t bytes);
  int gives_each; /* a buffer has a block for each rank */
} operations[] = {
    {"barrier", barrier, 0},     {"broadcast", broadcast, 0}, {"reduce", reduce, 0},
    {"allreduce", allreduce, 0}, {"gather", gather, 1},       {"scatter", scatter, 1},
    {"allgather", allgather, 1}, {"alltoall", alltoall, 1},   {"reduce_scatter", reduce_scatter, 0},
    {"scan", scan, 0},
};
enum { kOperations = sizeof operations / sizeof *operations };

struct Item {
  const struct Operation* operation;
  size_t bytes;
  int count;   /* of algorithms */
  double cost; /* seconds in the first round */
  struct {
    char* name;
    int operations; /* in a round */
    double times[kRounds];
  } algorithms[kMostAlgorithms];
};

static struct Item parse(char* text) {
  struct Item item = {.operation = NULL};
  const char* const name = strtok(text, ":");
  for (int i = 0; i < kOperations; ++i)
    if (name != NULL && strcmp(operations[i].name, name) == 0) item.operation = &operations[i];
  const char* const bytes = strtok(NULL, ":");
  if (item.operation == NULL || bytes == NULL) fail("an argument is not COLLECTIVE:BYTES:ALGORITHM,...");
  item.bytes = strtoull(bytes, NULL, 10);
  for (char* one = strtok(NULL, ","); one != NULL && item.count < kMostAlgorithms; one = strtok(NULL, ","))
    item.algorithms[item.count++].name = one;
  return item;
}

static MPI_Comm comm_for(const struct Item* item, int algorithm) {
  char key[64];
  MPI_Info info;
  MPI_Comm made;
  snprintf(key, sizeof key, "clump_%s_algorithm", item->operation->name);
  MPI_Info_create(&info);
  MPI_Info_set(info, key, item->algorithms[algorithm].name);
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &made);
  MPI_Info_free(&info);
  return made;
}

/* What programs do with their data between two operations: it decides in whose cache it lies. Of much data it
   would be most of what is measured, and it is in nobody's cache anyway. */
static void touch(const struct Item* item, int turn) {
  const size_t count = item->bytes <= kMostTouched
                           ? item->bytes * (item->operation->gives_each ? (size_t)size : 1) / sizeof(double)
                           : 0;
  double *const given = (double*)in, sum = 0;
  const double* const got = item->operation->once == broadcast ? given : (double*)out;
  for (size_t i = 0; i < count; ++i) sum += got[i];
  seen = sum;
  for (size_t i = 0; i < count; ++i) given[i] = turn;
}

/* Seconds that so many operations take, from a barrier on, where they take longest. The root goes round. */
static double batch(const struct Item* item, int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < count; ++i) {
    touch(item, i);
    item->operation->once(i % size, item->bytes);
  }
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

/* How many operations fill so many seconds. */
static int count_for(const struct Item* item, double seconds) {
  int count = 1;
  for (double took = batch(item, 1); took < seconds / 2 && count < kMostOperations;
       took = batch(item, count)) {
    const double more = took > 0 ? seconds / took : 8;
    count = (int)(count * (more < 2 ? 2 : more > 8 ? 8 : more));
  }
  return count;
}

/* One round of an argument; in the first one finds out how many operations fill so many seconds, and what the
   other rounds will cost. */
static void measure(struct Item* items, int number, int round, double seconds) {
  struct Item* const item = &items[number];
  double finding = 0;
  if (rank == 0) {
    printf("%d\n", number);
    fflush(stdout);
  }
  const double start = MPI_Wtime();
  for (int i = 0; i < item->count; ++i) {
    comm = comm_for(item, i);
    batch(item, 1); /* for the caches, and what a communicator does the first time */
    if (round == 0) {
      const double begun = MPI_Wtime();
      item->algorithms[i].operations = count_for(item, seconds);
      finding += MPI_Wtime() - begun;
    }
    const int operations = item->algorithms[i].operations;
    item->algorithms[i].times[round] = batch(item, operations) / operations;
    MPI_Comm_free(&comm);
  }
  if (round == 0) item->cost = MPI_Wtime() - start - finding;
}

static int compare(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

static void print(int number, struct Item* item) {
  for (int i = 0; i < item->count; ++i) {
    double* const times = item->algorithms[i].times;
    qsort(times, kRounds, sizeof times[0], compare);
    printf("%d %d %.9g %.9g %.9g\n", number, i, times[kRounds / 4], times[kRounds / 2],
           times[kRounds - 1 - kRounds / 4]);
  }
  fflush(stdout);
}

/* The first round. Returns how many arguments fit into the time with all their rounds. */
static int begin(struct Item* items, int count, double seconds) {
  const double start = MPI_Wtime();
  int algorithms = 0, done = 0, late = 0;
  for (int i = 0; i < count; ++i) algorithms += items[i].count;
  /* To find out how many operations are enough takes as long as two rounds. */
  const double each = seconds / (kRounds + 2) / algorithms;
  while (done < count && !late) {
    measure(items, done++, 0, each);
    late = MPI_Wtime() - start > seconds / 2;
    MPI_Bcast(&late, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  const double left = seconds - (MPI_Wtime() - start);
  double needed = 0;
  int fit = 0;
  while (fit < done && (needed += items[fit].cost * (kRounds - 1)) <= left) ++fit;
  MPI_Bcast(&fit, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return fit;
}

static char* new_buffer(size_t bytes) {
  char* const buffer = malloc(bytes);
  if (buffer == NULL) fail("there is no memory for the buffers");
  memset(buffer, 0, bytes); /* doubles that stay finite, and pages that are there */
  return buffer;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int count = argc - 2;
  if (count < 1) fail("usage: clump-collectives SECONDS COLLECTIVE:BYTES:ALGORITHM,... ...");
  struct Item* const items = calloc((size_t)count, sizeof *items);
  size_t room = 1;
  for (int i = 0; i < count; ++i) {
    items[i] = parse(argv[i + 2]);
    const size_t bytes = items[i].bytes * (items[i].operation->gives_each ? (size_t)size : 1);
    if (bytes > room) room = bytes;
  }
  in = new_buffer(room);
  out = new_buffer(room);

  const int fit = begin(items, count, strtod(argv[1], NULL));
  for (int round = 1; round < kRounds; ++round)
    for (int i = 0; i < fit; ++i) {
      measure(items, i, round, 0);
      if (round == kRounds - 1 && rank == 0) print(i, &items[i]);
    }
  free(out);
  free(in);
  free(items);
  MPI_Finalize();
  return 0;
}
