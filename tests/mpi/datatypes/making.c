/* Sizes and bounds of derived datatypes (MPI-5.0 section 5.1). */
#include <stddef.h>

#include "check.h"

static void check_type(MPI_Datatype type, MPI_Count size, MPI_Aint lb, MPI_Aint extent, MPI_Aint true_lb,
                       MPI_Aint true_extent) {
  int small;
  MPI_Count large, first, second;
  MPI_Aint a, b;
  CHECK_OK(MPI_Type_size(type, &small));
  CHECK_EQ(small, size <= 2147483647 ? size : MPI_UNDEFINED);
  CHECK_OK(MPI_Type_size_c(type, &large));
  CHECK_EQ(large, size);
  CHECK_OK(MPI_Type_size_x(type, &large));
  CHECK_EQ(large, size);
  CHECK_OK(MPI_Type_get_extent(type, &a, &b));
  CHECK_EQ(a, lb);
  CHECK_EQ(b, extent);
  CHECK_OK(MPI_Type_get_extent_c(type, &first, &second));
  CHECK_EQ(first, lb);
  CHECK_EQ(second, extent);
  CHECK_OK(MPI_Type_get_true_extent(type, &a, &b));
  CHECK_EQ(a, true_lb);
  CHECK_EQ(b, true_extent);
  CHECK_OK(MPI_Type_get_true_extent_x(type, &first, &second));
  CHECK_EQ(first, true_lb);
  CHECK_EQ(second, true_extent);
}

static void predefined_types(void) {
  check_type(MPI_INT, sizeof(int), 0, sizeof(int), 0, sizeof(int));
  check_type(MPI_LONG_DOUBLE, sizeof(long double), 0, sizeof(long double), 0, sizeof(long double));
  struct pair {
    double value;
    int index;
  };
  check_type(MPI_DOUBLE_INT, 12, 0, sizeof(struct pair), 0, 12);
  check_type(MPI_BYTE, 1, 0, 1, 0, 1);
  check_type(MPI_AINT, sizeof(MPI_Aint), 0, sizeof(MPI_Aint), 0, sizeof(MPI_Aint));
}

static void blocks(void) {
  MPI_Datatype type, other;
  CHECK_OK(MPI_Type_contiguous(5, MPI_INT, &type));
  check_type(type, 20, 0, 20, 0, 20);
  CHECK_OK(MPI_Type_vector(3, 2, 4, type, &other));
  check_type(other, 120, 0, 200, 0, 200);
  CHECK_OK(MPI_Type_free(&type));
  CHECK(type == MPI_DATATYPE_NULL);
  check_type(other, 120, 0, 200, 0, 200); /* outlives what it was made from */
  CHECK_OK(MPI_Type_free(&other));

  CHECK_OK(MPI_Type_vector(3, 1, -2, MPI_DOUBLE, &type));
  check_type(type, 24, -32, 40, -32, 40);
  CHECK_OK(MPI_Type_free(&type));
  CHECK_OK(MPI_Type_create_hvector(3, 1, 12, MPI_INT, &type));
  check_type(type, 12, 0, 28, 0, 28);
  CHECK_OK(MPI_Type_free(&type));
  CHECK_OK(MPI_Type_contiguous(0, MPI_INT, &type));
  check_type(type, 0, 0, 0, 0, 0);
  CHECK_OK(MPI_Type_free(&type));

  const MPI_Count many = 3000000000;
  CHECK_OK(MPI_Type_contiguous_c(many, MPI_INT, &type));
  check_type(type, 4 * many, 0, 4 * many, 0, 4 * many);
  CHECK_OK(MPI_Type_free(&type));
}

static void indexed(void) {
  const int lengths[] = {2, 0, 1}, places[] = {4, -100, 1};
  const MPI_Aint bytes[] = {16, -100, 4};
  MPI_Datatype type;
  CHECK_OK(MPI_Type_indexed(3, lengths, places, MPI_INT, &type));
  check_type(type, 12, 4, 20, 4, 20);
  CHECK_OK(MPI_Type_free(&type));
  CHECK_OK(MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &type));
  check_type(type, 12, 4, 20, 4, 20);
  CHECK_OK(MPI_Type_free(&type));
  CHECK_OK(MPI_Type_create_indexed_block(3, 2, (int[]){0, 6, 3}, MPI_SHORT, &type));
  check_type(type, 12, 0, 16, 0, 16);
  CHECK_OK(MPI_Type_free(&type));
  CHECK_OK(MPI_Type_create_hindexed_block(2, 1, (MPI_Aint[]){8, 0}, MPI_DOUBLE, &type));
  check_type(type, 16, 0, 16, 0, 16);
  CHECK_OK(MPI_Type_free(&type));
}

static void structs(void) {
  struct record {
    char letter;
    double number;
    short few[3];
  };
  const int lengths[] = {1, 1, 3};
  const MPI_Aint places[] = {offsetof(struct record, letter), offsetof(struct record, number),
                             offsetof(struct record, few)};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
  MPI_Datatype type, resized, copy;
  CHECK_OK(MPI_Type_create_struct(3, lengths, places, types, &type));
  check_type(type, 15, 0, sizeof(struct record), 0, 22);
  CHECK_OK(MPI_Type_create_resized(type, -8, 48, &resized));
  check_type(resized, 15, -8, 48, 0, 22);
  CHECK_OK(MPI_Type_dup(resized, &copy));
  check_type(copy, 15, -8, 48, 0, 22);
  CHECK_OK(MPI_Type_free(&copy));
  CHECK_OK(MPI_Type_contiguous(2, resized, &copy));
  check_type(copy, 30, -8, 96, 0, 70);
  CHECK_OK(MPI_Type_free(&copy));
  CHECK_OK(MPI_Type_free(&type));
  CHECK_OK(MPI_Type_free(&resized));
}

static void subarrays(void) {
  const int sizes[] = {4, 5, 6}, subsizes[] = {2, 3, 1}, starts[] = {1, 2, 4};
  MPI_Datatype type;
  CHECK_OK(MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &type));
  check_type(type, 24, 0, 480, 4 * (30 + 12 + 4), 4 * (30 + 12 + 1));
  CHECK_OK(MPI_Type_free(&type));
  CHECK_OK(MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_FORTRAN, MPI_INT, &type));
  check_type(type, 24, 0, 480, 4 * (1 + 8 + 80), 4 * (1 + 8 + 1));
  CHECK_OK(MPI_Type_free(&type));
}

/* Every element of a matrix belongs to exactly one process of a grid, and all parts together have its size.
 */
static void distributed_arrays(void) {
  const int sizes[] = {10, 9}, kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  const int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, processes[] = {3, 2};
  int matrix[90], part[90], owner[90], total = 0;
  for (int i = 0; i < 90; ++i) matrix[i] = i, owner[i] = -1;
  for (int rank = 0; rank < 6; ++rank) {
    MPI_Datatype type;
    int size, position = 0;
    CHECK_OK(
        MPI_Type_create_darray(6, rank, 2, sizes, kinds, arguments, processes, MPI_ORDER_C, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Type_size(type, &size));
    CHECK_OK(MPI_Pack(matrix, 1, type, part, sizeof part, &position, MPI_COMM_SELF));
    for (int i = 0; i < size / 4; ++i) {
      const int row = part[i] / 9, column = part[i] % 9;
      CHECK_EQ(row / 4 * 2 + column / 2 % 2, rank);
      CHECK_EQ(owner[part[i]], -1);
      owner[part[i]] = rank;
    }
    total += size;
    CHECK_OK(MPI_Type_free(&type));
  }
  CHECK_EQ(total, 360);
}

static void addresses(void) {
  int numbers[10] = {0};
  MPI_Aint first, last;
  CHECK_OK(MPI_Get_address(&numbers[0], &first));
  CHECK_OK(MPI_Get_address(&numbers[9], &last));
  CHECK_EQ(MPI_Aint_diff(last, first), 36);
  CHECK_EQ(MPI_Aint_add(first, 36), last);
}

static void matching_sizes(void) {
  MPI_Datatype type;
  CHECK_OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type));
  CHECK(type == MPI_REAL8);
  CHECK_OK(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 2, &type));
  CHECK(type == MPI_INTEGER2);
  CHECK_OK(MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, &type));
  CHECK(type == MPI_COMPLEX16);
  CHECK_OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &type));
  CHECK(type == MPI_DOUBLE_INT);
  CHECK_OK(MPI_Type_get_value_index(MPI_CHAR, MPI_INT, &type));
  CHECK(type == MPI_DATATYPE_NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  predefined_types();
  blocks();
  indexed();
  structs();
  subarrays();
  distributed_arrays();
  addresses();
  matching_sizes();
  MPI_Finalize();
  return check_result();
}
