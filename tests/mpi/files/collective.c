/* Collective access: a 3-D array in blocks, all forms, and ranks that have nothing (MPI-5.0 sections 14.4.2
 * and 14.4.5). */
#include "file.h"

enum { kSide = 24 };

static double value_of(int x, int y, int z, int round) { return round * 1e6 + (x * kSide + y) * kSide + z; }

typedef struct {
  int first[3], count[3];
  MPI_Datatype filetype, memory; /* memory has a layer of ghosts around the block */
  double* data;
  int ghosts[3];
} Block;

static void make_block(Block* b) {
  int dims[3] = {0, 0, 0}, at = test_rank, sizes[3] = {kSide, kSide, kSide}, one[3] = {1, 1, 1};
  MPI_Dims_create(test_size, 3, dims);
  for (int d = 2; d >= 0; --d) {
    const int mine = at % dims[d];
    at /= dims[d];
    b->first[d] = mine * kSide / dims[d];
    b->count[d] = (mine + 1) * kSide / dims[d] - b->first[d];
    b->ghosts[d] = b->count[d] + 2;
  }
  MPI_Type_create_subarray(3, sizes, b->count, b->first, MPI_ORDER_C, MPI_DOUBLE, &b->filetype);
  MPI_Type_commit(&b->filetype);
  MPI_Type_create_subarray(3, b->ghosts, b->count, one, MPI_ORDER_C, MPI_DOUBLE, &b->memory);
  MPI_Type_commit(&b->memory);
  b->data = malloc(sizeof(double) * (size_t)b->ghosts[0] * (size_t)b->ghosts[1] * (size_t)b->ghosts[2]);
}

static double* cell(Block* b, int x, int y, int z) {
  return &b->data[((x - b->first[0] + 1) * b->ghosts[1] + y - b->first[1] + 1) * b->ghosts[2] + z -
                  b->first[2] + 1];
}

static void fill(Block* b, int round) {
  const int n = b->ghosts[0] * b->ghosts[1] * b->ghosts[2];
  for (int i = 0; i < n; ++i) b->data[i] = -1;
  if (round < 0) return;
  for (int x = b->first[0]; x < b->first[0] + b->count[0]; ++x)
    for (int y = b->first[1]; y < b->first[1] + b->count[1]; ++y)
      for (int z = b->first[2]; z < b->first[2] + b->count[2]; ++z)
        *cell(b, x, y, z) = value_of(x, y, z, round);
}

static void check(Block* b, int round) {
  for (int x = b->first[0]; x < b->first[0] + b->count[0]; ++x)
    for (int y = b->first[1]; y < b->first[1] + b->count[1]; ++y)
      for (int z = b->first[2]; z < b->first[2] + b->count[2]; ++z)
        if (*cell(b, x, y, z) != value_of(x, y, z, round))
          CHECK_NEAR(*cell(b, x, y, z), value_of(x, y, z, round), 0);
  CHECK_NEAR(b->data[0], -1, 0); /* a ghost */
}

static void blocks(const char* use) {
  Block b;
  make_block(&b);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", "8192");
  MPI_Info_set(info, "romio_cb_write", use);
  MPI_Info_set(info, "romio_cb_read", use);
  MPI_File file;
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, test_file, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
  MPI_Info_free(&info);
  CHECK_OK(MPI_File_set_view(file, 16, MPI_DOUBLE, b.filetype, "native", MPI_INFO_NULL));
  const long long bytes = (long long)b.count[0] * b.count[1] * b.count[2] * (long long)sizeof(double);
  const MPI_Offset step = bytes / (long long)sizeof(double);
  MPI_Status status;
  MPI_Request request;
  for (int round = 0; round < 6; ++round) {
    fill(&b, round);
    const MPI_Offset at = round * step;
    switch (round) {
      case 0:
        CHECK_OK(MPI_File_write_all(file, b.data, 1, b.memory, &status));
        break;
      case 1:
        CHECK_OK(MPI_File_write_at_all(file, at, b.data, 1, b.memory, &status));
        break;
      case 2:
        CHECK_OK(MPI_File_iwrite_at_all(file, at, b.data, 1, b.memory, &request));
        CHECK_OK(MPI_Wait(&request, &status));
        break;
      case 3:
        CHECK_OK(MPI_File_write_at_all_begin(file, at, b.data, 1, b.memory));
        CHECK_OK(MPI_File_write_at_all_end(file, b.data, &status));
        break;
      case 4:
        CHECK_OK(MPI_File_seek(file, at, MPI_SEEK_SET));
        CHECK_OK(MPI_File_iwrite_all(file, b.data, 1, b.memory, &request));
        CHECK_OK(MPI_Wait(&request, &status));
        break;
      default:
        CHECK_OK(MPI_File_write_all_begin(file, b.data, 1, b.memory));
        CHECK_OK(MPI_File_write_all_end(file, b.data, &status));
    }
    CHECK_EQ(test_bytes(&status), bytes);
  }
  MPI_Offset size = 0;
  CHECK_OK(MPI_File_sync(file));
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, 16 + 6LL * kSide * kSide * kSide * 8);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
  for (int round = 0; round < 6; ++round) {
    fill(&b, -1);
    const MPI_Offset at = round * step;
    switch (round) {
      case 0:
        CHECK_OK(MPI_File_read_all(file, b.data, 1, b.memory, &status));
        break;
      case 1:
        CHECK_OK(MPI_File_read_at_all(file, at, b.data, 1, b.memory, &status));
        break;
      case 2:
        CHECK_OK(MPI_File_iread_at_all(file, at, b.data, 1, b.memory, &request));
        CHECK_OK(MPI_Wait(&request, &status));
        break;
      case 3:
        CHECK_OK(MPI_File_read_at_all_begin(file, at, b.data, 1, b.memory));
        CHECK_OK(MPI_File_read_at_all_end(file, b.data, &status));
        break;
      case 4:
        CHECK_OK(MPI_File_seek(file, at, MPI_SEEK_SET));
        CHECK_OK(MPI_File_iread_all(file, b.data, 1, b.memory, &request));
        CHECK_OK(MPI_Wait(&request, &status));
        break;
      default:
        CHECK_OK(MPI_File_read_all_begin(file, b.data, 1, b.memory));
        CHECK_OK(MPI_File_read_all_end(file, b.data, &status));
    }
    CHECK_EQ(test_bytes(&status), bytes);
    check(&b, round);
  }
  /* Half of it is behind the end of the file. */
  fill(&b, -1);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_read_at_all(file, 6 * step - 1, b.data, 1, b.memory, &status));
  CHECK_EQ(test_bytes(&status), sizeof(double));
  /* The whole file by one rank, nothing by the others. */
  CHECK_OK(MPI_File_set_view(file, 16, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
  double* const whole = malloc(sizeof(double) * kSide * kSide * kSide);
  const int n = test_rank == test_size - 1 ? kSide * kSide * kSide : 0;
  CHECK_OK(MPI_File_read_at_all(file, 5 * kSide * kSide * kSide, whole, n, MPI_DOUBLE, &status));
  CHECK_EQ(test_bytes(&status), n * 8);
  for (int i = 0; i < n; ++i)
    if (whole[i] != 5e6 + i) CHECK_NEAR(whole[i], 5e6 + i, 0);
  free(whole);
  CHECK_OK(MPI_File_close(&file));
  MPI_Type_free(&b.filetype);
  MPI_Type_free(&b.memory);
  free(b.data);
}

/* Many at a time: requests of collective and of other calls in any order. */
static void many_requests(void) {
  enum { kMany = 40, kInts = 1000 };
  MPI_File file = test_open(MPI_MODE_RDWR);
  static int values[kMany][kInts], back[kMany][kInts];
  MPI_Request requests[kMany];
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  for (int k = 0; k < kMany; ++k) {
    for (int i = 0; i < kInts; ++i) values[k][i] = (test_rank * kMany + k) * kInts + i;
    const MPI_Offset at = (MPI_Offset)(k * test_size + test_rank) * kInts;
    if (k % 3 == 0)
      CHECK_OK(MPI_File_iwrite_at_all(file, at, values[k], kInts, MPI_INT, &requests[k]));
    else
      CHECK_OK(MPI_File_iwrite_at(file, at, values[k], kInts, MPI_INT, &requests[k]));
  }
  CHECK_OK(MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE));
  for (int k = 0; k < kMany; ++k)
    CHECK_OK(MPI_File_iread_at(file, (MPI_Offset)(k * test_size + test_rank) * kInts, back[k], kInts, MPI_INT,
                               &requests[k]));
  int done = 0;
  while (!done) CHECK_OK(MPI_Testall(kMany, requests, &done, MPI_STATUSES_IGNORE));
  CHECK(memcmp(values, back, sizeof values) == 0);
  CHECK_OK(MPI_File_close(&file));
}

/* A filetype whose bounds are set by one of its members, so that its extent is shorter than its data: HDF5
 * makes such ones of chunks, and accesses one of them at a time. */
static void short_extent(int atomic) {
  enum { kFar = 4096, kInts = 6 };
  MPI_File file = test_open(MPI_MODE_RDWR | MPI_MODE_CREATE);
  MPI_Datatype five, one, filetype;
  MPI_Type_contiguous(5, MPI_INT, &five);
  MPI_Type_create_resized(MPI_INT, 0, 5 * (MPI_Aint)sizeof(int), &one);
  MPI_Type_create_struct(2, (const int[]){1, 1}, (const MPI_Aint[]){0, kFar},
                         (const MPI_Datatype[]){five, one}, &filetype);
  MPI_Type_commit(&filetype);
  MPI_Aint low, extent, true_low, true_extent;
  MPI_Type_get_extent(filetype, &low, &extent);
  MPI_Type_get_true_extent(filetype, &true_low, &true_extent);
  CHECK(extent < true_extent);

  CHECK_OK(MPI_File_set_atomicity(file, atomic));
  const MPI_Offset mine = 64 * (MPI_Offset)test_rank;
  CHECK_OK(MPI_File_set_view(file, mine, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
  int values[kInts], back[kInts] = {0};
  for (int i = 0; i < kInts; ++i) values[i] = 100 * test_rank + i + atomic;
  MPI_Status status;
  CHECK_OK(MPI_File_write_at_all(file, 0, values, kInts, MPI_INT, &status));
  CHECK_EQ(test_bytes(&status), (long long)sizeof values);
  CHECK_OK(MPI_File_read_at_all(file, 0, back, kInts, MPI_INT, &status));
  CHECK_EQ(test_bytes(&status), (long long)sizeof back);
  CHECK(memcmp(values, back, sizeof values) == 0);

  /* Where the bytes are: five integers, and one far behind. */
  int five_back[5] = {0}, far_back = -1;
  CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_read_at(file, mine, five_back, 5, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_read_at(file, mine + kFar, &far_back, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(memcmp(five_back, values, sizeof five_back) == 0);
  CHECK_EQ(far_back, values[5]);
  MPI_Type_free(&five);
  MPI_Type_free(&one);
  MPI_Type_free(&filetype);
  CHECK_OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  test_begin(&argc, &argv);
  blocks("automatic");
  blocks("enable");
  blocks("disable");
  many_requests();
  short_extent(0);
  short_extent(1);
  return test_end();
}
