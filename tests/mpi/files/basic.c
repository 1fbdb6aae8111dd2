/* Opening, explicit offsets, sizes, hints, closing (MPI-5.0 sections 14.2 and 14.4.2). */
#include "file.h"

static void write_and_read(void) {
  MPI_File file = test_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
  int values[100], back[100];
  for (int i = 0; i < 100; ++i) values[i] = test_rank * 1000 + i;
  MPI_Status status;
  const MPI_Offset mine = (MPI_Offset)test_rank * sizeof values;
  CHECK_OK(MPI_File_write_at(file, mine, values, 100, MPI_INT, &status));
  CHECK_EQ(test_bytes(&status), sizeof values);
  CHECK_OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  const int other = (test_rank + 1) % test_size;
  CHECK_OK(MPI_File_read_at(file, (MPI_Offset)other * sizeof values, back, 100, MPI_INT, &status));
  CHECK_EQ(test_bytes(&status), sizeof values);
  for (int i = 0; i < 100; ++i) CHECK_EQ(back[i], other * 1000 + i);

  /* The end of the file cuts a read. */
  MPI_Offset size = 0;
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, test_size * (long long)sizeof values);
  CHECK_OK(MPI_File_read_at(file, size - 12, back, 100, MPI_INT, &status));
  int count = -1;
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQ(count, 3);
  CHECK_OK(MPI_File_read_at(file, size + 100, back, 100, MPI_INT, &status));
  CHECK_EQ(test_bytes(&status), 0);
  /* Nothing is a count, too. */
  CHECK_OK(MPI_File_write_at(file, 0, NULL, 0, MPI_INT, MPI_STATUS_IGNORE));

  CHECK_OK(MPI_File_close(&file));
  CHECK(file == MPI_FILE_NULL);
}

static void scattered_memory(void) {
  MPI_File file = test_open(MPI_MODE_RDWR);
  /* Short and long blocks in memory, dense in the file. */
  for (int length = 1; length <= 2048; length *= 2048) {
    enum { kBlocks = 300 };
    MPI_Datatype type;
    MPI_Type_vector(kBlocks, length, length + 3, MPI_INT, &type);
    MPI_Type_commit(&type);
    const size_t ints = (size_t)kBlocks * (size_t)(length + 3);
    int* const from = malloc(ints * sizeof(int));
    int* const to = malloc(ints * sizeof(int));
    for (size_t i = 0; i < ints; ++i) {
      from[i] = (int)i + test_rank;
      to[i] = -1;
    }
    const MPI_Offset at = (MPI_Offset)test_rank * kBlocks * length * (MPI_Offset)sizeof(int);
    MPI_Status status;
    CHECK_OK(MPI_File_write_at(file, at, from, 1, type, &status));
    CHECK_EQ(test_bytes(&status), kBlocks * length * (long long)sizeof(int));
    CHECK_OK(MPI_File_read_at_c(file, at, to, 1, type, &status));
    for (size_t i = 0; i < ints; ++i)
      CHECK_EQ(to[i], (int)(i % (size_t)(length + 3)) < length ? from[i] : -1);
    free(from);
    free(to);
    MPI_Type_free(&type);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  CHECK_OK(MPI_File_close(&file));
}

static void sizes(void) {
  MPI_File file = test_open(MPI_MODE_RDWR);
  MPI_Offset size = -1;
  CHECK_OK(MPI_File_set_size(file, 10));
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, 10);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_preallocate(file, 4));
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, 10);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_preallocate(file, 5000));
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, 5000);
  CHECK_CLASS(MPI_File_set_size(file, -1), MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_preallocate(file, -1), MPI_ERR_ARG);
  if (test_size > 1) CHECK_CLASS(MPI_File_set_size(file, test_rank), MPI_ERR_NOT_SAME);
  CHECK_OK(MPI_File_close(&file));
}

static void inquiries(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_nodes", "3");
  MPI_Info_set(info, "cb_buffer_size", "65536");
  MPI_Info_set(info, "striping_factor", "7");
  MPI_Info_set(info, "no_such_hint", "7");
  MPI_File file;
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, test_file, MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN, info, &file));
  MPI_Info_free(&info);
  int amode = 0, flag = 0;
  CHECK_OK(MPI_File_get_amode(file, &amode));
  CHECK_EQ(amode, MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN);
  MPI_Group group, world;
  CHECK_OK(MPI_File_get_group(file, &group));
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int same = MPI_UNEQUAL;
  MPI_Group_compare(group, world, &same);
  CHECK_EQ(same, MPI_IDENT);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  char value[100];
  CHECK_OK(MPI_File_get_info(file, &info));
  MPI_Info_get(info, "cb_nodes", 99, value, &flag);
  CHECK(flag);
  CHECK_STR(value, "3");
  MPI_Info_get(info, "cb_buffer_size", 99, value, &flag);
  CHECK_STR(value, "65536");
  MPI_Info_get(info, "striping_factor", 99, value, &flag);
  CHECK_STR(value, "7");
  MPI_Info_get(info, "no_such_hint", 99, value, &flag);
  CHECK(!flag);
  MPI_Info_get(info, "mpi_memory_alloc_kinds", 99, value, &flag);
  CHECK(flag);
  CHECK_STR(value, "system,mpi");
  MPI_Info_set(info, "cb_nodes", "1");
  CHECK_OK(MPI_File_set_info(file, info));
  MPI_Info_free(&info);
  CHECK_OK(MPI_File_get_info(file, &info));
  MPI_Info_get(info, "cb_nodes", 99, value, &flag);
  CHECK_STR(value, "1");
  MPI_Info_free(&info);

  CHECK_OK(MPI_File_get_atomicity(file, &flag));
  CHECK(!flag);
  CHECK_OK(MPI_File_set_atomicity(file, 1));
  CHECK_OK(MPI_File_get_atomicity(file, &flag));
  CHECK(flag);
  CHECK_OK(MPI_File_close(&file));
}

/* In atomic mode a read sees a write of another rank as a whole. */
static void atomic_mode(void) {
  enum { kInts = 50000 };
  MPI_File file = test_open(MPI_MODE_RDWR);
  CHECK_OK(MPI_File_set_atomicity(file, 1));
  int* const values = calloc(kInts, sizeof(int));
  if (test_rank == 0) CHECK_OK(MPI_File_write_at(file, 0, values, kInts, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < 10; ++round) {
    if (test_rank == 0) {
      for (int i = 0; i < kInts; ++i) values[i] = round;
      CHECK_OK(MPI_File_write_at(file, 0, values, kInts, MPI_INT, MPI_STATUS_IGNORE));
    } else {
      CHECK_OK(MPI_File_read_at(file, 0, values, kInts, MPI_INT, MPI_STATUS_IGNORE));
      for (int i = 1; i < kInts; ++i)
        if (values[i] != values[0]) CHECK_EQ(values[i], values[0]);
    }
  }
  free(values);
  CHECK_OK(MPI_File_close(&file));
}

static void deleting(void) {
  MPI_File file = test_open(MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  CHECK_OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(access(test_file, F_OK) != 0);
  MPI_Barrier(MPI_COMM_WORLD);
  file = test_open(MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY);
  CHECK_OK(MPI_File_close(&file));
  if (test_rank == 0) CHECK_OK(MPI_File_delete(test_file, MPI_INFO_NULL));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(access(test_file, F_OK) != 0);
}

/* Each rank its own file, and files of parts of the ranks at the same time. */
static void other_communicators(void) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, test_rank, &half);
  char name[300];
  snprintf(name, sizeof name, "%s_%d", test_file, test_rank % 2);
  MPI_File file, own;
  CHECK_OK(MPI_File_open(half, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                         MPI_INFO_NULL, &file));
  int at = 0;
  MPI_Comm_rank(half, &at);
  CHECK_OK(
      MPI_File_write_at_all(file, at * (MPI_Offset)sizeof(int), &test_rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  int first = -1;
  CHECK_OK(MPI_File_sync(file));
  CHECK_OK(MPI_File_read_at_all(file, 0, &first, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQ(first, test_rank % 2);
  CHECK_OK(MPI_File_close(&file));
  MPI_Comm_free(&half);
  snprintf(name, sizeof name, "%s_own_%d", test_file, test_rank);
  CHECK_OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                         MPI_INFO_NULL, &own));
  CHECK_OK(MPI_File_write_all(own, &test_rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&own));
}

int main(int argc, char** argv) {
  test_begin(&argc, &argv);
  write_and_read();
  scattered_memory();
  sizes();
  inquiries();
  atomic_mode();
  deleting();
  other_communicators();
  return test_end();
}
