/* MPI_Type_get_envelope and MPI_Type_get_contents: each type tells how it was made (MPI-5.0 section 5.1.13).
 */
#include "check.h"

static void check_envelope(MPI_Datatype type, int integers, int addresses, int types, int expected) {
  int a, b, c, combiner;
  MPI_Count i, j, k, l;
  CHECK_OK(MPI_Type_get_envelope(type, &a, &b, &c, &combiner));
  CHECK_EQ(a, integers);
  CHECK_EQ(b, addresses);
  CHECK_EQ(c, types);
  CHECK_EQ(combiner, expected);
  CHECK_OK(MPI_Type_get_envelope_c(type, &i, &j, &k, &l, &combiner));
  CHECK_EQ(i, integers);
  CHECK_EQ(j, addresses);
  CHECK_EQ(k, 0);
  CHECK_EQ(l, types);
}

static int integers[32];
static MPI_Aint addresses[32];
static MPI_Datatype types[32];

/* Frees `type`, too. */
static void read_contents(MPI_Datatype* type, int ni, int na, int nd, int combiner) {
  check_envelope(*type, ni, na, nd, combiner);
  CHECK_OK(MPI_Type_get_contents(*type, ni, na, nd, integers, addresses, types));
  CHECK_OK(MPI_Type_free(type));
}

static void combiners(void) {
  MPI_Datatype type;
  CHECK_OK(MPI_Type_dup(MPI_INT, &type));
  read_contents(&type, 0, 0, 1, MPI_COMBINER_DUP);
  CHECK(types[0] == MPI_INT);
  CHECK_OK(MPI_Type_contiguous(7, MPI_FLOAT, &type));
  read_contents(&type, 1, 0, 1, MPI_COMBINER_CONTIGUOUS);
  CHECK_EQ(integers[0], 7);
  CHECK_OK(MPI_Type_vector(3, 2, -5, MPI_CHAR, &type));
  read_contents(&type, 3, 0, 1, MPI_COMBINER_VECTOR);
  CHECK(integers[0] == 3 && integers[1] == 2 && integers[2] == -5 && types[0] == MPI_CHAR);
  CHECK_OK(MPI_Type_create_hvector(3, 2, -5, MPI_CHAR, &type));
  read_contents(&type, 2, 1, 1, MPI_COMBINER_HVECTOR);
  CHECK(integers[0] == 3 && integers[1] == 2 && addresses[0] == -5);
  CHECK_OK(MPI_Type_indexed(2, (int[]){1, 2}, (int[]){3, 4}, MPI_INT, &type));
  read_contents(&type, 5, 0, 1, MPI_COMBINER_INDEXED);
  CHECK(integers[0] == 2 && integers[1] == 1 && integers[2] == 2 && integers[3] == 3 && integers[4] == 4);
  CHECK_OK(MPI_Type_create_hindexed(2, (int[]){1, 2}, (MPI_Aint[]){30, 40}, MPI_INT, &type));
  read_contents(&type, 3, 2, 1, MPI_COMBINER_HINDEXED);
  CHECK(integers[0] == 2 && integers[2] == 2 && addresses[0] == 30 && addresses[1] == 40);
  CHECK_OK(MPI_Type_create_indexed_block(2, 9, (int[]){3, 14}, MPI_INT, &type));
  read_contents(&type, 4, 0, 1, MPI_COMBINER_INDEXED_BLOCK);
  CHECK(integers[0] == 2 && integers[1] == 9 && integers[2] == 3 && integers[3] == 14);
  CHECK_OK(MPI_Type_create_hindexed_block(2, 9, (MPI_Aint[]){3, 140}, MPI_INT, &type));
  read_contents(&type, 2, 2, 1, MPI_COMBINER_HINDEXED_BLOCK);
  CHECK(integers[0] == 2 && integers[1] == 9 && addresses[0] == 3 && addresses[1] == 140);
  CHECK_OK(MPI_Type_create_struct(2, (int[]){1, 2}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE},
                                  &type));
  read_contents(&type, 3, 2, 2, MPI_COMBINER_STRUCT);
  CHECK(integers[0] == 2 && integers[2] == 2 && addresses[1] == 8 && types[0] == MPI_INT &&
        types[1] == MPI_DOUBLE);
  CHECK_OK(MPI_Type_create_resized(MPI_INT, -4, 12, &type));
  read_contents(&type, 0, 2, 1, MPI_COMBINER_RESIZED);
  CHECK(addresses[0] == -4 && addresses[1] == 12);
  CHECK_OK(MPI_Type_create_subarray(2, (int[]){5, 6}, (int[]){2, 3}, (int[]){1, 0}, MPI_ORDER_FORTRAN,
                                    MPI_INT, &type));
  read_contents(&type, 8, 0, 1, MPI_COMBINER_SUBARRAY);
  CHECK(integers[0] == 2 && integers[1] == 5 && integers[4] == 3 && integers[5] == 1 &&
        integers[7] == MPI_ORDER_FORTRAN);
  CHECK_OK(MPI_Type_create_darray(
      6, 4, 2, (int[]){10, 9}, (int[]){MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
      (int[]){MPI_DISTRIBUTE_DFLT_DARG, 2}, (int[]){3, 2}, MPI_ORDER_C, MPI_INT, &type));
  read_contents(&type, 12, 0, 1, MPI_COMBINER_DARRAY);
  CHECK(integers[0] == 6 && integers[1] == 4 && integers[2] == 2 && integers[3] == 10 && integers[4] == 9);
  CHECK(integers[6] == MPI_DISTRIBUTE_CYCLIC && integers[8] == 2 && integers[9] == 3 &&
        integers[11] == MPI_ORDER_C);
}

static void derived_components(void) {
  MPI_Datatype inner, outer;
  int size;
  CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &inner));
  CHECK_OK(MPI_Type_contiguous(2, inner, &outer));
  CHECK_OK(MPI_Type_free(&inner));
  read_contents(&outer, 1, 0, 1, MPI_COMBINER_CONTIGUOUS);
  CHECK_OK(MPI_Type_size(types[0], &size)); /* a new handle, which is ours to free */
  CHECK_EQ(size, 12);
  CHECK_OK(MPI_Type_free(&types[0]));
}

static void large_counts(void) {
  MPI_Datatype type;
  MPI_Count a, b, c, d, large[8];
  int combiner, small;
  CHECK_OK(MPI_Type_vector_c(3, 2, 5000000000, MPI_CHAR, &type));
  CHECK_OK(MPI_Type_get_envelope_c(type, &a, &b, &c, &d, &combiner));
  CHECK(a == 0 && b == 0 && c == 3 && d == 1);
  CHECK_EQ(combiner, MPI_COMBINER_VECTOR);
  CHECK_OK(MPI_Type_get_contents_c(type, 0, 0, 3, 1, NULL, NULL, large, types));
  CHECK(large[0] == 3 && large[1] == 2 && large[2] == 5000000000);
  CHECK_CLASS(MPI_Type_get_envelope(type, &small, &small, &small, &small), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_get_contents(type, 0, 0, 1, NULL, NULL, types), MPI_ERR_TYPE);
  CHECK_OK(MPI_Type_free(&type));
  CHECK_OK(MPI_Type_create_subarray_c(1, (MPI_Count[]){5}, (MPI_Count[]){2}, (MPI_Count[]){1}, MPI_ORDER_C,
                                      MPI_INT, &type));
  CHECK_OK(MPI_Type_get_envelope_c(type, &a, &b, &c, &d, &combiner));
  CHECK(a == 2 && b == 0 && c == 3 && d == 1);
  CHECK_OK(MPI_Type_get_contents_c(type, 2, 0, 3, 1, integers, NULL, large, types));
  CHECK(integers[0] == 1 && integers[1] == MPI_ORDER_C && large[0] == 5 && large[1] == 2 && large[2] == 1);
  CHECK_OK(MPI_Type_free(&type));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  check_envelope(MPI_DOUBLE, 0, 0, 0, MPI_COMBINER_NAMED);
  combiners();
  derived_components();
  large_counts();
  MPI_Finalize();
  return check_result();
}
