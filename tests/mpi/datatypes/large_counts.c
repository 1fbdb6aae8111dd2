/* The procedures with large counts: each makes what its small sibling makes, tells another envelope, and goes
   on where 32 bits end (MPI-5.0 sections 5.1 and 5.1.13). */
#include "check.h"

static MPI_Count kBig = 5000000000;

struct envelope {
  MPI_Count integers, addresses, large, types;
  int combiner;
};

static struct envelope envelope_of(MPI_Datatype type) {
  struct envelope found;
  CHECK_OK(MPI_Type_get_envelope_c(type, &found.integers, &found.addresses, &found.large, &found.types,
                                   &found.combiner));
  return found;
}

/* The type has this envelope, all its large numbers are these, and the calls for small counts refuse it. */
static void check_contents(MPI_Datatype type, int combiner, MPI_Count types, MPI_Count count,
                           const MPI_Count numbers[]) {
  const struct envelope found = envelope_of(type);
  MPI_Count read[16];
  MPI_Datatype inside[4];
  int none;
  CHECK_EQ(found.combiner, combiner);
  CHECK_EQ(found.integers, 0);
  CHECK_EQ(found.addresses, 0);
  CHECK_EQ(found.types, types);
  CHECK_EQ(found.large, count);
  CHECK_OK(MPI_Type_get_contents_c(type, 0, 0, 16, 4, NULL, NULL, read, inside));
  for (MPI_Count i = 0; i < count; ++i) CHECK_EQ(read[i], numbers[i]);
  CHECK(inside[0] == MPI_CHAR);
  CHECK_CLASS(MPI_Type_get_contents_c(type, 0, 0, count - 1, 4, NULL, NULL, read, inside), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_get_envelope(type, &none, &none, &none, &none), MPI_ERR_TYPE);
}

/* Frees the type. Sizes that an int cannot hold are MPI_UNDEFINED for the calls with int. */
static void check_bounds(MPI_Datatype* type, MPI_Count size, MPI_Count lb, MPI_Count extent,
                         MPI_Count true_lb, MPI_Count true_extent) {
  MPI_Count a, b;
  int small;
  CHECK_OK(MPI_Type_size_c(*type, &a));
  CHECK_EQ(a, size);
  CHECK_OK(MPI_Type_size(*type, &small));
  CHECK_EQ(small, size > 2147483647 ? MPI_UNDEFINED : size);
  CHECK_OK(MPI_Type_get_extent_c(*type, &a, &b));
  CHECK(a == lb && b == extent);
  CHECK_OK(MPI_Type_get_extent_x(*type, &a, &b));
  CHECK(a == lb && b == extent);
  CHECK_OK(MPI_Type_get_true_extent_c(*type, &a, &b));
  CHECK_EQ(a, true_lb);
  CHECK_EQ(b, true_extent);
  CHECK_OK(MPI_Type_free(type));
}

static void blocks(void) {
  MPI_Datatype type;
  CHECK_OK(MPI_Type_contiguous_c(kBig, MPI_CHAR, &type));
  check_contents(type, MPI_COMBINER_CONTIGUOUS, 1, 1, &kBig);
  check_bounds(&type, kBig, 0, kBig, 0, kBig);
  CHECK_OK(MPI_Type_vector_c(2, 3, kBig, MPI_CHAR, &type));
  check_contents(type, MPI_COMBINER_VECTOR, 1, 3, (MPI_Count[]){2, 3, kBig});
  check_bounds(&type, 6, 0, kBig + 3, 0, kBig + 3);
  CHECK_OK(MPI_Type_create_hvector_c(2, 3, -kBig, MPI_CHAR, &type));
  check_contents(type, MPI_COMBINER_HVECTOR, 1, 3, (MPI_Count[]){2, 3, -kBig});
  check_bounds(&type, 6, -kBig, kBig + 3, -kBig, kBig + 3);
  CHECK_OK(MPI_Type_create_resized_c(MPI_CHAR, -kBig, 2 * kBig, &type));
  check_contents(type, MPI_COMBINER_RESIZED, 1, 2, (MPI_Count[]){-kBig, 2 * kBig});
  check_bounds(&type, 1, -kBig, 2 * kBig, 0, 1);
}

static void lists(void) {
  const MPI_Count lengths[] = {2, kBig}, places[] = {-7, kBig};
  const MPI_Count five[] = {2, 2, kBig, -7, kBig}, four[] = {2, 3, -7, kBig};
  MPI_Datatype type;
  CHECK_OK(MPI_Type_indexed_c(2, lengths, places, MPI_CHAR, &type));
  check_contents(type, MPI_COMBINER_INDEXED, 1, 5, five);
  check_bounds(&type, kBig + 2, -7, 2 * kBig + 7, -7, 2 * kBig + 7);
  CHECK_OK(MPI_Type_create_hindexed_c(2, lengths, places, MPI_CHAR, &type));
  check_contents(type, MPI_COMBINER_HINDEXED, 1, 5, five);
  check_bounds(&type, kBig + 2, -7, 2 * kBig + 7, -7, 2 * kBig + 7);
  CHECK_OK(MPI_Type_create_indexed_block_c(2, 3, places, MPI_CHAR, &type));
  check_contents(type, MPI_COMBINER_INDEXED_BLOCK, 1, 4, four);
  check_bounds(&type, 6, -7, kBig + 10, -7, kBig + 10);
  CHECK_OK(MPI_Type_create_hindexed_block_c(2, 3, places, MPI_CHAR, &type));
  check_contents(type, MPI_COMBINER_HINDEXED_BLOCK, 1, 4, four);
  check_bounds(&type, 6, -7, kBig + 10, -7, kBig + 10);
  CHECK_OK(MPI_Type_create_struct_c(2, lengths, places, (MPI_Datatype[]){MPI_CHAR, MPI_SHORT}, &type));
  check_contents(type, MPI_COMBINER_STRUCT, 2, 5, five);
  /* from -7 to the end of the shorts, and so much more that the extent is a multiple of their alignment */
  check_bounds(&type, 2 * kBig + 2, -7, 3 * kBig + 8, -7, 3 * kBig + 7);
}

static void arrays(void) {
  const MPI_Count sizes[] = {3, kBig}, subsizes[] = {2, 4}, starts[] = {1, kBig - 4};
  MPI_Datatype type, inside;
  MPI_Count large[8];
  int integers[16];
  CHECK_OK(MPI_Type_create_subarray_c(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_CHAR, &type));
  struct envelope found = envelope_of(type);
  CHECK(found.integers == 2 && found.addresses == 0 && found.large == 6 && found.types == 1);
  CHECK_OK(MPI_Type_get_contents_c(type, 2, 0, 6, 1, integers, NULL, large, &inside));
  CHECK(integers[0] == 2 && integers[1] == MPI_ORDER_C);
  CHECK(large[1] == kBig && large[3] == 4 && large[5] == kBig - 4);
  check_bounds(&type, 8, 0, 3 * kBig, 2 * kBig - 4, kBig + 4);

  /* 2 x 3 processes; the second dimension is dealt out in blocks of a thousand million */
  const int kinds[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC}, processes[] = {2, 3};
  const int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, 1000000000};
  CHECK_OK(
      MPI_Type_create_darray_c(6, 4, 2, sizes, kinds, arguments, processes, MPI_ORDER_C, MPI_CHAR, &type));
  found = envelope_of(type);
  CHECK(found.integers == 10 && found.addresses == 0 && found.large == 2 && found.types == 1);
  CHECK_OK(MPI_Type_get_contents_c(type, 10, 0, 2, 1, integers, NULL, large, &inside));
  CHECK(integers[0] == 6 && integers[1] == 4 && integers[2] == 2 && integers[3] == MPI_DISTRIBUTE_CYCLIC);
  CHECK(integers[6] == 1000000000 && integers[7] == 2 && integers[8] == 3 && integers[9] == MPI_ORDER_C);
  CHECK(large[0] == 3 && large[1] == kBig);
  /* row 1; columns 1 to 2 and 4 to 5 thousand million */
  const MPI_Count billion = 1000000000;
  check_bounds(&type, 2 * billion, 0, 3 * kBig, kBig + billion, 4 * billion);
}

static void packing(void) {
  char buffer[64];
  int numbers[] = {1, 2, 3}, read[3] = {0};
  MPI_Count position = 0, size = 0;
  CHECK_OK(MPI_Pack_c(numbers, 3, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
  CHECK_EQ(position, 12);
  position = 4;
  CHECK_OK(MPI_Unpack_c(buffer, 12, &position, read, 2, MPI_INT, MPI_COMM_WORLD));
  CHECK(position == 12 && read[0] == 2 && read[1] == 3);
  CHECK_CLASS(MPI_Unpack_c(buffer, 12, &position, read, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_ARG);
  CHECK_OK(MPI_Pack_external_size_c("external32", kBig, MPI_DOUBLE, &size));
  CHECK_EQ(size, 8 * kBig);
  position = 0;
  CHECK_OK(MPI_Pack_external_c("external32", numbers, 3, MPI_INT, buffer, sizeof buffer, &position));
  CHECK(position == 12 && buffer[3] == 1 && buffer[11] == 3);
  position = 8;
  CHECK_OK(MPI_Unpack_external_c("external32", buffer, 12, &position, read, 1, MPI_INT));
  CHECK(position == 12 && read[0] == 3);
  int small;
  CHECK_OK(MPI_Pack_size(2000000000, MPI_INT, MPI_COMM_WORLD, &small));
  CHECK_EQ(small, MPI_UNDEFINED);
  CHECK_OK(MPI_Pack_size_c((MPI_Count)1 << 62, MPI_DOUBLE, MPI_COMM_WORLD, &size));
  CHECK_EQ(size, MPI_UNDEFINED);
}

static void elements(void) {
  MPI_Status status;
  MPI_Count large;
  int small;
  memset(&status, 0, sizeof status);
  CHECK_OK(MPI_Status_set_elements_c(&status, MPI_DOUBLE_INT, 2 * kBig));
  CHECK_OK(MPI_Get_count_c(&status, MPI_DOUBLE_INT, &large));
  CHECK_EQ(large, kBig);
  CHECK_OK(MPI_Get_elements_c(&status, MPI_DOUBLE_INT, &large));
  CHECK_EQ(large, 2 * kBig);
  CHECK_OK(MPI_Get_elements(&status, MPI_DOUBLE_INT, &small));
  CHECK_EQ(small, MPI_UNDEFINED);
}

/* What is too large even for MPI_Count is refused, not wrapped around. */
static void too_large(void) {
  const MPI_Count huge = (MPI_Count)1 << 62;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  CHECK_CLASS(MPI_Type_contiguous_c(huge, MPI_SHORT, &type), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_vector_c(3, 1, huge, MPI_CHAR, &type), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_vector_c(2, 1, huge, MPI_DOUBLE, &type), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_create_hvector_c(huge, 4, 0, MPI_CHAR, &type), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_indexed_c(1, (MPI_Count[]){1}, (MPI_Count[]){huge}, MPI_DOUBLE, &type), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_create_resized_c(MPI_CHAR, huge, huge, &type), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_create_subarray_c(2, (MPI_Count[]){huge, 4}, (MPI_Count[]){1, 1}, (MPI_Count[]){0, 0},
                                         MPI_ORDER_C, MPI_CHAR, &type),
              MPI_ERR_COUNT);
  CHECK(type == MPI_DATATYPE_NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  blocks();
  lists();
  arrays();
  packing();
  elements();
  too_large();
  MPI_Finalize();
  return check_result();
}
