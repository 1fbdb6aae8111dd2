/* Non-blocking access goes on while the program computes and calls nothing of MPI: each rank sees its own
   data in the file, by the system's calls, before it waits. And blocking collective access of much data,
   which is divided among threads: all of it arrives, and a read that meets the end of the file says how much
   it has. */
#include <fcntl.h>

#include "file.h"

enum { kBytes = 1 << 20, kLong = 9 << 20 };

/* Whether the file has `bytes` bytes of value `value` at `offset`, soon; without MPI. */
static int appears(int descriptor, long long offset, long long bytes, char value) {
  char* const found = malloc((size_t)bytes);
  volatile double work = 1;
  int there = 0;
  for (int look = 0; look < 3000 && !there; ++look) {
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
  for (int look = 0; look < 3000 && *last == 0; ++look)
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
  close(descriptor);
  return test_end();
}
