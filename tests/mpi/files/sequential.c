/* MPI_MODE_SEQUENTIAL on a file without places, as a pipe: data goes there in the order of the calls (MPI-5.0
   section 14.2.1). Another process has the other end. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "file.h"

enum { kInts = 3000, kBlock = 1100 };

static int value_of(int i) { return 7 * i + 3; }

/* A process that reads integers from the pipe to its end. Its exit code is 0 if these are value_of(0) to
   value_of(n - 1), and n is one of two numbers. */
static pid_t start_reader(int n, int or_n) {
  const pid_t child = fork();
  if (child != 0) return child;
  const int end = open(test_file, O_RDONLY);
  int found = 0, right = end >= 0, value = 0;
  while (read(end, &value, sizeof value) == (ssize_t)sizeof value)
    right = right && value == value_of(found++);
  _exit(right && (found == n || found == or_n) ? 0 : 1);
}

static void end_child(pid_t child) {
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
}

/* Integers beside each other, and in long and in short blocks. */
static void write_alone(void) {
  static int data[2 * kInts];
  const pid_t child = start_reader(kInts, kInts);
  MPI_File file;
  MPI_Datatype spread, gaps;
  MPI_Status status;
  MPI_Request request;
  CHECK_OK(
      MPI_File_open(MPI_COMM_SELF, test_file, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &file));
  MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  CHECK_CLASS(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, gaps, "native", MPI_INFO_NULL),
              MPI_ERR_UNSUPPORTED_OPERATION);
  MPI_Type_free(&gaps);
  int at = 0;
  for (int i = 0; i < 10; ++i) data[i] = value_of(at + i);
  CHECK_OK(MPI_File_write_shared(file, data, 10, MPI_INT, &status));
  CHECK_EQ(test_bytes(&status), 10 * sizeof(int));
  at += 10;
  MPI_Type_vector(2, kBlock, kBlock + 5, MPI_INT, &spread);
  MPI_Type_commit(&spread);
  for (int i = 0; i < 2 * kBlock; ++i) data[i + i / kBlock * 5] = value_of(at + i);
  CHECK_OK(MPI_File_iwrite_shared(file, data, 1, spread, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_EQ(test_bytes(&status), 2 * kBlock * sizeof(int));
  at += 2 * kBlock;
  MPI_Type_free(&spread);
  const int rest = kInts - at;
  MPI_Type_vector(rest, 1, 2, MPI_INT, &spread);
  MPI_Type_commit(&spread);
  for (int i = 0; i < rest; ++i) data[2 * i] = value_of(at + i);
  CHECK_OK(MPI_File_write_ordered(file, data, 1, spread, &status));
  CHECK_EQ(test_bytes(&status), rest * sizeof(int));
  MPI_Type_free(&spread);
  CHECK_OK(MPI_File_close(&file));
  end_child(child);
}

static void read_alone(void) {
  static int data[kInts];
  const pid_t child = fork();
  if (child == 0) {
    const int end = open(test_file, O_WRONLY);
    int written = 0;
    for (int i = 0; i < kInts; ++i) {
      const int value = value_of(i);
      written += write(end, &value, sizeof value) == (ssize_t)sizeof value;
    }
    _exit(written == kInts ? 0 : 1);
  }
  MPI_File file;
  MPI_Status status;
  CHECK_OK(
      MPI_File_open(MPI_COMM_SELF, test_file, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &file));
  CHECK_OK(MPI_File_read_shared(file, data, kInts / 3 * 2, MPI_INT, &status));
  CHECK_EQ(test_bytes(&status), kInts / 3 * 2 * (long long)sizeof(int));
  for (int i = 0; i < kInts / 3 * 2; ++i) CHECK_EQ(data[i], value_of(i));
  CHECK_OK(MPI_File_read_shared(file, data, kInts / 3 * 2, MPI_INT, &status));
  CHECK_EQ(test_bytes(&status), kInts / 3 * (long long)sizeof(int));
  CHECK_EQ(data[0], value_of(kInts / 3 * 2));
  CHECK_OK(MPI_File_close(&file));
  end_child(child);
}

/* All ranks in their order, where they are in one process; others are told that it does not go. */
static int are_in_one_process(void) {
  const int own = (int)getpid();
  int least, most;
  MPI_Allreduce(&own, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&own, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return least == most;
}

static void write_in_order(void) {
  const int has_to_work = are_in_one_process();
  int data[100];
  const pid_t child = test_rank == 0 ? start_reader(200 * test_size, 0) : 0;
  MPI_File file = test_open(MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < 100; ++i) data[i] = value_of((turn * test_size + test_rank) * 100 + i);
    const int code = MPI_File_write_ordered(file, data, 100, MPI_INT, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) CHECK_CLASS(code, MPI_ERR_UNSUPPORTED_OPERATION);
    if (code != MPI_SUCCESS) CHECK(!has_to_work);
  }
  CHECK_OK(MPI_File_close(&file));
  if (test_rank == 0) end_child(child);
}

int main(int argc, char** argv) {
  test_begin(&argc, &argv);
  if (test_rank == 0) {
    CHECK_EQ(mkfifo(test_file, 0600), 0);
    write_alone();
    read_alone();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  write_in_order();
  return test_end();
}
