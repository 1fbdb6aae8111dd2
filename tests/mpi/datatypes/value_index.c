/* MPI_Type_get_value_index: pairs with a name, pairs without, and what is no pair; MPI_MINLOC and MPI_MAXLOC
   on them (MPI-5.0 section 6.9.4). */
#include <stddef.h>
#include <stdint.h>

#include "check.h"

static int rank, size;

static MPI_Datatype pair_of(MPI_Datatype value, MPI_Datatype index) {
  MPI_Datatype pair = MPI_INT;
  CHECK_OK(MPI_Type_get_value_index(value, index, &pair));
  return pair;
}

static void with_names(void) {
  CHECK(pair_of(MPI_FLOAT, MPI_INT) == MPI_FLOAT_INT);
  CHECK(pair_of(MPI_DOUBLE, MPI_INT) == MPI_DOUBLE_INT);
  CHECK(pair_of(MPI_LONG, MPI_INT) == MPI_LONG_INT);
  CHECK(pair_of(MPI_INT, MPI_INT) == MPI_2INT);
  CHECK(pair_of(MPI_SHORT, MPI_INT) == MPI_SHORT_INT);
  CHECK(pair_of(MPI_LONG_DOUBLE, MPI_INT) == MPI_LONG_DOUBLE_INT);
  CHECK(pair_of(MPI_REAL, MPI_REAL) == MPI_2REAL);
  CHECK(pair_of(MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION) == MPI_2DOUBLE_PRECISION);
  CHECK(pair_of(MPI_INTEGER, MPI_INTEGER) == MPI_2INTEGER);
}

static void no_pairs(void) {
  MPI_Datatype derived, pair = MPI_INT;
  CHECK(pair_of(MPI_CHAR, MPI_INT) == MPI_DATATYPE_NULL);
  CHECK(pair_of(MPI_INT, MPI_DOUBLE) == MPI_DATATYPE_NULL);
  CHECK(pair_of(MPI_C_COMPLEX, MPI_INT) == MPI_DATATYPE_NULL);
  CHECK(pair_of(MPI_2INT, MPI_INT) == MPI_DATATYPE_NULL);
  CHECK_OK(MPI_Type_dup(MPI_INT, &derived));
  CHECK(pair_of(derived, MPI_INT) == MPI_DATATYPE_NULL);
  CHECK_OK(MPI_Type_free(&derived));
  CHECK_CLASS(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &pair), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_get_value_index(MPI_INT, MPI_INT, NULL), MPI_ERR_ARG);
}

/* An unnamed pair: its facts, one handle for each question, and that it stays the same inside of other types.
 */
static void check_facts(MPI_Datatype value, MPI_Datatype index, MPI_Count bytes, MPI_Count whole) {
  MPI_Datatype pair = pair_of(value, index), vector, contents[2];
  MPI_Count count, lb, extent;
  int integers, addresses, types, combiner, length, two[3];
  char name[MPI_MAX_OBJECT_NAME];
  CHECK(pair != MPI_DATATYPE_NULL);
  CHECK(pair_of(value, index) == pair);
  CHECK_OK(MPI_Type_size_c(pair, &count));
  CHECK_EQ(count, bytes);
  CHECK_OK(MPI_Type_get_extent_c(pair, &lb, &extent));
  CHECK(lb == 0 && extent == whole);
  CHECK_OK(MPI_Type_get_name(pair, name, &length));
  CHECK_EQ(length, 0);
  CHECK_OK(MPI_Type_get_envelope(pair, &integers, &addresses, &types, &combiner));
  CHECK(integers == 0 && addresses == 0 && types == 2 && combiner == MPI_COMBINER_VALUE_INDEX);
  CHECK_OK(MPI_Type_get_contents(pair, 0, 0, 2, NULL, NULL, contents));
  CHECK(contents[0] == value && contents[1] == index);
  CHECK_OK(MPI_Type_vector(2, 1, 2, pair, &vector));
  CHECK_OK(MPI_Type_get_contents(vector, 3, 0, 1, two, NULL, contents));
  CHECK(contents[0] == pair);
  CHECK_OK(MPI_Type_free(&vector));
  MPI_Datatype copy = pair;
  CHECK_CLASS(MPI_Type_free(&copy), MPI_ERR_TYPE);
}

struct wide {
  double value;
  int64_t index;
};
struct narrow {
  uint8_t value;
  int32_t index;
};

static void reductions(void) {
  const MPI_Datatype wide = pair_of(MPI_DOUBLE, MPI_INT64_T), narrow = pair_of(MPI_UINT8_T, MPI_INT32_T);
  const int64_t far = (int64_t)1 << 40;
  struct wide mine[2] = {{rank % 3, far + rank}, {-rank, far - rank}}, least[2], most[2];
  CHECK_OK(MPI_Allreduce(mine, least, 2, wide, MPI_MINLOC, MPI_COMM_WORLD));
  CHECK_OK(MPI_Allreduce(mine, most, 2, wide, MPI_MAXLOC, MPI_COMM_WORLD));
  const int largest = size < 3 ? size - 1 : 2;
  CHECK(least[0].value == 0 && least[0].index == far);
  CHECK(least[1].value == -(size - 1) && least[1].index == far - (size - 1));
  CHECK(most[0].value == largest && most[0].index == far + largest);
  CHECK(most[1].value == 0 && most[1].index == far);
  struct narrow byte = {(uint8_t)(200 + rank), rank}, found = {0, 0};
  CHECK_OK(MPI_Allreduce(&byte, &found, 1, narrow, MPI_MAXLOC, MPI_COMM_WORLD));
  CHECK(found.value == 200 + size - 1 && found.index == size - 1);
  CHECK_CLASS(MPI_Allreduce(mine, least, 2, wide, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP);
}

/* In a message each half is an element. */
static void messages(void) {
  const MPI_Datatype pair = pair_of(MPI_DOUBLE, MPI_INT64_T);
  struct wide out = {1.5, 7}, in = {0, 0};
  MPI_Status status;
  int elements;
  CHECK_OK(MPI_Sendrecv(&out, 1, pair, 0, 0, &in, 1, pair, 0, 0, MPI_COMM_SELF, &status));
  CHECK(in.value == 1.5 && in.index == 7);
  CHECK_OK(MPI_Get_elements(&status, pair, &elements));
  CHECK_EQ(elements, 2);
  unsigned char external[16];
  MPI_Aint position = 0;
  CHECK_OK(MPI_Pack_external("external32", &out, 1, pair, external, sizeof external, &position));
  CHECK(position == 16 && external[0] == 0x3f && external[1] == 0xf8 && external[15] == 7);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  with_names();
  no_pairs();
  check_facts(MPI_DOUBLE, MPI_INT64_T, 16, 16);
  check_facts(MPI_UINT8_T, MPI_INT32_T, 5, 8);
  check_facts(MPI_FLOAT, MPI_COUNT, 12, 16);
  check_facts(MPI_INTEGER8, MPI_INTEGER8, 16, 16);
  reductions();
  messages();
  MPI_Finalize();
  return check_result();
}
