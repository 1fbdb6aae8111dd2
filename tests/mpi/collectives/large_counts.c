/* Each collective with large counts: arrays are read as the wider numbers that they hold, blocks lie where
 * the displacements say, and errors name what was passed. What it does with the data the other tests have
 * seen, as both forms share their code. */
#include "large_forms.h"

enum { kMost = 16, kRoom = 4 * kMost };
static int rank, size;

static int value(int from, int to) { return from * 100 + to + 1; }

/* Blocks of rank % 2 + 1 elements, the last rank's first, with a gap behind each. */
static MPI_Count counts[kMost];
static MPI_Aint displs[kMost];
static int length_of(int r) { return r % 2 + 1; }

static void lay_out(void) {
  MPI_Aint end = 0;
  for (int r = size - 1; r >= 0; --r) {
    counts[r] = length_of(r);
    displs[r] = end;
    end += length_of(r) + 1;
  }
}

static void clear(int* buffer) {
  for (int i = 0; i < kRoom; ++i) buffer[i] = -1;
}

/* Every rank's block, in a buffer that is laid out as told; nothing beside. */
static void check_blocks(const int* buffer, int to) {
  int expected[kRoom];
  clear(expected);
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < length_of(r); ++i) expected[displs[r] + i] = value(r, to);
  for (int i = 0; i < kRoom; ++i) CHECK_EQ(buffer[i], expected[i]);
}

static void test_equal_blocks(void) {
  int mine = value(rank, 0), all[kRoom], out[kRoom];
  const int root = size - 1;
  int data = rank == root ? 17 : 0;
  CHECK_OK(form_bcast_c(&data, 1, MPI_INT, root, MPI_COMM_WORLD));
  CHECK_EQ(data, 17);

  CHECK_OK(form_gather_c(&mine, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD));
  for (int r = 0; r < size && rank == root; ++r) CHECK_EQ(all[r], value(r, 0));
  CHECK_OK(form_scatter_c(all, 1, MPI_INT, &data, 1, MPI_INT, root, MPI_COMM_WORLD));
  CHECK_EQ(data, mine);
  clear(all);
  CHECK_OK(form_allgather_c(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
  for (int r = 0; r < size; ++r) CHECK_EQ(all[r], value(r, 0));
  for (int r = 0; r < size; ++r) out[r] = value(rank, r);
  CHECK_OK(form_alltoall_c(out, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
  for (int r = 0; r < size; ++r) CHECK_EQ(all[r], value(r, rank));
}

static void test_blocks(void) {
  int mine[2] = {value(rank, 0), value(rank, 0)}, all[kRoom], out[kRoom], back[2] = {0, 0};
  const int length = length_of(rank);
  clear(all);
  CHECK_OK(form_gatherv_c(mine, length, MPI_INT, all, counts, displs, MPI_INT, 0, MPI_COMM_WORLD));
  if (rank == 0) check_blocks(all, 0);
  CHECK_OK(form_scatterv_c(all, counts, displs, MPI_INT, back, length, MPI_INT, 0, MPI_COMM_WORLD));
  for (int i = 0; i < length; ++i) CHECK_EQ(back[i], mine[i]);
  clear(all);
  CHECK_OK(form_allgatherv_c(mine, length, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD));
  check_blocks(all, 0);

  /* To each rank as much as the receiver expects of this one. */
  MPI_Count out_counts[kMost];
  MPI_Aint out_displs[kMost];
  MPI_Datatype types[kMost];
  MPI_Aint in_bytes[kMost], out_bytes[kMost];
  for (int r = 0; r < size; ++r) {
    out_counts[r] = length;
    out_displs[r] = 3 * r;
    out[3 * r] = out[3 * r + 1] = value(rank, r);
    types[r] = MPI_INT;
    in_bytes[r] = displs[r] * (MPI_Aint)sizeof(int);
    out_bytes[r] = out_displs[r] * (MPI_Aint)sizeof(int);
  }
  clear(all);
  CHECK_OK(
      form_alltoallv_c(out, out_counts, out_displs, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD));
  check_blocks(all, rank);
  clear(all);
  CHECK_OK(form_alltoallw_c(out, out_counts, out_bytes, types, all, counts, in_bytes, types, MPI_COMM_WORLD));
  check_blocks(all, rank);
}

static void test_reductions(void) {
  const int mine = rank + 1, sum = size * (size + 1) / 2;
  int result = 0, in[2 * kMost], part[2] = {0, 0}, first = 0;
  CHECK_OK(form_reduce_c(&mine, &result, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
  if (rank == 0) CHECK_EQ(result, sum);
  CHECK_OK(form_allreduce_c(&mine, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(result, sum);
  CHECK_OK(form_scan_c(&mine, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(result, mine * (mine + 1) / 2);
  result = 0;
  CHECK_OK(form_exscan_c(&mine, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  if (rank > 0) CHECK_EQ(result, rank * mine / 2);

  for (int i = 0; i < 2 * kMost; ++i) in[i] = mine + i;
  CHECK_OK(form_reduce_scatter_block_c(in, part, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(part[0], sum + size * rank);
  for (int r = 0; r < rank; ++r) first += length_of(r);
  CHECK_OK(form_reduce_scatter_c(in, part, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  for (int i = 0; i < length_of(rank); ++i) CHECK_EQ(part[i], sum + size * (first + i));

  int inout = 40;
  CHECK_OK(MPI_Reduce_local_c(&mine, &inout, 1, MPI_INT, MPI_SUM));
  CHECK_EQ(inout, 40 + mine);
}

/* Counts that an int does not hold are not cut off; elements without bytes need no memory. */
static void test_beyond_int(void) {
  const MPI_Count many = (MPI_Count)1 << 33, large[1] = {many}, negative[1] = {-many};
  const MPI_Aint at_start[1] = {0};
  MPI_Datatype nothing;
  char text[MPI_MAX_ERROR_STRING], byte = 0;
  int text_length = 0;
  CHECK_OK(MPI_Type_contiguous(0, MPI_INT, &nothing));
  CHECK_OK(MPI_Type_commit(&nothing));
  CHECK_OK(form_bcast_c(&byte, many, nothing, 0, MPI_COMM_WORLD));
  CHECK_OK(form_allgatherv_c(&byte, many, nothing, text, large, at_start, nothing, MPI_COMM_SELF));
  CHECK_OK(MPI_Type_free(&nothing));
  const int code = form_allgatherv_c(&byte, 1, MPI_CHAR, text, negative, at_start, MPI_CHAR, MPI_COMM_SELF);
  CHECK_CLASS(code, MPI_ERR_COUNT);
  MPI_Error_string(code, text, &text_length);
  CHECK(strstr(text, "recvcounts[0] = -8589934592") != NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  lay_out();
  for (form = 0; form < kForms; ++form) {
    test_equal_blocks();
    test_blocks();
    test_reductions();
    test_beyond_int();
  }
  MPI_Finalize();
  return check_result();
}
