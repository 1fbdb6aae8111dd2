/* Wrong arguments of the datatype functions: the error class of each. */
#include "check.h"

/* A darray that is right, with one argument at a time replaced. */
struct grid {
  int size, rank, ndims, gsizes[2], distribs[2], dargs[2], psizes[2], order;
};

static void check_darray(struct grid grid, int expected) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  CHECK_CLASS(MPI_Type_create_darray(grid.size, grid.rank, grid.ndims, grid.gsizes, grid.distribs, grid.dargs,
                                     grid.psizes, grid.order, MPI_INT, &made),
              expected);
  if (expected == MPI_SUCCESS) {
    CHECK_OK(MPI_Type_free(&made));
  } else {
    CHECK(made == MPI_DATATYPE_NULL);
  }
}

static void darrays(void) {
  const struct grid right = {6,
                             5,
                             2,
                             {10, 9},
                             {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
                             {MPI_DISTRIBUTE_DFLT_DARG, 2},
                             {2, 3},
                             MPI_ORDER_FORTRAN};
  struct grid wrong = right;
  check_darray(right, MPI_SUCCESS);
  wrong.rank = 6;
  check_darray(wrong, MPI_ERR_ARG);
  wrong = right;
  wrong.size = 5;
  check_darray(wrong, MPI_ERR_ARG);
  wrong = right;
  wrong.ndims = 0;
  check_darray(wrong, MPI_ERR_ARG);
  wrong = right;
  wrong.gsizes[1] = 0;
  check_darray(wrong, MPI_ERR_ARG);
  wrong = right;
  wrong.distribs[0] = 12345;
  check_darray(wrong, MPI_ERR_ARG);
  wrong = right;
  wrong.distribs[0] = MPI_DISTRIBUTE_NONE; /* among 2 processes */
  check_darray(wrong, MPI_ERR_ARG);
  wrong = right;
  wrong.dargs[1] = 0;
  check_darray(wrong, MPI_ERR_ARG);
  wrong = right;
  wrong.dargs[0] = 4; /* 2 blocks of 4 do not cover 10 */
  check_darray(wrong, MPI_ERR_ARG);
  wrong = right;
  wrong.psizes[0] = 0;
  check_darray(wrong, MPI_ERR_ARG);
  wrong = right;
  wrong.order = 77;
  check_darray(wrong, MPI_ERR_ARG);
}

/* What no constructor accepts. */
static void constructors(void) {
  const int minus[] = {1, -1}, one[] = {1, 1};
  const MPI_Aint places[] = {0, 8};
  const MPI_Datatype types[] = {MPI_INT, MPI_INT};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  CHECK_CLASS(MPI_Type_vector(-1, 1, 1, MPI_INT, &made), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_create_hvector(1, -1, 1, MPI_INT, &made), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_create_hvector(1, 1, 1, MPI_DATATYPE_NULL, &made), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_indexed(2, minus, one, MPI_INT, &made), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_indexed(2, one, NULL, MPI_INT, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_hindexed(2, minus, places, MPI_INT, &made), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_create_hindexed(-2, one, places, MPI_INT, &made), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_create_indexed_block(2, -1, one, MPI_INT, &made), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_create_hindexed_block(2, 1, NULL, MPI_INT, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_struct(2, minus, places, types, &made), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_create_struct(2, one, places, types, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_resized(MPI_DATATYPE_NULL, 0, 1, &made), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_dup(MPI_DATATYPE_NULL, &made), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_f90_complex(50, 10, &made), MPI_ERR_ARG);
  CHECK(made == MPI_DATATYPE_NULL);
}

static void packing(void) {
  int number = 1, position = 0;
  char room[4];
  MPI_Aint place = 0, size;
  MPI_Status status;
  memset(&status, 0, sizeof status);
  CHECK_CLASS(MPI_Pack(&number, 1, MPI_INT, room, 3, &position, MPI_COMM_WORLD), MPI_ERR_ARG);
  position = -1;
  CHECK_CLASS(MPI_Unpack(room, 4, &position, &number, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Pack_size(-1, MPI_INT, MPI_COMM_WORLD, &number), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Pack_external("internal", &number, 1, MPI_INT, room, 4, &place), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Pack_external("external32", &number, 1, MPI_INT, room, 3, &place), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Unpack_external("external32", room, 3, &place, &number, 1, MPI_INT), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Pack_external_size("external32", -1, MPI_INT, &size), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Get_address(&number, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Get_elements(&status, MPI_DATATYPE_NULL, &number), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Status_set_elements(&status, MPI_INT, -1), MPI_ERR_COUNT);
}

int main(int argc, char** argv) {
  MPI_Datatype type = MPI_INT, made = MPI_DATATYPE_NULL, null = MPI_DATATYPE_NULL;
  int number, buffer[4] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

  CHECK_CLASS(MPI_Type_size(MPI_DATATYPE_NULL, &number), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_free(&null), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_free(&type), MPI_ERR_TYPE);
  CHECK(type == MPI_INT);
  CHECK_CLASS(MPI_Type_commit(&null), MPI_ERR_TYPE);
  CHECK_OK(MPI_Type_commit(&type)); /* predefined types are committed; again does no harm */
  CHECK_CLASS(MPI_Type_contiguous(-1, MPI_INT, &made), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &made), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_vector(1, -1, 1, MPI_INT, &made), MPI_ERR_COUNT);
  CHECK_CLASS(
      MPI_Type_create_struct(1, (int[]){1}, (MPI_Aint[]){0}, (MPI_Datatype[]){MPI_DATATYPE_NULL}, &made),
      MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_create_subarray(0, NULL, NULL, NULL, MPI_ORDER_C, MPI_INT, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_subarray(1, (int[]){4}, (int[]){2}, (int[]){3}, MPI_ORDER_C, MPI_INT, &made),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_subarray(1, (int[]){4}, (int[]){5}, (int[]){0}, MPI_ORDER_C, MPI_INT, &made),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_create_subarray(1, (int[]){4}, (int[]){2}, (int[]){0}, 77, MPI_INT, &made),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_get_contents(MPI_INT, 0, 0, 0, NULL, NULL, NULL), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_match_size(12345, 4, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_contiguous_c((MPI_Count)1 << 62, MPI_DOUBLE, &made), MPI_ERR_COUNT);
  CHECK(made == MPI_DATATYPE_NULL);

  darrays();
  constructors();
  packing();

  CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &made));
  CHECK_CLASS(
      MPI_Sendrecv(buffer, 1, made, 0, 0, buffer + 2, 1, made, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE),
      MPI_ERR_TYPE);
  MPI_Datatype types[1];
  CHECK_CLASS(MPI_Type_get_contents(made, 0, 0, 1, buffer, NULL, types), MPI_ERR_ARG);
  MPI_Datatype stale = made;
  CHECK_OK(MPI_Type_free(&made));
  CHECK_CLASS(MPI_Type_size(stale, &number), MPI_ERR_TYPE);
  MPI_Finalize();
  return check_result();
}
