/* Files: MB/s of contiguous and of strided access, small ordered writes, and how much of a non-blocking write
   is hidden.

   files SECONDS [FOLDER [MIB]]: prints a line for each measurement, "name value unit". The strided ones write
   and read a 3-D array of doubles in blocks, MIB per rank. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks;
static double seconds;
static char name[512];
static MPI_File file;

/* A new file: what has its name already may be a link of another user's. */
static void open_file(void) {
  if (rank == 0) unlink(name);
  MPI_Barrier(MPI_COMM_WORLD);
  const int code = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  fprintf(stderr, "files: %s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void close_file(void) { MPI_File_close(&file); }

static double now(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime();
}

/* The median time of a call of `run`: at least three calls, and as many as fit into the time. */
static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(void (*run)(void*), void* argument) {
  enum { kMost = 200 };
  double times[kMost];
  int n = 0, goes_on = 1;
  run(argument);
  const double begin = now();
  while (goes_on && n < kMost) {
    const double start = now();
    run(argument);
    times[n++] = now() - start;
    goes_on = n < 3 || MPI_Wtime() - begin < seconds;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  qsort(times, (size_t)n, sizeof times[0], compare);
  return times[n / 2];
}

static void tell(const char* what, double value, const char* unit) {
  if (rank == 0) printf("%s %.6g %s\n", what, value, unit);
}

typedef struct {
  char* data;
  MPI_Count bytes;
  MPI_Datatype filetype;
} Part;

static void write_contiguous(void* argument) {
  const Part* part = argument;
  MPI_File_write_at(file, rank * part->bytes, part->data, (int)part->bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void read_contiguous(void* argument) {
  const Part* part = argument;
  MPI_File_read_at(file, rank * part->bytes, part->data, (int)part->bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void write_strided(void* argument) {
  const Part* part = argument;
  MPI_File_write_at_all(file, 0, part->data, (int)(part->bytes / 8), MPI_DOUBLE, MPI_STATUS_IGNORE);
}

static void read_strided(void* argument) {
  const Part* part = argument;
  MPI_File_read_at_all(file, 0, part->data, (int)(part->bytes / 8), MPI_DOUBLE, MPI_STATUS_IGNORE);
}

static void write_small(void* argument) {
  for (int i = 0; i < 20; ++i) MPI_File_write_shared(file, argument, 100, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void write_ordered(void* argument) {
  for (int i = 0; i < 20; ++i) MPI_File_write_ordered(file, argument, 100, MPI_BYTE, MPI_STATUS_IGNORE);
}

/* The array has n values on each side, and is divided among the ranks in all three dimensions. */
static void make_strided(Part* part) {
  int dims[3] = {0, 0, 0}, sizes[3], count[3], first[3], at = rank;
  MPI_Dims_create(ranks, 3, dims);
  const int side = (int)cbrt((double)part->bytes / 8);
  for (int d = 2; d >= 0; --d) {
    sizes[d] = side * dims[d];
    count[d] = side;
    first[d] = at % dims[d] * side;
    at /= dims[d];
  }
  part->bytes = (MPI_Count)side * side * side * 8;
  MPI_Type_create_subarray(3, sizes, count, first, MPI_ORDER_C, MPI_DOUBLE, &part->filetype);
  MPI_Type_commit(&part->filetype);
}

static volatile double sink;

static void compute(double time) {
  const double end = MPI_Wtime() + time;
  double x = 1;
  while (MPI_Wtime() < end)
    for (int i = 0; i < 1000; ++i) x = x * 1.0000001 + 1e-9;
  sink = x;
}

/* The part of a write's time that computing next to it hides. */
static void overlap(const Part* part) {
  MPI_Request request;
  double write = median(write_contiguous, (void*)part);
  const double begin = now();
  MPI_File_iwrite_at(file, rank * part->bytes, part->data, (int)part->bytes, MPI_BYTE, &request);
  compute(2 * write);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const double both = now() - begin, hidden = (write + 2 * write - both) / write;
  tell("hidden", 100 * (hidden < 0 ? 0 : hidden > 1 ? 1 : hidden), "%");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  seconds = argc > 1 ? atof(argv[1]) : 1;
  snprintf(name, sizeof name, "%s/bench_files_%ld", argc > 2 ? argv[2] : "/dev/shm", (long)getpid());
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  Part part = {.bytes = (MPI_Count)((argc > 3 ? atof(argv[3]) : 1) * (1 << 20))};
  part.data = malloc((size_t)part.bytes);
  memset(part.data, rank + 1, (size_t)part.bytes);

  const double mb = (double)part.bytes * ranks / 1e6;
  open_file();
  tell("contiguous_write", mb / median(write_contiguous, &part), "MB/s");
  tell("contiguous_read", mb / median(read_contiguous, &part), "MB/s");
  overlap(&part);
  make_strided(&part);
  const double strided = (double)part.bytes * ranks / 1e6;
  MPI_File_set_view(file, 0, MPI_DOUBLE, part.filetype, "native", MPI_INFO_NULL);
  tell("strided_write", strided / median(write_strided, &part), "MB/s");
  tell("strided_read", strided / median(read_strided, &part), "MB/s");
  MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  tell("ordered_100_bytes", median(write_ordered, part.data) / 20 * 1e6, "us");
  tell("shared_100_bytes", median(write_small, part.data) / 20 * 1e6, "us");
  close_file();
  if (rank == 0) unlink(name);
  MPI_Type_free(&part.filetype);
  free(part.data);
  MPI_Finalize();
  return 0;
}
