/* Non-blocking access goes on while the program computes and calls nothing of MPI: each rank sees its own
   data in the file, by the system's calls, before it waits. Collective access among it: ranks that come at
   different times, on many files, or with windows of different sizes; short blocks of all ranks, collected
   before they are written. And blocking collective access of much data, which is divided among threads: all
   of it arrives, and a read that meets the end of the file says how much it has. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/wait.h>

#include "file.h"

enum { kBytes = 1 << 20, kLong = 9 << 20, kInts = 4000, kFiles = 6 };

/* Until when a rank looks for what appears by itself. It ends as soon as that is there. */
static double give_up(void) { return MPI_Wtime() + 100; }

/* Whether the file gets `bytes` bytes of value `value` at `offset`, while the rank calls nothing of MPI that
 * moves data. */
static int appears(int descriptor, long long offset, long long bytes, char value) {
  char* const found = malloc((size_t)bytes);
  volatile double work = 1;
  int there = 0;
  for (const double end = give_up(); MPI_Wtime() < end && !there;) {
    for (int i = 0; i < 100000; ++i) work = work * 1.0000001 + 1e-9;
    memset(found, ~value, (size_t)bytes);
    there = pread(descriptor, found, (size_t)bytes, offset) == bytes;
    for (long long i = 0; i < bytes && there; ++i) there = found[i] == value;
  }
  free(found);
  return there;
}

static void test_write(int descriptor, int together) {
  MPI_File file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  char* const data = malloc(kBytes);
  const char value = (char)(1 + test_rank + 50 * together);
  const MPI_Offset at = (MPI_Offset)test_rank * kBytes;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  memset(data, value, kBytes);
  if (together)
    CHECK_OK(MPI_File_iwrite_at_all(file, at, data, kBytes, MPI_BYTE, &request));
  else
    CHECK_OK(MPI_File_iwrite_at(file, at, data, kBytes, MPI_BYTE, &request));
  CHECK(appears(descriptor, at, kBytes, value));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_EQ(test_bytes(&status), kBytes);
  CHECK_OK(MPI_File_close(&file));
  free(data);
}

static void test_read(void) {
  MPI_File file = test_open(MPI_MODE_RDONLY);
  char* const data = malloc(kBytes);
  const MPI_Offset at = (MPI_Offset)test_rank * kBytes;
  MPI_Request request = MPI_REQUEST_NULL;
  memset(data, 0, kBytes);
  CHECK_OK(MPI_File_iread_at(file, at, data, kBytes, MPI_BYTE, &request));
  volatile char* const last = data + kBytes - 1;
  volatile double work = 1;
  for (const double end = give_up(); MPI_Wtime() < end && *last == 0;)
    for (int i = 0; i < 100000; ++i) work = work * 1.0000001 + 1e-9;
  CHECK_EQ(*last, 51 + test_rank);
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (int i = 0; i < kBytes; ++i)
    if (data[i] != 51 + test_rank) CHECK_EQ(data[i], 51 + test_rank);
  CHECK_OK(MPI_File_close(&file));
  free(data);
}

static char value_at(long long offset) { return (char)(offset / 4096 * 31 + offset % 251); }

/* Ranks have different lengths, which are no multiples of anything. */
static void test_divided(void) {
  const long long bytes = kLong + 12345LL * test_rank + 7;
  long long begin = 0, end = 3;
  for (int r = 0; r < test_size; ++r, end += kLong + 12345LL * (r - 1) + 7)
    if (r == test_rank) begin = end;
  MPI_File file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  char* const data = malloc((size_t)bytes + 100);
  MPI_Status status;
  for (long long i = 0; i < bytes; ++i) data[i] = value_at(begin + i);
  CHECK_OK(MPI_File_set_view(file, 3, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_write_at_all(file, begin - 3, data, (int)bytes, MPI_BYTE, &status));
  CHECK_EQ(test_bytes(&status), bytes);
  MPI_Offset size = 0;
  CHECK_OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, end);
  /* The last rank asks for 100 bytes more than there are. */
  const int more = test_rank == test_size - 1 ? 100 : 0;
  memset(data, 0, (size_t)bytes + 100);
  CHECK_OK(MPI_File_read_at_all(file, begin - 3, data, (int)bytes + more, MPI_BYTE, &status));
  CHECK_EQ(test_bytes(&status), bytes);
  for (long long i = 0; i < bytes; ++i)
    if (data[i] != value_at(begin + i)) CHECK_EQ(data[i], value_at(begin + i));
  for (int i = 0; i < more; ++i) CHECK_EQ(data[bytes + i], 0);
  /* All of it behind the end. */
  CHECK_OK(MPI_File_read_at_all(file, end, data, (int)bytes, MPI_BYTE, &status));
  CHECK_EQ(test_bytes(&status), 0);
  CHECK_OK(MPI_File_close(&file));
  free(data);
}

/* An access that takes long, while all ranks wait: it waits for the lock of a process that is none of the
   job's. That is no deadlock. */
static void test_long_wait(void) {
  MPI_File file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Request request;
  char byte = 1;
  int ready[2];
  CHECK_OK(MPI_File_set_atomicity(file, 1));
  if (test_rank == 0) {
    CHECK_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
      struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
      const int own = open(test_file, O_RDWR);
      if (fcntl(own, F_OFD_SETLK, &all) == 0 && write(ready[1], "x", 1) == 1) usleep(1500000);
      _exit(0);
    }
    CHECK_EQ(read(ready[0], &byte, 1), 1);
    CHECK_OK(MPI_File_iwrite_at(file, 0, &byte, 1, MPI_BYTE, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_close(&file));
}

/* How often this process has written anything so far; -1: the system does not tell. */
static long long count_writes(void) {
  long long writes = -1;
  char line[100];
  FILE* const told = fopen("/proc/self/io", "r");
  if (told == NULL) return -1;
  while (fgets(line, sizeof line, told) != NULL)
    if (sscanf(line, "syscw: %lld", &writes) == 1) break;
  fclose(told);
  return writes;
}

static int element(int rank, int i) { return (i * 64 + rank) * 7 + 3; }

/* Integers of all ranks in turn: far fewer calls of the system than there are integers, wherever the ranks
   are. */
static void test_interleaved(int split) {
  MPI_File file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype filetype;
  MPI_Request request;
  MPI_Status status;
  int* const data = malloc(kInts * sizeof(int));
  for (int i = 0; i < kInts; ++i) data[i] = element(test_rank, i) + split;
  MPI_Type_create_resized(MPI_INT, 0, test_size * (MPI_Aint)sizeof(int), &filetype);
  MPI_Type_commit(&filetype);
  CHECK_OK(MPI_File_set_size(file, 0));
  CHECK_OK(MPI_File_set_view(file, test_rank * (MPI_Offset)sizeof(int), MPI_INT, filetype, "native",
                             MPI_INFO_NULL));
  const long long before = count_writes();
  if (split) {
    CHECK_OK(MPI_File_write_all_begin(file, data, kInts, MPI_INT));
    CHECK_OK(MPI_File_write_all_end(file, data, &status));
  } else {
    CHECK_OK(MPI_File_iwrite_all(file, data, kInts, MPI_INT, &request));
    CHECK_OK(MPI_Wait(&request, &status));
  }
  const long long writes = count_writes() - before;
  CHECK_EQ(test_bytes(&status), kInts * sizeof(int));
  if (before >= 0 && writes > kInts / 4) CHECK_FAILED("%lld writes for %d integers", writes, kInts);
  CHECK_OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  memset(data, 0, kInts * sizeof(int));
  CHECK_OK(MPI_File_iread_at_all(file, 0, data, kInts, MPI_INT, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_EQ(test_bytes(&status), kInts * sizeof(int));
  for (int i = 0; i < kInts; ++i)
    if (data[i] != element(test_rank, i) + split) CHECK_EQ(data[i], element(test_rank, i) + split);
  /* What the next rank has written, by nobody's view. */
  const int next = (test_rank + 1) % test_size;
  int found = 0;
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_read_at(file, (kInts - 1) * test_size + next, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQ(found, element(next, kInts - 1) + split);
  MPI_Type_free(&filetype);
  CHECK_OK(MPI_File_close(&file));
  free(data);
}

/* Each rank begins when the one before has begun: no call waits for another rank. Blocking calls, and
   independent ones that end meanwhile, come in between. */
static void test_one_after_the_other(void) {
  static int values[2][kFiles][100], back[100];
  MPI_File files[kFiles];
  MPI_Request requests[2][kFiles];
  for (int f = 0; f < kFiles; ++f) files[f] = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (int f = 0; f < kFiles; ++f)
    for (int i = 0; i < 100; ++i)
      for (int turn = 0; turn < 2; ++turn) values[turn][f][i] = element(test_rank, 2 * (f * 100 + i) + turn);
  const MPI_Offset step = 400 * (MPI_Offset)test_size, mine = 400 * (MPI_Offset)test_rank;
  if (test_rank > 0) MPI_Recv(NULL, 0, MPI_INT, test_rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int turn = 0; turn < 2; ++turn)
    for (int f = 0; f < kFiles; ++f)
      CHECK_OK(MPI_File_iwrite_at_all(files[f], (2 * f + turn) * step + mine, values[turn][f], 100, MPI_INT,
                                      &requests[turn][f]));
  MPI_Request alone;
  CHECK_OK(MPI_File_iwrite_at(files[0], 2 * kFiles * step + mine, values[0][0], 100, MPI_INT, &alone));
  CHECK_OK(MPI_Wait(&alone, MPI_STATUS_IGNORE));
  if (test_rank + 1 < test_size) MPI_Send(NULL, 0, MPI_INT, test_rank + 1, 0, MPI_COMM_WORLD);
  CHECK_OK(MPI_File_write_at_all(files[1], (2 * kFiles + 1) * step + mine, values[1][1], 100, MPI_INT,
                                 MPI_STATUS_IGNORE));
  for (int f = kFiles - 1; f >= 0; --f)
    for (int turn = 1; turn >= 0; --turn) CHECK_OK(MPI_Wait(&requests[turn][f], MPI_STATUS_IGNORE));
  for (int n = 0; n < 2 * kFiles + 2; ++n) {
    const int* const wanted = n < 2 * kFiles ? values[n % 2][n / 2] : values[n % 2][n % 2];
    CHECK_OK(MPI_File_read_at(files[0], n * step + mine, back, 100, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(memcmp(back, wanted, sizeof back) == 0);
  }
  /* A request that is freed: the file is closed when its access is over. */
  CHECK_OK(MPI_File_iwrite_at_all(files[2], mine, values[0][0], 100, MPI_INT, &requests[0][0]));
  CHECK_OK(MPI_Request_free(&requests[0][0]));
  for (int f = 0; f < kFiles; ++f) CHECK_OK(MPI_File_close(&files[f]));
}

/* Accesses that are under way at the same time, with windows of different sizes. */
static void test_other_buffer_sizes(void) {
  enum { kRounds = 4, kAtOnce = 6, kBlock = 64 };
  const int blocks = 131072 / test_size, mine = kBlock * blocks;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", "enable");
  MPI_Datatype filetype;
  MPI_Type_vector(blocks, kBlock, kBlock * test_size, MPI_BYTE, &filetype);
  MPI_Type_commit(&filetype);
  MPI_File file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  char *const data[2] = {malloc((size_t)mine), malloc((size_t)mine)}, *const back = malloc((size_t)mine);
  for (int turn = 0; turn < 2; ++turn) memset(data[turn], 1 + 2 * test_rank + turn, (size_t)mine);
  const MPI_Offset step = (MPI_Offset)mine * test_size;
  for (int round = 0; round < kRounds; ++round) {
    MPI_Request requests[kAtOnce];
    for (int k = 0; k < kAtOnce; ++k) {
      MPI_Info_set(info, "cb_buffer_size", k % 2 ? "1048576" : "262144");
      CHECK_OK(MPI_File_set_info(file, info));
      CHECK_OK(MPI_File_set_view(file, k * step + kBlock * test_rank, MPI_BYTE, filetype, "native",
                                 MPI_INFO_NULL));
      CHECK_OK(MPI_File_iwrite_all(file, data[k % 2], mine, MPI_BYTE, &requests[k]));
    }
    CHECK_OK(MPI_Waitall(kAtOnce, requests, MPI_STATUSES_IGNORE));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int k = 0; k < kAtOnce; ++k) {
    CHECK_OK(
        MPI_File_set_view(file, k * step + kBlock * test_rank, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_read_all(file, back, mine, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(back, data[k % 2], (size_t)mine) == 0);
  }
  CHECK_OK(MPI_File_close(&file));
  MPI_Type_free(&filetype);
  MPI_Info_free(&info);
  free(data[0]), free(data[1]), free(back);
}

int main(int argc, char** argv) {
  test_begin(&argc, &argv);
  MPI_File file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File_close(&file);
  const int descriptor = open(test_file, O_RDONLY);
  CHECK(descriptor >= 0);
  test_write(descriptor, 0);
  test_write(descriptor, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  test_read();
  test_divided();
  test_interleaved(0);
  test_interleaved(1);
  test_one_after_the_other();
  test_other_buffer_sizes();
  test_long_wait();
  close(descriptor);
  return test_end();
}
