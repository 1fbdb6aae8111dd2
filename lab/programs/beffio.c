/* The effective I/O bandwidth b_eff_io (Rabenseifner and Koniges, 2001) in short: five types of patterns, each
 * with chunks of several sizes, written for the first time, written again, and read. A chunk of 1 KB, of 32 KB
 * and the longest come also with 8 bytes more, so that they begin at no even place. The rate of a type is its
 * bytes by its time; the mean over types counts the first twice, and that over methods counts reading twice. */
#include "lab.h"

static long longest = 1L << 20;
static long most_bytes = 1L << 24;
static double seconds = 0.02;
static const char* folder = ".";
static const struct LabOption kOptions[] = {
    {"longest", "bytes of the longest chunk, more than 32768", &longest, NULL, NULL},
    {"most", "bytes that a rank writes at most for each size of chunk", &most_bytes, NULL, NULL},
    {"seconds", "how long the first writing of each size of chunk takes", NULL, &seconds, NULL},
    {"folder", "where the files are while this runs; all hosts see it", NULL, NULL, &folder},
    {NULL, NULL, NULL, NULL, NULL}};

enum { kStrided, kShared, kSeparate, kSegmented, kSegmentedTogether, kTypes };
enum { kWrite, kRewrite, kRead, kMethods };
static const char* const kTypeNames[kTypes] = {"strided, collective", "ordered, shared pointer",
                                               "a file for each rank", "segments",
                                               "segments, collective"};
static const char* const kMethodNames[kMethods] = {"write", "rewrite", "read"};
enum { kSizes = 5, kOnce = 1 << 18 }; /* strided: so many bytes of memory in one call, or one chunk */

static MPI_File file;
static char *data, *name;
static MPI_Datatype strides;

struct Pattern {
  int type, chunks; /* chunks: in one call */
  long chunk, calls;
};

static long bytes_of_call(const struct Pattern* pattern) { return pattern->chunk * pattern->chunks; }

static void check(int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  lab_fail(text);
}

/* Where this rank's bytes begin if each rank has `calls` calls. */
static MPI_Offset place(const struct Pattern* pattern, long call) {
  const long first = pattern->type == kSeparate ? 0 : lab_rank * pattern->calls;
  return (MPI_Offset)(first + call) * bytes_of_call(pattern);
}

static int write_once(const struct Pattern* pattern, MPI_Offset at, MPI_Status* status) {
  const int bytes = (int)bytes_of_call(pattern);
  if (pattern->type == kStrided) return MPI_File_write_all(file, data, bytes, MPI_BYTE, status);
  if (pattern->type == kShared) return MPI_File_write_ordered(file, data, bytes, MPI_BYTE, status);
  if (pattern->type == kSegmentedTogether)
    return MPI_File_write_at_all(file, at, data, bytes, MPI_BYTE, status);
  return MPI_File_write_at(file, at, data, bytes, MPI_BYTE, status);
}

static int read_once(const struct Pattern* pattern, MPI_Offset at, MPI_Status* status) {
  const int bytes = (int)bytes_of_call(pattern);
  memset(data, 0, (size_t)bytes);
  if (pattern->type == kStrided) return MPI_File_read_all(file, data, bytes, MPI_BYTE, status);
  if (pattern->type == kShared) return MPI_File_read_ordered(file, data, bytes, MPI_BYTE, status);
  if (pattern->type == kSegmentedTogether)
    return MPI_File_read_at_all(file, at, data, bytes, MPI_BYTE, status);
  return MPI_File_read_at(file, at, data, bytes, MPI_BYTE, status);
}

static void access_once(const struct Pattern* pattern, long call, int method) {
  const int bytes = (int)bytes_of_call(pattern);
  MPI_Status status;
  int moved = 0;
  const int code = method == kRead ? read_once(pattern, place(pattern, call), &status)
                                   : write_once(pattern, place(pattern, call), &status);
  check(code);
  MPI_Get_count(&status, MPI_BYTE, &moved);
  const char value = (char)(lab_rank + 1);
  if (moved != bytes || data[0] != value || data[bytes / 2] != value || data[bytes - 1] != value)
    lab_fail("other bytes were read than were written, or fewer");
}

/* A new file: what has its name already, from a run that was killed, say, may be a link of another user's. */
static void open_file(const struct Pattern* pattern) {
  const int own = pattern->type == kSeparate;
  if (own)
    sprintf(name, "%s/beffio.%d.%d", folder, lab_size, lab_rank);
  else
    sprintf(name, "%s/beffio.%d", folder, lab_size);
  if (own || lab_rank == 0) MPI_File_delete(name, MPI_INFO_NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  check(MPI_File_open(own ? MPI_COMM_SELF : MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
}

/* To the begin of what this rank sees. */
static void rewind_file(const struct Pattern* pattern) {
  if (pattern->type == kStrided)
    check(MPI_File_set_view(file, (MPI_Offset)lab_rank * pattern->chunk, MPI_BYTE, strides, "native",
                            MPI_INFO_NULL));
  if (pattern->type == kShared) check(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
}

/* All ranks together; the time of the slowest one. The first writing finds out how many calls fit. */
static double run(struct Pattern* pattern, int method) {
  const long most = most_bytes / bytes_of_call(pattern) > 1 ? most_bytes / bytes_of_call(pattern) : 1;
  long call = 0;
  rewind_file(pattern);
  if (method == kWrite) pattern->calls = most;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int goes_on = 1; goes_on && call < pattern->calls;) {
    access_once(pattern, call++, method);
    if (method == kWrite) { /* rank 0 says when it is time, so that all have the same number */
      goes_on = MPI_Wtime() - begin < seconds;
      MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
  }
  if (method != kRead) check(MPI_File_sync(file));
  double took = MPI_Wtime() - begin, slowest = 0;
  MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (method == kWrite && pattern->calls != call) {
    /* What was written lies where the full number of calls would have it; once more where it belongs. */
    pattern->calls = call;
    rewind_file(pattern);
    for (long again = 0; again < call; ++again) access_once(pattern, again, kRewrite);
  }
  return slowest;
}

static void say(const struct Pattern* pattern, int method, double took) {
  if (lab_rank == 0)
    printf("{\"measure\": \"beffio\", \"pattern\": \"%s\", \"method\": \"%s\", \"ranks\": %d, \"bytes\": %ld, "
           "\"moved\": %.6g, \"seconds\": %.6g}\n",
           kTypeNames[pattern->type], kMethodNames[method], lab_size, pattern->chunk,
           (double)pattern->calls * (double)bytes_of_call(pattern) * lab_size, took);
}

static void measure(int type, long chunk, double* moved, double* took) {
  struct Pattern pattern = {.type = type, .chunks = 1, .chunk = chunk};
  if (type == kStrided && chunk < kOnce) pattern.chunks = (int)(kOnce / chunk);
  if (type == kStrided) {
    MPI_Type_contiguous((int)chunk, MPI_BYTE, &strides);
    MPI_Datatype whole = strides;
    MPI_Type_create_resized(whole, 0, (MPI_Aint)chunk * lab_size, &strides);
    MPI_Type_free(&whole);
    MPI_Type_commit(&strides);
  }
  memset(data, lab_rank + 1, (size_t)bytes_of_call(&pattern));
  open_file(&pattern);
  for (int method = 0; method < kMethods; ++method) {
    const double time = run(&pattern, method);
    say(&pattern, method, time);
    took[method] += time;
    moved[method] += (double)pattern.calls * (double)bytes_of_call(&pattern) * lab_size;
  }
  check(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (type == kSeparate || lab_rank == 0) check(MPI_File_delete(name, MPI_INFO_NULL));
  MPI_Barrier(MPI_COMM_WORLD);
  if (type == kStrided) MPI_Type_free(&strides);
}

int main(int argc, char** argv) {
  lab_start(&argc, &argv, MPI_THREAD_SINGLE, "beffio: the patterns of the effective I/O bandwidth b_eff_io",
            kOptions);
  if (longest <= 32768 || longest > 1L << 27) lab_fail("--longest is more than 32768 and at most 128 MB");
  const long chunks[kSizes] = {1024, 1024 + 8, 32768, 32768 + 8, longest};
  double rates[kMethods] = {0};
  data = lab_buffer((size_t)(longest > kOnce ? longest : kOnce) + 64);
  name = lab_buffer(strlen(folder) + 64);
  for (int type = 0; type < kTypes; ++type) {
    double moved[kMethods] = {0}, took[kMethods] = {0};
    for (int size = 0; size < kSizes; ++size) measure(type, chunks[size], moved, took);
    for (int method = 0; method < kMethods; ++method)
      rates[method] += (type == kStrided ? 2 : 1) * moved[method] / took[method] / (kTypes + 1);
  }
  if (lab_rank == 0)
    printf("{\"measure\": \"beffio\", \"pattern\": \"b_eff_io\", \"ranks\": %d, \"write\": %.6g, \"rewrite\": %.6g, "
           "\"read\": %.6g, \"average\": %.6g}\n",
           lab_size, rates[kWrite], rates[kRewrite], rates[kRead],
           (rates[kWrite] + rates[kRewrite] + 2 * rates[kRead]) / 4);
  fflush(stdout);
  free(data);
  free(name);
  MPI_Finalize();
  return 0;
}
