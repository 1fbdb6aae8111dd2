/* The forms with large counts (MPI_X_c) of all ways to access a file: what one writes, another one reads. */
#include "file.h"

enum { kInts = 5 };
static MPI_File file;
static int data[kInts], back[kInts];
static MPI_Offset mine; /* in ints; the view's etype is MPI_INT */

/* The rank's ints for this step, and none to read. */
static void next(int step) {
  for (int i = 0; i < kInts; ++i) {
    data[i] = step * 10000 + test_rank * 100 + i;
    back[i] = -1;
  }
}

static void all_there(void) {
  for (int i = 0; i < kInts; ++i) CHECK_EQ(back[i], data[i]);
}

static void to_my_place(void) { CHECK_OK(MPI_File_seek(file, mine, MPI_SEEK_SET)); }

/* After all ranks have written, and before any reads. */
static void written(void) {
  CHECK_OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
}

static void done(MPI_Request* request) {
  MPI_Status status;
  CHECK_OK(MPI_Wait(request, &status));
  CHECK_EQ(test_bytes(&status), sizeof data);
}

static void moved(const MPI_Status* status) { CHECK_EQ(test_bytes(status), sizeof data); }

static void explicit_offsets(void) {
  MPI_Status status;
  MPI_Request request;
  next(1);
  CHECK_OK(MPI_File_write_at_c(file, mine, data, kInts, MPI_INT, &status));
  moved(&status);
  written();
  CHECK_OK(MPI_File_iread_at_c(file, mine, back, kInts, MPI_INT, &request));
  done(&request);
  all_there();

  next(2);
  CHECK_OK(MPI_File_iwrite_at_c(file, mine, data, kInts, MPI_INT, &request));
  done(&request);
  written();
  CHECK_OK(MPI_File_iread_at_all_c(file, mine, back, kInts, MPI_INT, &request));
  done(&request);
  all_there();

  next(3);
  CHECK_OK(MPI_File_iwrite_at_all_c(file, mine, data, kInts, MPI_INT, &request));
  done(&request);
  written();
  CHECK_OK(MPI_File_read_at_all_begin_c(file, mine, back, kInts, MPI_INT));
  CHECK_OK(MPI_File_read_at_all_end(file, back, &status));
  moved(&status);
  all_there();

  next(4);
  CHECK_OK(MPI_File_write_at_all_begin_c(file, mine, data, kInts, MPI_INT));
  CHECK_OK(MPI_File_write_at_all_end(file, data, &status));
  written();
  CHECK_OK(MPI_File_read_at_all_c(file, mine, back, kInts, MPI_INT, &status));
  moved(&status);
  all_there();

  next(14);
  CHECK_OK(MPI_File_write_at_all_c(file, mine, data, kInts, MPI_INT, &status));
  moved(&status);
  written();
  CHECK_OK(MPI_File_read_at_c(file, mine, back, kInts, MPI_INT, &status));
  all_there();
}

static void individual_pointers(void) {
  MPI_Status status;
  MPI_Request request;
  next(5);
  to_my_place();
  CHECK_OK(MPI_File_write_c(file, data, kInts, MPI_INT, &status));
  written();
  to_my_place();
  CHECK_OK(MPI_File_iread_c(file, back, kInts, MPI_INT, &request));
  done(&request);
  all_there();

  next(6);
  to_my_place();
  CHECK_OK(MPI_File_iwrite_c(file, data, kInts, MPI_INT, &request));
  done(&request);
  written();
  to_my_place();
  CHECK_OK(MPI_File_read_c(file, back, kInts, MPI_INT, &status));
  moved(&status);
  all_there();

  next(7);
  to_my_place();
  CHECK_OK(MPI_File_write_all_c(file, data, kInts, MPI_INT, &status));
  written();
  to_my_place();
  CHECK_OK(MPI_File_iread_all_c(file, back, kInts, MPI_INT, &request));
  done(&request);
  all_there();

  next(8);
  to_my_place();
  CHECK_OK(MPI_File_iwrite_all_c(file, data, kInts, MPI_INT, &request));
  done(&request);
  written();
  to_my_place();
  CHECK_OK(MPI_File_read_all_begin_c(file, back, kInts, MPI_INT));
  CHECK_OK(MPI_File_read_all_end(file, back, &status));
  moved(&status);
  all_there();

  next(9);
  to_my_place();
  CHECK_OK(MPI_File_write_all_begin_c(file, data, kInts, MPI_INT));
  CHECK_OK(MPI_File_write_all_end(file, data, &status));
  written();
  to_my_place();
  CHECK_OK(MPI_File_read_all_c(file, back, kInts, MPI_INT, &status));
  moved(&status);
  all_there();
}

static void to_the_begin(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
}

static void in_order(void) {
  MPI_Status status;
  next(10);
  to_the_begin();
  CHECK_OK(MPI_File_write_ordered_c(file, data, kInts, MPI_INT, &status));
  moved(&status);
  written();
  to_the_begin();
  CHECK_OK(MPI_File_read_ordered_begin_c(file, back, kInts, MPI_INT));
  CHECK_OK(MPI_File_read_ordered_end(file, back, &status));
  moved(&status);
  all_there();

  next(11);
  to_the_begin();
  CHECK_OK(MPI_File_write_ordered_begin_c(file, data, kInts, MPI_INT));
  CHECK_OK(MPI_File_write_ordered_end(file, data, &status));
  written();
  to_the_begin();
  CHECK_OK(MPI_File_read_ordered_c(file, back, kInts, MPI_INT, &status));
  moved(&status);
  all_there();
}

/* What a rank reads by the shared pointer is some rank's: all of them together read each once. */
static void sum_is_right(void) {
  long long sums[2] = {0, 0}, all[2];
  for (int i = 0; i < kInts; ++i) sums[0] += data[i], sums[1] += back[i];
  MPI_Allreduce(sums, all, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQ(all[1], all[0]);
}

static void shared_pointers(void) {
  MPI_Status status;
  MPI_Request request;
  next(12);
  to_the_begin();
  CHECK_OK(MPI_File_write_shared_c(file, data, kInts, MPI_INT, &status));
  moved(&status);
  written();
  to_the_begin();
  CHECK_OK(MPI_File_iread_shared_c(file, back, kInts, MPI_INT, &request));
  done(&request);
  sum_is_right();

  next(13);
  to_the_begin();
  CHECK_OK(MPI_File_iwrite_shared_c(file, data, kInts, MPI_INT, &request));
  done(&request);
  written();
  to_the_begin();
  CHECK_OK(MPI_File_read_shared_c(file, back, kInts, MPI_INT, &status));
  moved(&status);
  sum_is_right();
}

int main(int argc, char** argv) {
  test_begin(&argc, &argv);
  file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  mine = (MPI_Offset)test_rank * kInts;
  explicit_offsets();
  individual_pointers();
  in_order();
  shared_pointers();
  CHECK_OK(MPI_File_close(&file));
  return test_end();
}
