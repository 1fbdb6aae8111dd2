/* Barrier, broadcast, allreduce (doubles, sum) and alltoall (bytes to each rank); or those of these and some
   more that are named, with other sizes: collectives SECONDS LARGEST [NAME BYTES...]... */
#include "measure.h"

static char *in, *out;

static void barrier(int iterations, size_t bytes) {
  (void)bytes;
  for (int i = 0; i < iterations; ++i) MPI_Barrier(MPI_COMM_WORLD);
}
/* The root goes round, so that no rank can run ahead. */
static void bcast(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) MPI_Bcast(in, (int)bytes, MPI_BYTE, i % size, MPI_COMM_WORLD);
}
static void allreduce(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i)
    MPI_Allreduce(in, out, (int)(bytes / sizeof(double)), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void alltoall(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i)
    MPI_Alltoall(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
}
static void reduce(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i)
    MPI_Reduce(in, out, (int)(bytes / sizeof(double)), MPI_DOUBLE, MPI_SUM, i % size, MPI_COMM_WORLD);
}
/* And a barrier, so that low ranks do not run ahead. */
static void scan(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    MPI_Scan(in, out, (int)(bytes / sizeof(double)), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
static void gather(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i)
    MPI_Gather(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, i % size, MPI_COMM_WORLD);
}
static void scatter(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i)
    MPI_Scatter(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, i % size, MPI_COMM_WORLD);
}
static void allgather(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i)
    MPI_Allgather(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
}
/* Blocks of the same size, which the library does not know to be. */
static int *counts, *places;
static void fill_counts(size_t bytes) {
  for (int i = 0; i < size; ++i) {
    counts[i] = (int)bytes;
    places[i] = i * (int)bytes;
  }
}
static void gatherv(int iterations, size_t bytes) {
  fill_counts(bytes);
  for (int i = 0; i < iterations; ++i)
    MPI_Gatherv(in, (int)bytes, MPI_BYTE, out, counts, places, MPI_BYTE, i % size, MPI_COMM_WORLD);
}
static void scatterv(int iterations, size_t bytes) {
  fill_counts(bytes);
  for (int i = 0; i < iterations; ++i)
    MPI_Scatterv(in, counts, places, MPI_BYTE, out, (int)bytes, MPI_BYTE, i % size, MPI_COMM_WORLD);
}
static void allgatherv(int iterations, size_t bytes) {
  fill_counts(bytes);
  for (int i = 0; i < iterations; ++i)
    MPI_Allgatherv(in, (int)bytes, MPI_BYTE, out, counts, places, MPI_BYTE, MPI_COMM_WORLD);
}
static void alltoallv(int iterations, size_t bytes) {
  fill_counts(bytes);
  for (int i = 0; i < iterations; ++i)
    MPI_Alltoallv(in, counts, places, MPI_BYTE, out, counts, places, MPI_BYTE, MPI_COMM_WORLD);
}

/* Begun, and waited for at once. */
static void ibarrier(int iterations, size_t bytes) {
  (void)bytes;
  for (int i = 0; i < iterations; ++i) {
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}
static void ibcast(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    MPI_Request request;
    MPI_Ibcast(in, (int)bytes, MPI_BYTE, i % size, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}
static void iallreduce(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    MPI_Request request;
    MPI_Iallreduce(in, out, (int)(bytes / sizeof(double)), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}
static void ialltoall(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    MPI_Request request;
    MPI_Ialltoall(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void ireduce(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    MPI_Request request;
    MPI_Ireduce(in, out, (int)(bytes / sizeof(double)), MPI_DOUBLE, MPI_SUM, i % size, MPI_COMM_WORLD,
                &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}
static void igather(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    MPI_Request request;
    MPI_Igather(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, i % size, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

enum { kMostSizes = 32 };
static struct Operation {
  const char* name;
  void (*batch)(int iterations, size_t bytes);
  int count;
  size_t sizes[kMostSizes];
  int gives_each; /* a buffer has a block for each rank */
} operations[] = {
    {"barrier", barrier, 1, {0}, 0},
    {"bcast", bcast, 3, {8, 64 << 10, 1 << 20}, 0},
    {"allreduce", allreduce, 3, {8, 64 << 10, 1 << 20}, 0},
    {"alltoall", alltoall, 4, {8, 64, 4 << 10, 64 << 10}, 1},
    {.name = "reduce", .batch = reduce},
    {.name = "scan", .batch = scan},
    {.name = "gather", .batch = gather, .gives_each = 1},
    {.name = "scatter", .batch = scatter, .gives_each = 1},
    {.name = "allgather", .batch = allgather, .gives_each = 1},
    {.name = "gatherv", .batch = gatherv, .gives_each = 1},
    {.name = "scatterv", .batch = scatterv, .gives_each = 1},
    {.name = "allgatherv", .batch = allgatherv, .gives_each = 1},
    {.name = "alltoallv", .batch = alltoallv, .gives_each = 1},
    {.name = "ibarrier", .batch = ibarrier},
    {.name = "ibcast", .batch = ibcast},
    {.name = "iallreduce", .batch = iallreduce},
    {.name = "ireduce", .batch = ireduce},
    {.name = "igather", .batch = igather, .gives_each = 1},
    {.name = "ialltoall", .batch = ialltoall, .gives_each = 1},
};
enum { kOperations = sizeof operations / sizeof *operations };

static struct Operation* find(const char* name) {
  for (int i = 0; i < kOperations; ++i)
    if (strcmp(operations[i].name, name) == 0) return &operations[i];
  return NULL;
}

/* [NAME BYTES...]... */
static void take(int argc, char** argv) {
  struct Operation* operation = NULL;
  for (int i = 0; i < kOperations; ++i) operations[i].count = 0;
  for (int i = 0; i < argc; ++i) {
    const int is_size = argv[i][strspn(argv[i], "0123456789")] == '\0';
    if (!is_size) operation = find(argv[i]);
    if (operation == NULL) {
      fprintf(stderr, "collectives: there is no operation '%s'\n", argv[i]);
      MPI_Abort(MPI_COMM_WORLD, 2);
    } else if (is_size && operation->count < kMostSizes) {
      operation->sizes[operation->count++] = strtoull(argv[i], NULL, 10);
    }
  }
}

int main(int argc, char** argv) {
  measure_init(&argc, &argv);
  if (argc > 3) take(argc - 3, argv + 3);
  size_t room = 1;
  for (int i = 0; i < kOperations; ++i)
    for (int j = 0; j < operations[i].count; ++j) {
      const size_t bytes = operations[i].sizes[j] * (operations[i].gives_each ? (size_t)size : 1);
      if (bytes > room) room = bytes;
    }
  counts = new_buffer((size_t)size * sizeof *counts);
  places = new_buffer((size_t)size * sizeof *places);
  in = new_buffer(room);
  out = new_buffer(room);
  memset(in, 0, room); /* doubles that stay finite */

  for (int i = 0; i < kOperations; ++i)
    for (int j = 0; j < operations[i].count; ++j)
      measure(operations[i].name, operations[i].sizes[j], 1, operations[i].batch);

  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
