/* Cartesian communicators: places, neighbours, subgrids, wrong arguments (MPI-5.0 sections 8.5 to 8.6). */
#include "check.h"

static int size, rank;

static void dims(void) {
  int one[1] = {0}, two[2] = {0, 0}, three[3] = {0, 2, 0}, none[1] = {0};
  CHECK_OK(MPI_Dims_create(7, 1, one));
  CHECK_EQ(one[0], 7);
  CHECK_OK(MPI_Dims_create(12, 2, two));
  CHECK(two[0] == 4 && two[1] == 3);
  CHECK_OK(MPI_Dims_create(12, 3, three));
  CHECK(three[0] == 3 && three[1] == 2 && three[2] == 2);
  CHECK_OK(MPI_Dims_create(1, 0, none));
  /* Those that are given stay, the others become smaller from the first to the last. */
  int four[4] = {0, 5, 0, 0};
  CHECK_OK(MPI_Dims_create(120, 4, four));
  CHECK(four[0] == 4 && four[1] == 5 && four[2] == 3 && four[3] == 2);
  int given[2] = {4, 3};
  CHECK_OK(MPI_Dims_create(12, 2, given));
  CHECK(given[0] == 4 && given[1] == 3);
  int wrong[2] = {5, 0}, negative[2] = {-1, 0};
  CHECK_CLASS(MPI_Dims_create(12, 2, wrong), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Dims_create(12, 2, negative), MPI_ERR_DIMS);
  CHECK(MPI_Dims_create(0, 2, wrong) != MPI_SUCCESS);
}

/* A row and a column that wraps around; everyone passes its rank along both. */
static void grid(void) {
  int sizes[2] = {0, 0}, periods[2] = {0, 1}, got[2], flags[2], coords[2], n = -1, me = -1;
  MPI_Comm cart;
  CHECK_OK(MPI_Dims_create(size, 2, sizes));
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &cart));
  CHECK_OK(MPI_Topo_test(cart, &n));
  CHECK_EQ(n, MPI_CART);
  CHECK_OK(MPI_Topo_test(MPI_COMM_WORLD, &n));
  CHECK_EQ(n, MPI_UNDEFINED);
  CHECK_OK(MPI_Cartdim_get(cart, &n));
  CHECK_EQ(n, 2);
  CHECK_OK(MPI_Comm_rank(cart, &me));
  CHECK_EQ(me, rank);
  CHECK_OK(MPI_Cart_get(cart, 2, got, flags, coords));
  for (int i = 0; i < 2; ++i) {
    CHECK_EQ(got[i], sizes[i]);
    CHECK_EQ(flags[i], periods[i]);
  }
  CHECK_EQ(coords[0] * sizes[1] + coords[1], me);
  for (int other = 0; other < size; ++other) {
    int back = -1;
    CHECK_OK(MPI_Cart_coords(cart, other, 2, got));
    CHECK(got[0] == other / sizes[1] && got[1] == other % sizes[1]);
    CHECK_OK(MPI_Cart_rank(cart, got, &back));
    CHECK_EQ(back, other);
    got[1] -= sizes[1];
    CHECK_OK(MPI_Cart_rank(cart, got, &back));
    CHECK_EQ(back, other);
  }
  for (int direction = 0; direction < 2; ++direction) {
    int source, dest, from = -1;
    CHECK_OK(MPI_Cart_shift(cart, direction, 1, &source, &dest));
    if (direction == 0) CHECK_EQ(dest, coords[0] == sizes[0] - 1 ? MPI_PROC_NULL : me + sizes[1]);
    CHECK_OK(MPI_Sendrecv(&me, 1, MPI_INT, dest, 0, &from, 1, MPI_INT, source, 0, cart, MPI_STATUS_IGNORE));
    CHECK_EQ(from, source == MPI_PROC_NULL ? -1 : source);
  }

  /* A duplicate has the topology, a split has not. */
  MPI_Comm copy;
  CHECK_OK(MPI_Comm_dup(cart, &copy));
  CHECK_OK(MPI_Cartdim_get(copy, &n));
  CHECK_EQ(n, 2);
  CHECK_OK(MPI_Comm_free(&copy));
  CHECK_OK(MPI_Comm_split(cart, 0, 0, &copy));
  CHECK_OK(MPI_Topo_test(copy, &n));
  CHECK_EQ(n, MPI_UNDEFINED);
  CHECK_OK(MPI_Comm_free(&copy));

  /* The rows and the columns by themselves. */
  for (int kept = 0; kept < 2; ++kept) {
    const int remain[2] = {kept == 0, kept == 1};
    MPI_Comm line;
    CHECK_OK(MPI_Cart_sub(cart, remain, &line));
    CHECK_OK(MPI_Comm_size(line, &n));
    CHECK_EQ(n, sizes[kept]);
    CHECK_OK(MPI_Comm_rank(line, &n));
    CHECK_EQ(n, coords[kept]);
    CHECK_OK(MPI_Cart_get(line, 1, got, flags, &n));
    CHECK(got[0] == sizes[kept] && flags[0] == periods[kept] && n == coords[kept]);
    int sum = -1, other = coords[1 - kept];
    CHECK_OK(MPI_Allreduce(&other, &sum, 1, MPI_INT, MPI_SUM, line));
    CHECK_EQ(sum, other * sizes[kept]);
    CHECK_OK(MPI_Comm_free(&line));
  }
  const int nothing[2] = {0, 0};
  MPI_Comm point;
  CHECK_OK(MPI_Cart_sub(cart, nothing, &point));
  CHECK_OK(MPI_Comm_size(point, &n));
  CHECK_EQ(n, 1);
  CHECK_OK(MPI_Cartdim_get(point, &n));
  CHECK_EQ(n, 0);
  CHECK_OK(MPI_Comm_free(&point));
  CHECK_OK(MPI_Comm_free(&cart));
}

static void smaller_than_the_group(void) {
  const int one = 1, no = 0;
  MPI_Comm cart;
  int place = -7;
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &one, &no, 1, &cart));
  CHECK_EQ(cart != MPI_COMM_NULL, rank == 0);
  if (cart != MPI_COMM_NULL) CHECK_OK(MPI_Comm_free(&cart));
  CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 1, &one, &no, &place));
  CHECK_EQ(place, rank == 0 ? 0 : MPI_UNDEFINED);
}

static void wrong_arguments(void) {
  const int no = 0, too_many = size + 1, zero = 0;
  int value, coords[1] = {size};
  MPI_Comm cart, made = MPI_COMM_NULL;
  CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, &too_many, &no, 0, &made) != MPI_SUCCESS);
  CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, &zero, &no, 0, &made) != MPI_SUCCESS);
  CHECK(MPI_Cart_create(MPI_COMM_WORLD, -1, &size, &no, 0, &made) != MPI_SUCCESS);
  CHECK_CLASS(MPI_Cart_create(MPI_COMM_NULL, 1, &size, &no, 0, &made), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Cartdim_get(MPI_COMM_WORLD, &value), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Cart_coords(MPI_COMM_WORLD, 0, 1, coords), MPI_ERR_TOPOLOGY);
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &no, 0, &cart));
  coords[0] = size;
  CHECK(MPI_Cart_rank(cart, coords, &value) != MPI_SUCCESS);
  CHECK_CLASS(MPI_Cart_coords(cart, size, 1, coords), MPI_ERR_RANK);
  CHECK(MPI_Cart_coords(cart, 0, 0, coords) != MPI_SUCCESS);
  CHECK(MPI_Cart_shift(cart, 1, 1, &value, &value) != MPI_SUCCESS);
  CHECK(MPI_Cart_shift(cart, -1, 1, &value, &value) != MPI_SUCCESS);
  CHECK_OK(MPI_Comm_free(&cart));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  dims();
  grid();
  smaller_than_the_group();
  wrong_arguments();
  MPI_Finalize();
  return check_result();
}
