/* The datatypes of the property tests: every predefined one, and derived ones with gaps, as the places of
   their numbers in an element. So buffers can be written and looked at without a call of MPI. */
#ifndef CLUMP_TESTS_KINDS_H
#define CLUMP_TESTS_KINDS_H

#include <float.h>
#include <stddef.h>
#include <stdint.h>

#include "check.h"

/* Holds every value of every integer type up to 64 bits. */
typedef __int128 wide;

enum format {
  kI8,
  kI16,
  kI32,
  kI64,
  kI128,
  kU8,
  kU16,
  kU32,
  kU64,
  kHalf,
  kFloat,
  kDouble,
  kLongDouble,
  kQuad
};

/* All whole numbers of so many bits are exact. Of x87's long double the last 6 bytes mean nothing. */
static const struct {
  int bytes, used_bytes, is_signed, bits;
} formats[] = {
    [kI8] = {1, 1, 1, 7},
    [kI16] = {2, 2, 1, 15},
    [kI32] = {4, 4, 1, 31},
    [kI64] = {8, 8, 1, 63},
    [kI128] = {16, 16, 1, 100},
    [kU8] = {1, 1, 0, 8},
    [kU16] = {2, 2, 0, 16},
    [kU32] = {4, 4, 0, 32},
    [kU64] = {8, 8, 0, 64},
    [kHalf] = {2, 2, 1, 11},
    [kFloat] = {4, 4, 1, FLT_MANT_DIG},
    [kDouble] = {8, 8, 1, DBL_MANT_DIG},
    [kLongDouble] = {16, LDBL_MANT_DIG == 64 ? 10 : 16, 1, LDBL_MANT_DIG < 100 ? LDBL_MANT_DIG : 100},
    [kQuad] = {16, 16, 1, 100},
};

/* What operations a type is for. */
enum category {
  kInteger = 1, /* of C */
  kFloating = 2,
  kLogical = 4,
  kComplex = 8,
  kByte = 16,
  kPair = 32,
  kNone = 64,
  kOtherInteger = 128, /* of Fortran and of no language: as C's, but without the logical operations */
  /* and those of this program's own */
  kMap = 256,
  kPackedMap = 512,
  kShort = 1024
};

enum { kMostParts = 6 };
typedef struct {
  MPI_Datatype type;
  const char* name;
  int category;
  int parts; /* in the order in which they are sent */
  struct {
    int offset;
    enum format format;
  } part[kMostParts];
  int is_ints;     /* all parts are of MPI_INT, and mean the same in another such type */
  int most;        /* so many elements do not overlap; 0: any number */
  int align;       /* what C wants */
  int reach;       /* the end of the last part */
  MPI_Aint extent; /* from here on it is found out by kinds_begin() */
} kind;

#define ONE(type, category, format) \
  { type, #type, category, 1, {{0, format}}, 0, 0, 0, 0, 0 }
#define TWO(type, category, format, offset, second) \
  { type, #type, category, 2, {{0, format}, {offset, second}}, 0, 0, 0, 0, 0 }
#define DERIVED(name) \
  { MPI_DATATYPE_NULL, name, kNone, 0, {{0, kI8}}, 0, 0, 0, 0, 0 }

/* The derived ones, at the end of the table. */
enum { kVector, kSolid, kShuffled, kAround, kColumn, kStruct, kBytes, kMapSolid, kMapGappy, kDerived };

static kind kinds[] = {
    ONE(MPI_CHAR, kNone, kI8),
    ONE(MPI_WCHAR, kNone, kI32),
    ONE(MPI_PACKED, kNone, kU8),
    ONE(MPI_BYTE, kByte, kU8),
    ONE(MPI_INT, kInteger, kI32),
    ONE(MPI_LONG, kInteger, kI64),
    ONE(MPI_SHORT, kInteger | kShort, kI16),
    ONE(MPI_UNSIGNED_SHORT, kInteger, kU16),
    ONE(MPI_UNSIGNED, kInteger, kU32),
    ONE(MPI_UNSIGNED_LONG, kInteger, kU64),
    ONE(MPI_LONG_LONG, kInteger, kI64),
    ONE(MPI_UNSIGNED_LONG_LONG, kInteger, kU64),
    ONE(MPI_SIGNED_CHAR, kInteger, kI8),
    ONE(MPI_UNSIGNED_CHAR, kInteger, kU8),
    ONE(MPI_INT8_T, kInteger, kI8),
    ONE(MPI_INT16_T, kInteger, kI16),
    ONE(MPI_INT32_T, kInteger, kI32),
    ONE(MPI_INT64_T, kInteger, kI64),
    ONE(MPI_UINT8_T, kInteger, kU8),
    ONE(MPI_UINT16_T, kInteger, kU16),
    ONE(MPI_UINT32_T, kInteger, kU32),
    ONE(MPI_UINT64_T, kInteger | kPackedMap, kU64),
    ONE(MPI_AINT, kOtherInteger, kI64),
    ONE(MPI_COUNT, kOtherInteger, kI64),
    ONE(MPI_OFFSET, kOtherInteger, kI64),
    ONE(MPI_INTEGER, kOtherInteger, kI32),
    ONE(MPI_INTEGER1, kOtherInteger, kI8),
    ONE(MPI_INTEGER2, kOtherInteger, kI16),
    ONE(MPI_INTEGER4, kOtherInteger, kI32),
    ONE(MPI_INTEGER8, kOtherInteger, kI64),
    ONE(MPI_INTEGER16, kOtherInteger, kI128),
    ONE(MPI_FLOAT, kFloating, kFloat),
    ONE(MPI_DOUBLE, kFloating, kDouble),
    ONE(MPI_LONG_DOUBLE, kFloating, kLongDouble),
    ONE(MPI_REAL, kFloating, kFloat),
    ONE(MPI_REAL2, kFloating, kHalf),
    ONE(MPI_REAL4, kFloating, kFloat),
    ONE(MPI_REAL8, kFloating, kDouble),
    ONE(MPI_REAL16, kFloating, kQuad),
    ONE(MPI_DOUBLE_PRECISION, kFloating, kDouble),
    ONE(MPI_C_BOOL, kLogical, kU8),
    ONE(MPI_CXX_BOOL, kLogical, kU8),
    ONE(MPI_LOGICAL, kLogical, kI32),
    ONE(MPI_LOGICAL1, kLogical, kI8),
    ONE(MPI_LOGICAL2, kLogical, kI16),
    ONE(MPI_LOGICAL4, kLogical, kI32),
    ONE(MPI_LOGICAL8, kLogical, kI64),
    TWO(MPI_C_FLOAT_COMPLEX, kComplex, kFloat, 4, kFloat),
    TWO(MPI_C_DOUBLE_COMPLEX, kComplex, kDouble, 8, kDouble),
    TWO(MPI_C_LONG_DOUBLE_COMPLEX, kComplex, kLongDouble, 16, kLongDouble),
    TWO(MPI_CXX_FLOAT_COMPLEX, kComplex, kFloat, 4, kFloat),
    TWO(MPI_CXX_DOUBLE_COMPLEX, kComplex, kDouble, 8, kDouble),
    TWO(MPI_CXX_LONG_DOUBLE_COMPLEX, kComplex, kLongDouble, 16, kLongDouble),
    TWO(MPI_COMPLEX, kComplex, kFloat, 4, kFloat),
    TWO(MPI_COMPLEX4, kComplex, kHalf, 2, kHalf),
    TWO(MPI_COMPLEX8, kComplex, kFloat, 4, kFloat),
    TWO(MPI_COMPLEX16, kComplex, kDouble, 8, kDouble),
    TWO(MPI_DOUBLE_COMPLEX, kComplex, kDouble, 8, kDouble),
    TWO(MPI_FLOAT_INT, kPair, kFloat, 4, kI32),
    TWO(MPI_DOUBLE_INT, kPair, kDouble, 8, kI32),
    TWO(MPI_LONG_INT, kPair, kI64, 8, kI32),
    TWO(MPI_2INT, kPair, kI32, 4, kI32),
    TWO(MPI_SHORT_INT, kPair, kI16, 4, kI32),
    TWO(MPI_LONG_DOUBLE_INT, kPair, kLongDouble, 16, kI32),
    TWO(MPI_2INTEGER, kPair, kI32, 4, kI32),
    TWO(MPI_2REAL, kPair, kFloat, 4, kFloat),
    TWO(MPI_2DOUBLE_PRECISION, kPair, kDouble, 8, kDouble),
    [67 + kVector] = DERIVED("a vector of 2 ints, resized"),
    [67 + kSolid] = DERIVED("3 ints, contiguous"),
    [67 + kShuffled] = DERIVED("6 ints, indexed, not in the order of their addresses"),
    [67 + kAround] = DERIVED("2 ints, one before the address of the element"),
    [67 + kColumn] = DERIVED("2 ints of a column, elements interleaved"),
    [67 + kStruct] = DERIVED("a struct of a char, a double and a short"),
    [67 + kBytes] = DERIVED("3 of each 7 bytes"),
    [67 + kMapSolid] = DERIVED("a map, contiguous"),
    [67 + kMapGappy] = DERIVED("a map with a gap"),
};
enum { kKinds = sizeof kinds / sizeof kinds[0], kPredefined = kKinds - kDerived };
_Static_assert(kPredefined == 67, "where the derived kinds begin");

/* Which of them there are: some of Fortran's are not in every library. */
static const kind* known_kinds[kKinds];
static int known;

static inline const kind* derived(int which) { return &kinds[kPredefined + which]; }

/* Those with parts of MPI_INT only, of which 6 can be sent as any number of elements of each. */
enum { kUnitInts = 6, kIntKinds = 6 };
static const kind* int_kinds[kIntKinds];

static inline void make_derived(int which, MPI_Datatype type, const int offsets[], int parts) {
  kind* k = &kinds[kPredefined + which];
  k->type = type;
  k->parts = parts;
  for (int p = 0; p < parts; ++p) {
    k->part[p].offset = offsets[p];
    k->part[p].format = kI32;
  }
  k->is_ints = 1;
}

static inline void make_int_kinds(void) {
  MPI_Datatype pair, type;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 16, &type);
  MPI_Type_free(&pair);
  make_derived(kVector, type, (const int[]){0, 8}, 2);

  MPI_Type_contiguous(3, MPI_INT, &type);
  make_derived(kSolid, type, (const int[]){0, 4, 8}, 3);

  MPI_Type_create_indexed_block(6, 1, (const int[]){7, 0, 5, 2, 4, 9}, MPI_INT, &type);
  make_derived(kShuffled, type, (const int[]){28, 0, 20, 8, 16, 36}, 6);

  MPI_Type_create_hindexed_block(2, 1, (const MPI_Aint[]){-8, 4}, MPI_INT, &pair);
  MPI_Type_create_resized(pair, -8, 16, &type);
  MPI_Type_free(&pair);
  make_derived(kAround, type, (const int[]){-8, 4}, 2);

  MPI_Type_vector(2, 1, 2048, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 4, &type);
  MPI_Type_free(&pair);
  make_derived(kColumn, type, (const int[]){0, 8192}, 2);
  kinds[kPredefined + kColumn].most = 2048;
}

static inline void make_other_kinds(void) {
  MPI_Datatype parts, type;
  kind* k = &kinds[kPredefined + kStruct];
  const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
  MPI_Type_create_struct(3, (const int[]){1, 1, 1}, (const MPI_Aint[]){1, 8, 18}, types, &parts);
  MPI_Type_create_resized(parts, 0, 24, &k->type);
  MPI_Type_free(&parts);
  k->parts = 3;
  k->part[0].offset = 1, k->part[0].format = kI8;
  k->part[1].offset = 8, k->part[1].format = kDouble;
  k->part[2].offset = 18, k->part[2].format = kI16;

  MPI_Type_create_indexed_block(3, 1, (const int[]){0, 1, 4}, MPI_BYTE, &parts);
  MPI_Type_create_resized(parts, 0, 7, &type);
  MPI_Type_free(&parts);
  make_derived(kBytes, type, (const int[]){0, 1, 4}, 3);
  k = &kinds[kPredefined + kBytes];
  k->is_ints = 0;
  for (int p = 0; p < 3; ++p) k->part[p].format = kU8;

  MPI_Type_contiguous(2, MPI_INT, &type);
  make_derived(kMapSolid, type, (const int[]){0, 4}, 2);
  MPI_Type_create_hindexed_block(2, 1, (const MPI_Aint[]){0, 12}, MPI_INT, &parts);
  MPI_Type_create_resized(parts, 0, 20, &type);
  MPI_Type_free(&parts);
  make_derived(kMapGappy, type, (const int[]){0, 12}, 2);
  kinds[kPredefined + kMapSolid].category = kinds[kPredefined + kMapGappy].category = kMap;
}

/* What MPI says of a type has to be what the table says. */
static inline void measure(kind* k) {
  int size = 0, bytes = 0;
  MPI_Aint low = 0;
  for (int p = 0; p < k->parts; ++p) {
    const int length = formats[k->part[p].format].bytes;
    bytes += length;
    if (length > k->align) k->align = length;
    if (k->part[p].offset + length > k->reach) k->reach = k->part[p].offset + length;
  }
  CHECK_OK(MPI_Type_size(k->type, &size));
  CHECK_EQ(size, bytes);
  CHECK_OK(MPI_Type_get_extent(k->type, &low, &k->extent));
}

static inline void kinds_begin(void) {
  make_int_kinds();
  make_other_kinds();
  for (int i = 0; i < kKinds; ++i) {
    if (kinds[i].type == MPI_DATATYPE_NULL) continue;
    if (i >= kPredefined) CHECK_OK(MPI_Type_commit(&kinds[i].type));
    measure(&kinds[i]);
    known_kinds[known++] = &kinds[i];
    if (kinds[i].type == MPI_INT) int_kinds[0] = &kinds[i];
  }
  int_kinds[1] = derived(kVector);
  int_kinds[2] = derived(kSolid);
  int_kinds[3] = derived(kShuffled);
  int_kinds[4] = derived(kAround);
  int_kinds[5] = derived(kMapSolid);
}

static inline void kinds_end(void) {
  for (int i = kPredefined; i < kKinds; ++i) MPI_Type_free(&kinds[i].type);
}

/* Bytes in an element that are data. */
static inline int data_bytes(const kind* k) {
  int bytes = 0;
  for (int p = 0; p < k->parts; ++p) bytes += formats[k->part[p].format].bytes;
  return bytes;
}

#endif
