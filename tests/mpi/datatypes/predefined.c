/* Every predefined type of the ABI: size, extent, name, envelope, a message (MPI-5.0 sections 3.2.2, 5.1.13
 * and 20.3). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check.h"

struct expected {
  MPI_Datatype type;
  const char* name;
  MPI_Count size, extent;
};

#define OF(handle, c_type) \
  { handle, #handle, sizeof(c_type), sizeof(c_type) }
#define BYTES(handle, size) \
  { handle, #handle, size, size }
struct long_double_int {
  long double value;
  int index;
};

static const struct expected all[] = {
    OF(MPI_CHAR, char),
    OF(MPI_SIGNED_CHAR, signed char),
    OF(MPI_UNSIGNED_CHAR, unsigned char),
    OF(MPI_SHORT, short),
    OF(MPI_UNSIGNED_SHORT, unsigned short),
    OF(MPI_INT, int),
    OF(MPI_UNSIGNED, unsigned),
    OF(MPI_LONG, long),
    OF(MPI_UNSIGNED_LONG, unsigned long),
    OF(MPI_LONG_LONG_INT, long long),
    OF(MPI_UNSIGNED_LONG_LONG, unsigned long long),
    OF(MPI_WCHAR, wchar_t),
    OF(MPI_FLOAT, float),
    OF(MPI_DOUBLE, double),
    OF(MPI_LONG_DOUBLE, long double),
    OF(MPI_C_BOOL, bool),
    OF(MPI_INT8_T, int8_t),
    OF(MPI_INT16_T, int16_t),
    OF(MPI_INT32_T, int32_t),
    OF(MPI_INT64_T, int64_t),
    OF(MPI_UINT8_T, uint8_t),
    OF(MPI_UINT16_T, uint16_t),
    OF(MPI_UINT32_T, uint32_t),
    OF(MPI_UINT64_T, uint64_t),
    OF(MPI_AINT, MPI_Aint),
    OF(MPI_COUNT, MPI_Count),
    OF(MPI_OFFSET, MPI_Offset),
    BYTES(MPI_C_COMPLEX, 2 * sizeof(float)),
    BYTES(MPI_C_DOUBLE_COMPLEX, 2 * sizeof(double)),
    BYTES(MPI_C_LONG_DOUBLE_COMPLEX, 2 * sizeof(long double)),
    BYTES(MPI_CXX_BOOL, 1),
    BYTES(MPI_CXX_FLOAT_COMPLEX, 2 * sizeof(float)),
    BYTES(MPI_CXX_DOUBLE_COMPLEX, 2 * sizeof(double)),
    BYTES(MPI_CXX_LONG_DOUBLE_COMPLEX, 2 * sizeof(long double)),
    BYTES(MPI_BYTE, 1),
    BYTES(MPI_PACKED, 1),
    BYTES(MPI_CHARACTER, 1),
    BYTES(MPI_LOGICAL, 4),
    BYTES(MPI_INTEGER, 4),
    BYTES(MPI_REAL, 4),
    BYTES(MPI_DOUBLE_PRECISION, 8),
    BYTES(MPI_COMPLEX, 8),
    BYTES(MPI_DOUBLE_COMPLEX, 16),
    BYTES(MPI_LOGICAL1, 1),
    BYTES(MPI_LOGICAL2, 2),
    BYTES(MPI_LOGICAL4, 4),
    BYTES(MPI_LOGICAL8, 8),
    BYTES(MPI_LOGICAL16, 16),
    BYTES(MPI_INTEGER1, 1),
    BYTES(MPI_INTEGER2, 2),
    BYTES(MPI_INTEGER4, 4),
    BYTES(MPI_INTEGER8, 8),
    BYTES(MPI_INTEGER16, 16),
    BYTES(MPI_REAL2, 2),
    BYTES(MPI_REAL4, 4),
    BYTES(MPI_REAL8, 8),
    BYTES(MPI_REAL16, 16),
    BYTES(MPI_COMPLEX4, 4),
    BYTES(MPI_COMPLEX8, 8),
    BYTES(MPI_COMPLEX16, 16),
    BYTES(MPI_COMPLEX32, 32),
    BYTES(MPI_2INT, 8),
    BYTES(MPI_2INTEGER, 8),
    BYTES(MPI_2REAL, 8),
    BYTES(MPI_2DOUBLE_PRECISION, 16),
    BYTES(MPI_FLOAT_INT, 8),
    {MPI_SHORT_INT, "MPI_SHORT_INT", 6, 8},
    {MPI_DOUBLE_INT, "MPI_DOUBLE_INT", 12, 16},
    {MPI_LONG_INT, "MPI_LONG_INT", sizeof(long) + 4, 2 * sizeof(long)},
    {MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", sizeof(long double) + 4, sizeof(struct long_double_int)},
};

static void check_facts(const struct expected* one) {
  char name[MPI_MAX_OBJECT_NAME];
  int length, integers, addresses, types, combiner;
  MPI_Count size, lb, extent;
  MPI_Datatype copy = one->type;
  CHECK_OK(MPI_Type_size_c(one->type, &size));
  CHECK_OK(MPI_Type_get_extent_c(one->type, &lb, &extent));
  if (size != one->size || lb != 0 || extent != one->extent)
    CHECK_FAILED("%s has %lld bytes and extent %lld", one->name, (long long)size, (long long)extent);
  CHECK_OK(MPI_Type_get_name(one->type, name, &length));
  CHECK_STR(name, one->name);
  CHECK_OK(MPI_Type_get_envelope(one->type, &integers, &addresses, &types, &combiner));
  CHECK(integers == 0 && addresses == 0 && types == 0 && combiner == MPI_COMBINER_NAMED);
  CHECK_CLASS(MPI_Type_free(&copy), MPI_ERR_TYPE);
}

/* Three elements; only their data arrives. */
static void check_message(const struct expected* one, int next, int previous) {
  unsigned char out[96], in[96], packed[96];
  int position = 0, count;
  MPI_Status status;
  for (int i = 0; i < 96; ++i) out[i] = (unsigned char)(i * 7 + 1);
  memset(in, 0, sizeof in);
  CHECK_OK(MPI_Sendrecv(out, 3, one->type, next, 1, in, 3, one->type, previous, 1, MPI_COMM_WORLD, &status));
  CHECK_OK(MPI_Get_count(&status, one->type, &count));
  CHECK_EQ(count, 3);
  CHECK_OK(MPI_Pack(in, 3, one->type, packed, sizeof packed, &position, MPI_COMM_WORLD));
  CHECK_EQ(position, 3 * one->size);
  if (one->size == one->extent) CHECK(memcmp(packed, out, (size_t)position) == 0);
  int same = 0;
  for (int i = 0; i < 3 * one->extent; ++i) same += in[i] == out[i];
  CHECK_EQ(same, 3 * one->size);
}

static MPI_Count external_size(const struct expected* one) {
  if (one->type == MPI_LONG || one->type == MPI_UNSIGNED_LONG) return 4;
  if (one->type == MPI_WCHAR) return 2;
  if (one->type == MPI_LONG_INT) return 8;
  return one->size;
}

/* Two elements through external32 and back: the number with the smallest bits (MPI-5.0 section 14.5.2). */
static void check_external(const struct expected* one) {
  unsigned char out[96] = {1}, in[96] = {0}, packed[96];
  MPI_Count size = 0, position = 0;
  CHECK_OK(MPI_Pack_external_size_c("external32", 2, one->type, &size));
  CHECK_EQ(size, 2 * external_size(one));
  CHECK_OK(MPI_Pack_external_c("external32", out, 2, one->type, packed, sizeof packed, &position));
  CHECK_EQ(position, size);
  position = 0;
  CHECK_OK(MPI_Unpack_external_c("external32", packed, size, &position, in, 2, one->type));
  if (memcmp(in, out, sizeof in) != 0) CHECK_FAILED("%s changes on its way through external32", one->name);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    check_facts(&all[i]);
    check_external(&all[i]);
    check_message(&all[i], (rank + 1) % size, (rank + size - 1) % size);
  }
  CHECK(MPI_C_FLOAT_COMPLEX == MPI_C_COMPLEX);
  CHECK(MPI_LONG_LONG == MPI_LONG_LONG_INT);
  MPI_Finalize();
  return check_result();
}
