/* Every predefined operation on every predefined type that the standard allows for it (MPI-5.0 sections 6.9.2
   to 6.9.4), against a loop over the ranks' operands; and the pairs that it does not allow. */
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

#include "forms.h"

enum { kCount = 7, kLargestElement = 64 };
enum category {
  kInteger = 1, /* of C */
  kFloating = 2,
  kLogical = 4,
  kComplex = 8,
  kByte = 16,
  kPair = 32,
  kNone = 64,
  kOtherInteger = 128 /* of Fortran and of no language: as C's, but without the logical operations */
};

static int rank, size;

static const struct {
  MPI_Op op;
  const char* name;
  int categories;
} operations[] = {
    {MPI_MAX, "MPI_MAX", kInteger | kOtherInteger | kFloating},
    {MPI_MIN, "MPI_MIN", kInteger | kOtherInteger | kFloating},
    {MPI_SUM, "MPI_SUM", kInteger | kOtherInteger | kFloating | kComplex},
    {MPI_PROD, "MPI_PROD", kInteger | kOtherInteger | kFloating | kComplex},
    {MPI_LAND, "MPI_LAND", kInteger | kLogical},
    {MPI_LOR, "MPI_LOR", kInteger | kLogical},
    {MPI_LXOR, "MPI_LXOR", kInteger | kLogical},
    {MPI_BAND, "MPI_BAND", kInteger | kOtherInteger | kByte},
    {MPI_BOR, "MPI_BOR", kInteger | kOtherInteger | kByte},
    {MPI_BXOR, "MPI_BXOR", kInteger | kOtherInteger | kByte},
    {MPI_MAXLOC, "MPI_MAXLOC", kPair},
    {MPI_MINLOC, "MPI_MINLOC", kPair},
};
enum { kOperations = sizeof operations / sizeof operations[0] };

/* Small operands: every result is exact in every type. */
static int operand(MPI_Op op, int of_rank, int i) {
  if (op == MPI_PROD) return of_rank < 4 ? 1 + (of_rank + i) % 2 : 1;
  if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR) return (of_rank * 5 + i * 3) % 4 < (i % 2 ? 1 : 3);
  return (of_rank * 7 + i * 3) % 5;
}

static int combine(MPI_Op op, int a, int b) {
  if (op == MPI_MAX) return a > b ? a : b;
  if (op == MPI_MIN) return a < b ? a : b;
  if (op == MPI_SUM) return a + b;
  if (op == MPI_PROD) return a * b;
  if (op == MPI_LAND) return a && b;
  if (op == MPI_LOR) return a || b;
  if (op == MPI_LXOR) return !a != !b;
  if (op == MPI_BAND) return a & b;
  if (op == MPI_BOR) return a | b;
  return a ^ b;
}

static int reduced(MPI_Op op, int i) {
  int value = operand(op, 0, i);
  for (int r = 1; r < size; ++r) value = combine(op, value, operand(op, r, i));
  return value;
}

/* For each C type: how an element is written and read. */
#define ACCESS(name, type)                                                             \
  static void put_##name(void* at, int i, int value) { ((type*)at)[i] = (type)value; } \
  static int get_##name(const void* at, int i) { return (int)((const type*)at)[i]; }
ACCESS(int8, int8_t)
ACCESS(int16, int16_t)
ACCESS(int32, int32_t)
ACCESS(int64, int64_t)
ACCESS(uint8, uint8_t)
ACCESS(uint16, uint16_t)
ACCESS(uint32, uint32_t)
ACCESS(uint64, uint64_t)
ACCESS(float, float)
ACCESS(double, double)
ACCESS(long_double, long double)
ACCESS(bool, bool)
ACCESS(int128, __int128)
#if defined(__x86_64__)
ACCESS(quad, __float128)
#else
ACCESS(quad, long double)
#endif

/* A Fortran LOGICAL is 0 or 1 in an int. */
static void put_logical(void* at, int i, int value) { ((int*)at)[i] = value != 0; }
static int get_logical(const void* at, int i) { return ((const int*)at)[i]; }

/* The imaginary part of these operands is 0; test_complex_product() has others. */
#define ACCESS_COMPLEX(name, type, part)                                                 \
  static void put_##name(void* at, int i, int value) { ((type complex*)at)[i] = value; } \
  static int get_##name(const void* at, int i) {                                         \
    if (cimag##part(((const type complex*)at)[i]) != 0) return -1000;                    \
    return (int)creal##part(((const type complex*)at)[i]);                               \
  }
ACCESS_COMPLEX(float_complex, float, f)
ACCESS_COMPLEX(double_complex, double, )
ACCESS_COMPLEX(long_double_complex, long double, l)

/* Half precision, which not every C compiler has: small whole numbers. */
static void put_half(void* at, int i, int value) {
  uint16_t bits = 0;
  if (value != 0) {
    int exponent = 0;
    while (value >> (exponent + 1) != 0) ++exponent;
    bits = (uint16_t)((exponent + 15) << 10 | ((value << 10 >> exponent) & 1023));
  }
  ((uint16_t*)at)[i] = bits;
}
static int get_half(const void* at, int i) {
  const int bits = ((const uint16_t*)at)[i], exponent = (bits >> 10) - 15;
  if (bits == 0) return 0;
  return exponent < 0 || exponent > 10 ? -1000 : (1024 | (bits & 1023)) >> (10 - exponent);
}
static void put_half_complex(void* at, int i, int value) {
  put_half(at, 2 * i, value);
  put_half(at, 2 * i + 1, 0);
}
static int get_half_complex(const void* at, int i) {
  return (((const uint16_t*)at)[2 * i + 1] & 0x7fff) != 0 ? -1000 : get_half(at, 2 * i);
}

static void put_none(void* at, int i, int value) { (void)at, (void)i, (void)value; }
static int get_none(const void* at, int i) { return (void)at, i; }

typedef struct {
  MPI_Datatype type;
  const char* name;
  int category;
  void (*put)(void*, int, int);
  int (*get)(const void*, int);
} type_row;

#define ROW(type, category, access) \
  { type, #type, category, put_##access, get_##access }
static const type_row types[] = {
    ROW(MPI_INT, kInteger, int32),
    ROW(MPI_LONG, kInteger, int64),
    ROW(MPI_SHORT, kInteger, int16),
    ROW(MPI_UNSIGNED_SHORT, kInteger, uint16),
    ROW(MPI_UNSIGNED, kInteger, uint32),
    ROW(MPI_UNSIGNED_LONG, kInteger, uint64),
    ROW(MPI_LONG_LONG, kInteger, int64),
    ROW(MPI_UNSIGNED_LONG_LONG, kInteger, uint64),
    ROW(MPI_SIGNED_CHAR, kInteger, int8),
    ROW(MPI_UNSIGNED_CHAR, kInteger, uint8),
    ROW(MPI_INT8_T, kInteger, int8),
    ROW(MPI_INT16_T, kInteger, int16),
    ROW(MPI_INT32_T, kInteger, int32),
    ROW(MPI_INT64_T, kInteger, int64),
    ROW(MPI_UINT8_T, kInteger, uint8),
    ROW(MPI_UINT16_T, kInteger, uint16),
    ROW(MPI_UINT32_T, kInteger, uint32),
    ROW(MPI_UINT64_T, kInteger, uint64),
    /* Of these the standard has no logical operations, and of characters none, but all libraries take them.
     */
    ROW(MPI_AINT, kInteger, int64),
    ROW(MPI_COUNT, kInteger, int64),
    ROW(MPI_OFFSET, kInteger, int64),
    ROW(MPI_CHAR, kInteger, int8),
    ROW(MPI_FLOAT, kFloating, float),
    ROW(MPI_DOUBLE, kFloating, double),
    ROW(MPI_LONG_DOUBLE, kFloating, long_double),
    ROW(MPI_C_BOOL, kLogical, bool),
    ROW(MPI_C_FLOAT_COMPLEX, kComplex, float_complex),
    ROW(MPI_C_DOUBLE_COMPLEX, kComplex, double_complex),
    ROW(MPI_C_LONG_DOUBLE_COMPLEX, kComplex, long_double_complex),
    ROW(MPI_CXX_BOOL, kLogical, bool),
    ROW(MPI_CXX_FLOAT_COMPLEX, kComplex, float_complex),
    ROW(MPI_CXX_DOUBLE_COMPLEX, kComplex, double_complex),
    ROW(MPI_CXX_LONG_DOUBLE_COMPLEX, kComplex, long_double_complex),
    ROW(MPI_INTEGER, kOtherInteger, int32),
    ROW(MPI_INTEGER1, kOtherInteger, int8),
    ROW(MPI_INTEGER2, kOtherInteger, int16),
    ROW(MPI_INTEGER4, kOtherInteger, int32),
    ROW(MPI_INTEGER8, kOtherInteger, int64),
    ROW(MPI_REAL, kFloating, float),
    ROW(MPI_REAL4, kFloating, float),
    ROW(MPI_REAL8, kFloating, double),
    ROW(MPI_DOUBLE_PRECISION, kFloating, double),
    ROW(MPI_COMPLEX, kComplex, float_complex),
    ROW(MPI_COMPLEX8, kComplex, float_complex),
    ROW(MPI_COMPLEX16, kComplex, double_complex),
    ROW(MPI_DOUBLE_COMPLEX, kComplex, double_complex),
    ROW(MPI_LOGICAL, kLogical, logical),
    ROW(MPI_INTEGER16, kOtherInteger, int128),
    ROW(MPI_REAL2, kFloating, half),
    ROW(MPI_REAL16, kFloating, quad),
    ROW(MPI_COMPLEX4, kComplex, half_complex),
    ROW(MPI_LOGICAL1, kLogical, uint8),
    ROW(MPI_LOGICAL2, kLogical, uint16),
    ROW(MPI_LOGICAL4, kLogical, uint32),
    ROW(MPI_LOGICAL8, kLogical, uint64),
    ROW(MPI_BYTE, kByte, uint8),
    ROW(MPI_WCHAR, kNone, none),
    ROW(MPI_PACKED, kNone, none),
    ROW(MPI_FLOAT_INT, kPair, none),
    ROW(MPI_DOUBLE_INT, kPair, none),
    ROW(MPI_LONG_INT, kPair, none),
    ROW(MPI_2INT, kPair, none),
    ROW(MPI_SHORT_INT, kPair, none),
    ROW(MPI_LONG_DOUBLE_INT, kPair, none),
    ROW(MPI_2INTEGER, kPair, none),
    ROW(MPI_2REAL, kPair, none),
    ROW(MPI_2DOUBLE_PRECISION, kPair, none),
};
enum { kTypes = sizeof types / sizeof types[0] };

static void test_values(int o, const type_row* t) {
  _Alignas(64) char in[(kCount + 1) * kLargestElement], out[(kCount + 1) * kLargestElement];
  const MPI_Op op = operations[o].op;
  memset(in, 0, sizeof in);
  memset(out, 0x5a, sizeof out);
  for (int i = 0; i < kCount; ++i) t->put(in, i, operand(op, rank, i));
  CHECK_OK(form_allreduce(in, out, kCount, t->type, op, MPI_COMM_WORLD));
  for (int i = 0; i < kCount; ++i)
    if (t->get(out, i) != reduced(op, i))
      CHECK_FAILED("%s on %s: element %d is %d instead of %d", operations[o].name, t->name, i, t->get(out, i),
                   reduced(op, i));
  int element = 0;
  MPI_Type_size(t->type, &element);
  for (int b = 0; b < 16; ++b) CHECK_EQ(out[kCount * element + b], 0x5a);
}

/* Pairs of a value and an index: of equal values the smaller index wins. */
#define TEST_PAIR(name, value_type, index_type, mpi_type)                                                   \
  static void test_##name(int maximum) {                                                                    \
    struct pair {                                                                                           \
      value_type value;                                                                                     \
      index_type index;                                                                                     \
    } in[kCount], out[kCount];                                                                              \
    memset(in, 0, sizeof in);                                                                               \
    for (int i = 0; i < kCount; ++i) {                                                                      \
      in[i].value = (value_type)((rank * 7 + i) % 3);                                                       \
      in[i].index = 100 - rank;                                                                             \
    }                                                                                                       \
    CHECK_OK(form_allreduce(in, out, kCount, mpi_type, maximum ? MPI_MAXLOC : MPI_MINLOC, MPI_COMM_WORLD)); \
    for (int i = 0; i < kCount; ++i) {                                                                      \
      int value = i % 3, index = 100;                                                                       \
      for (int r = 1; r < size; ++r) {                                                                      \
        const int v = (r * 7 + i) % 3;                                                                      \
        if (maximum ? v >= value : v <= value) value = v, index = 100 - r;                                  \
      }                                                                                                     \
      if ((int)out[i].value != value || (int)out[i].index != index)                                         \
        CHECK_FAILED("%s on %s: element %d is (%d, %d) instead of (%d, %d)",                                \
                     maximum ? "MPI_MAXLOC" : "MPI_MINLOC", #mpi_type, i, (int)out[i].value,                \
                     (int)out[i].index, value, index);                                                      \
    }                                                                                                       \
  }
TEST_PAIR(float_int, float, int, MPI_FLOAT_INT)
TEST_PAIR(double_int, double, int, MPI_DOUBLE_INT)
TEST_PAIR(long_int, long, int, MPI_LONG_INT)
TEST_PAIR(two_int, int, int, MPI_2INT)
TEST_PAIR(short_int, short, int, MPI_SHORT_INT)
TEST_PAIR(long_double_int, long double, int, MPI_LONG_DOUBLE_INT)

TEST_PAIR(two_integer, int, int, MPI_2INTEGER)
TEST_PAIR(two_real, float, float, MPI_2REAL)
TEST_PAIR(two_double_precision, double, double, MPI_2DOUBLE_PRECISION)

static void test_complex_product(void) {
  double complex mine = 1 + (rank % 2) * I, all = 0, expected = 1;
  for (int r = 0; r < size; ++r) expected *= 1 + (r % 2) * I;
  CHECK_OK(form_allreduce(&mine, &all, 1, MPI_C_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD));
  CHECK_NEAR(creal(all), creal(expected), 1e-9);
  CHECK_NEAR(cimag(all), cimag(expected), 1e-9);
}

static void test_not_allowed(int o, const type_row* t) {
  _Alignas(64) char in[kLargestElement] = {0}, out[kLargestElement];
  const int code = form_allreduce(in, out, 1, t->type, operations[o].op, MPI_COMM_WORLD);
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  if (class != MPI_ERR_OP)
    CHECK_FAILED("%s on %s gives error class %d, not MPI_ERR_OP", operations[o].name, t->name, class);
}

static void test_form(void) {
  for (int o = 0; o < kOperations; ++o)
    for (int t = 0; t < kTypes; ++t) {
      if (!(operations[o].categories & types[t].category)) {
        /* Logical operations on such integers are an extension of some libraries. */
        if (types[t].category != kOtherInteger) test_not_allowed(o, &types[t]);
      } else if (types[t].category != kPair) {
        test_values(o, &types[t]);
      }
    }
  for (int maximum = 0; maximum < 2; ++maximum) {
    test_float_int(maximum);
    test_double_int(maximum);
    test_long_int(maximum);
    test_two_int(maximum);
    test_short_int(maximum);
    test_long_double_int(maximum);
    test_two_integer(maximum);
    test_two_real(maximum);
    test_two_double_precision(maximum);
  }
  test_complex_product();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (form = kBlocking; form < kForms; ++form) test_form();
  MPI_Finalize();
  return check_result();
}
