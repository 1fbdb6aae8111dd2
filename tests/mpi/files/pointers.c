/* Individual and shared pointers, seeking, ordered access (MPI-5.0 sections 14.4.3 and 14.4.4). */
#include <sys/stat.h>

#include "file.h"

static void individual(void) {
  MPI_File file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Offset at = -1, byte = -1;
  MPI_Datatype filetype, pairs;
  /* Each rank has two ints in turn. */
  MPI_Type_contiguous(2, MPI_INT, &pairs);
  MPI_Type_create_resized(pairs, 0, 2 * test_size * (MPI_Aint)sizeof(int), &filetype);
  MPI_Type_commit(&filetype);
  CHECK_OK(MPI_File_set_view(file, 4 + test_rank * 8, MPI_INT, filetype, "native", MPI_INFO_NULL));
  int values[6];
  for (int i = 0; i < 6; ++i) values[i] = test_rank * 10 + i;
  CHECK_OK(MPI_File_write(file, values, 3, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_get_position(file, &at));
  CHECK_EQ(at, 3);
  MPI_Request request;
  CHECK_OK(MPI_File_iwrite(file, values + 3, 3, MPI_INT, &request));
  CHECK_OK(MPI_File_get_position(file, &at));
  CHECK_EQ(at, 6);
  MPI_Status status;
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_EQ(test_bytes(&status), 12);
  CHECK_OK(MPI_File_get_byte_offset(file, 5, &byte));
  CHECK_EQ(byte, 4 + test_rank * 8 + 2 * 8 * test_size + 4);
  CHECK_OK(MPI_File_get_byte_offset(file, 0, &byte));
  CHECK_EQ(byte, 4 + test_rank * 8);
  CHECK_OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);

  CHECK_OK(MPI_File_seek(file, -4, MPI_SEEK_CUR));
  int back[6] = {0};
  CHECK_OK(MPI_File_read(file, back, 2, MPI_INT, &status));
  CHECK_EQ(back[0], values[2]);
  CHECK_EQ(back[1], values[3]);
  CHECK_OK(MPI_File_iread(file, back, 2, MPI_INT, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_EQ(back[1], values[5]);
  CHECK_OK(MPI_File_seek(file, 0, MPI_SEEK_END));
  CHECK_OK(MPI_File_get_position(file, &at));
  CHECK_EQ(at, 6);
  CHECK_OK(MPI_File_seek(file, -1, MPI_SEEK_END));
  CHECK_OK(MPI_File_read(file, back, 6, MPI_INT, &status));
  CHECK_EQ(test_bytes(&status), 4);
  CHECK_EQ(back[0], values[5]);
  CHECK_CLASS(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_seek(file, 0, 12345), MPI_ERR_ARG);

  MPI_Offset displacement = -1;
  MPI_Datatype etype, same;
  char representation[MPI_MAX_DATAREP_STRING];
  CHECK_OK(MPI_File_get_view(file, &displacement, &etype, &same, representation));
  CHECK_EQ(displacement, 4 + test_rank * 8);
  CHECK(etype == MPI_INT);
  CHECK_STR(representation, "native");
  MPI_Aint lb, extent;
  MPI_Type_get_extent(same, &lb, &extent);
  CHECK_EQ(extent, 8 * test_size);
  MPI_Type_free(&same);
  MPI_Type_free(&pairs);
  MPI_Type_free(&filetype);
  CHECK_OK(MPI_File_close(&file));
}

/* All values of `n` ints, each once. */
static void check_once(MPI_File file, int n) {
  int* const values = malloc((size_t)n * sizeof(int));
  int* const seen = calloc((size_t)n, sizeof(int));
  CHECK_OK(MPI_File_read_at(file, 0, values, n, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 0; i < n; ++i) {
    CHECK(values[i] >= 0 && values[i] < n);
    if (values[i] >= 0 && values[i] < n) CHECK_EQ(seen[values[i]]++, 0);
  }
  free(values);
  free(seen);
}

static void shared(void) {
  enum { kEach = 50 };
  MPI_File file = test_open(MPI_MODE_RDWR);
  CHECK_OK(MPI_File_set_size(file, 0));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  int values[kEach];
  MPI_Request requests[kEach];
  for (int i = 0; i < kEach; ++i) {
    values[i] = test_rank * kEach + i;
    if (i % 2 == 0)
      CHECK_OK(MPI_File_write_shared(file, &values[i], 1, MPI_INT, MPI_STATUS_IGNORE));
    else
      CHECK_OK(MPI_File_iwrite_shared(file, &values[i], 1, MPI_INT, &requests[i / 2]));
  }
  CHECK_OK(MPI_Waitall(kEach / 2, requests, MPI_STATUSES_IGNORE));
  CHECK_OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  check_once(file, kEach * test_size);
  MPI_Offset at = -1;
  CHECK_OK(MPI_File_get_position_shared(file, &at));
  CHECK_EQ(at, kEach * test_size);
  MPI_Barrier(MPI_COMM_WORLD);

  /* Each value is read by one rank. */
  CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  long long sum = 0, all = 0;
  for (int i = 0; i < kEach; ++i) {
    int value = -1;
    if (i % 2 == 0) {
      CHECK_OK(MPI_File_read_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    } else {
      MPI_Request request;
      CHECK_OK(MPI_File_iread_shared(file, &value, 1, MPI_INT, &request));
      CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    sum += value;
  }
  MPI_Allreduce(&sum, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  const long long n = (long long)kEach * test_size;
  CHECK_EQ(all, n * (n - 1) / 2);
  CHECK_OK(MPI_File_close(&file));
}

/* Wherever the shared pointer is kept, its rank's program is not needed: rank 0 calls no MPI until the others
   have written all their values. */
static void without_rank_0(void) {
  enum { kEach = 20 };
  const double kPatience = 100;
  MPI_File file = test_open(MPI_MODE_RDWR);
  CHECK_OK(MPI_File_set_size(file, 0));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  MPI_Barrier(MPI_COMM_WORLD);
  const int n = kEach * (test_size - 1);
  if (test_rank == 0) {
    struct stat about = {0};
    const double begin = MPI_Wtime();
    while (stat(test_file, &about) == 0 && about.st_size < n * (long)sizeof(int) &&
           MPI_Wtime() - begin < kPatience) {
    }
    CHECK(about.st_size == n * (long)sizeof(int));
  } else {
    for (int i = 0; i < kEach; ++i) {
      const int value = (test_rank - 1) * kEach + i;
      CHECK_OK(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  check_once(file, n);
  CHECK_OK(MPI_File_close(&file));
}

static void ordered(void) {
  MPI_File file = test_open(MPI_MODE_RDWR);
  CHECK_OK(MPI_File_set_size(file, 0));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  /* Rank r writes r + 1 values. */
  int values[64], back[64];
  const int mine = test_rank + 1, total = test_size * (test_size + 1) / 2,
            before = test_rank * (test_rank + 1) / 2;
  MPI_Status status;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < mine; ++i) values[i] = round * 1000 + before + i;
    if (round % 2 == 0) {
      CHECK_OK(MPI_File_write_ordered(file, values, mine, MPI_INT, &status));
    } else {
      CHECK_OK(MPI_File_write_ordered_begin(file, values, mine, MPI_INT));
      CHECK_OK(MPI_File_write_ordered_end(file, values, &status));
    }
    CHECK_EQ(test_bytes(&status), mine * 4);
  }
  MPI_Offset at = -1;
  CHECK_OK(MPI_File_get_position_shared(file, &at));
  CHECK_EQ(at, 4 * total);
  CHECK_OK(MPI_File_sync(file));
  for (int round = 0; round < 4; ++round)
    for (int i = 0; i < total; ++i) {
      int value = -1;
      CHECK_OK(MPI_File_read_at(file, round * total + i, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
      CHECK_EQ(value, round * 1000 + i);
    }
  CHECK_OK(MPI_File_seek_shared(file, -2 * total, MPI_SEEK_END));
  CHECK_OK(MPI_File_get_position_shared(file, &at));
  CHECK_EQ(at, 2 * total);
  CHECK_OK(MPI_File_read_ordered(file, back, mine, MPI_INT, &status));
  for (int i = 0; i < mine; ++i) CHECK_EQ(back[i], 2000 + before + i);
  CHECK_OK(MPI_File_read_ordered_begin(file, back, mine, MPI_INT));
  CHECK_OK(MPI_File_read_ordered_end(file, back, &status));
  for (int i = 0; i < mine; ++i) CHECK_EQ(back[i], 3000 + before + i);
  CHECK_OK(MPI_File_seek_shared(file, 1, MPI_SEEK_CUR));
  CHECK_OK(MPI_File_get_position_shared(file, &at));
  CHECK_EQ(at, 4 * total + 1);
  CHECK_CLASS(MPI_File_seek_shared(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
  CHECK_OK(MPI_File_close(&file));
}

static void appended(void) {
  MPI_File file = test_open(MPI_MODE_RDWR);
  CHECK_OK(MPI_File_set_size(file, 100));
  CHECK_OK(MPI_File_close(&file));
  file = test_open(MPI_MODE_RDWR | MPI_MODE_APPEND);
  MPI_Offset at = -1;
  CHECK_OK(MPI_File_get_position(file, &at));
  CHECK_EQ(at, 100);
  CHECK_OK(MPI_File_get_position_shared(file, &at));
  CHECK_EQ(at, 100);
  MPI_Barrier(MPI_COMM_WORLD);
  char byte = 'x';
  CHECK_OK(MPI_File_write_ordered(file, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_get_size(file, &at));
  CHECK_EQ(at, 100 + test_size);
  CHECK_OK(MPI_File_close(&file));
}

static void sequential(void) {
  MPI_File file = test_open(MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  CHECK_CLASS(MPI_File_write(file, &test_rank, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_CLASS(MPI_File_write_at(file, 0, &test_rank, 1, MPI_INT, MPI_STATUS_IGNORE),
              MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_CLASS(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
  MPI_Offset at;
  CHECK_CLASS(MPI_File_get_position(file, &at), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_OK(MPI_File_write_ordered(file, &test_rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_write_shared(file, &test_rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  test_begin(&argc, &argv);
  individual();
  shared();
  without_rank_0();
  ordered();
  appended();
  sequential();
  return test_end();
}
