/* Reductions for part coll: operands that follow from a seed, and their reduction in the order of ranks
 * without MPI. */
#ifndef CLUMP_TESTS_FUZZ_REDUCE_H
#define CLUMP_TESTS_FUZZ_REDUCE_H

#include "fuzz.h"

/* Of the last three, the functions are the program's; x -> a x + b under composition is not commutative. */
enum {
  kSumInt,
  kSumDouble,
  kMaxInt,
  kMinDouble,
  kXor,
  kAnd,
  kProduct,
  kMaxloc,
  kMinloc,
  kLogical,
  kSumFloat,
  kMine,
  kMineGaps,
  kMineSum,
  kReductions
};
typedef struct {
  double value;
  int place;
} Located;
typedef struct {
  int value, place;
} Pair;
typedef struct {
  uint32_t a, b;
} Affine;

/* How far operands are apart, and how many bytes of each count. */
static inline int extent_of(int reduction) {
  static const int extents[] = {4, 8, 4, 8, 8, 1, 4, 16, 8, 4, 4, 8, 12, 12};
  return extents[reduction];
}
static inline int value_bytes(int reduction) {
  return reduction == kMineGaps  ? 8
         : reduction == kMineSum ? 4
         : reduction == kMaxloc  ? 12
                                 : extent_of(reduction);
}

/* The function of an operation finds the type that was given with the call, also when the caller has freed
 * its own. */
static inline void check_type(MPI_Datatype type, int wanted) {
  int size = -1;
  MPI_Type_size(type, &size);
  CHECK(size == wanted, "the function of an operation gets a type of %d bytes, not %d", size, wanted);
}
static inline void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint bound = 0, extent = 0;
  check_type(*type, 8);
  MPI_Type_get_extent(*type, &bound, &extent);
  for (int i = 0; i < *count; i++) {
    const Affine x = *(Affine*)((char*)in + i * extent), y = *(Affine*)((char*)inout + i * extent);
    *(Affine*)((char*)inout + i * extent) = (Affine){x.a * y.a, x.a * y.b + x.b};
  }
}
static inline void sum_with_gaps(void* in, void* inout, int* count, MPI_Datatype* type) {
  check_type(*type, 4);
  for (int i = 0; i < *count; i++) ((uint32_t*)inout)[3 * i] += ((uint32_t*)in)[3 * i];
}
/* The operation and the type; those of the program's own are made here, and belong to the caller. */
static inline int make_reduction(int reduction, MPI_Op* op, MPI_Datatype* type) {
  const MPI_Op ops[] = {MPI_SUM,  MPI_SUM,    MPI_MAX,    MPI_MIN,  MPI_BXOR, MPI_BAND,
                        MPI_PROD, MPI_MAXLOC, MPI_MINLOC, MPI_LAND, MPI_SUM};
  const MPI_Datatype types[] = {MPI_INT,      MPI_DOUBLE,     MPI_INT,  MPI_DOUBLE, MPI_UINT64_T, MPI_UINT8_T,
                                MPI_UINT32_T, MPI_DOUBLE_INT, MPI_2INT, MPI_INT,    MPI_FLOAT};
  if (reduction < kMine) {
    *op = ops[reduction];
    *type = types[reduction];
    return 0;
  }
  MPI_Datatype dense;
  MPI_Type_contiguous(reduction == kMineSum ? 1 : 2, MPI_UINT32_T, &dense);
  MPI_Type_create_resized(dense, 0, extent_of(reduction), type);
  MPI_Type_commit(type);
  MPI_Type_free(&dense);
  MPI_Op_create(reduction == kMineSum ? sum_with_gaps : compose, reduction == kMineSum, op);
  return 1;
}

static inline void operand(int reduction, uint64_t data, int rank, long i, char* at) {
  const uint64_t v = mixed(mixed(data + (uint64_t)rank) + (uint64_t)i * 0x9e3779b97f4a7c15u);
  const int small = (int)(v % 200) - 100;
  switch (reduction) {
    case kSumDouble:
    case kMinDouble:
      *(double*)at = small;
      break;
    case kXor:
      memcpy(at, &v, 8);
      break;
    case kAnd:
      *at = (char)(v | v >> 9);
      break;
    case kMaxloc:
      ((Located*)at)->value = small / 10;
      ((Located*)at)->place = rank * 3 + 1;
      break;
    case kMinloc:
      *(Pair*)at = (Pair){small / 10, rank * 3 + 1};
      break;
    case kLogical:
      *(int*)at = v % 5 ? (int)(v % 7) : 0;
      break;
    case kSumFloat:
      *(float*)at = (float)small;
      break;
    case kMine:
    case kMineGaps:
      *(Affine*)at = (Affine){(uint32_t)v | 1, (uint32_t)(v >> 32)};
      break;
    case kProduct:
    case kMineSum:
      *(uint32_t*)at = (uint32_t)v | 1;
      break;
    default:
      *(int*)at = small;
  }
}
/* Of two located values: one that is better by something, or as good and at a lower place. */
static inline int wins(double better, int place, int other) {
  return better > 0 || (better == 0 && place < other);
}
/* result = result op x */
static inline void fold(int reduction, char* result, const char* x) {
  switch (reduction) {
    case kSumInt:
      *(int*)result += *(const int*)x;
      break;
    case kSumDouble:
      *(double*)result += *(const double*)x;
      break;
    case kMaxInt:
      if (*(const int*)x > *(int*)result) *(int*)result = *(const int*)x;
      break;
    case kMinDouble:
      if (*(const double*)x < *(double*)result) *(double*)result = *(const double*)x;
      break;
    case kXor:
      *(uint64_t*)result ^= *(const uint64_t*)x;
      break;
    case kAnd:
      *result &= *x;
      break;
    case kProduct:
      *(uint32_t*)result *= *(const uint32_t*)x;
      break;
    case kMaxloc:
      if (wins(((const Located*)x)->value - ((Located*)result)->value, ((const Located*)x)->place,
               ((Located*)result)->place))
        memcpy(result, x, 12);
      break;
    case kMinloc:
      if (wins(((Pair*)result)->value - ((const Pair*)x)->value, ((const Pair*)x)->place,
               ((Pair*)result)->place))
        memcpy(result, x, 8);
      break;
    case kLogical:
      *(int*)result = *(int*)result && *(const int*)x;
      break;
    case kSumFloat:
      *(float*)result += *(const float*)x;
      break;
    case kMineSum:
      *(uint32_t*)result += *(const uint32_t*)x;
      break;
    default: {
      const Affine a = *(Affine*)result, b = *(const Affine*)x;
      *(Affine*)result = (Affine){a.a * b.a, a.a * b.b + a.b};
    }
  }
}
/* Puts the operands first to first + count - 1 of `rank` at `to`. */
static inline void put_operands(int reduction, uint64_t data, int rank, long first, long count, char* to) {
  _Alignas(16) char value[16];
  for (long i = 0; i < count; i++) {
    operand(reduction, data, rank, first + i, value);
    memcpy(to + i * extent_of(reduction), value, (size_t)value_bytes(reduction));
  }
}
/* Puts the reduction of the operands of `ranks` there. */
static inline void put_results(int reduction, uint64_t data, const int* ranks, int n, long first, long count,
                               char* to) {
  _Alignas(16) char value[16], result[16];
  for (long i = 0; i < count; i++) {
    operand(reduction, data, ranks[0], first + i, result);
    for (int j = 1; j < n; j++) {
      operand(reduction, data, ranks[j], first + i, value);
      fold(reduction, result, value);
    }
    memcpy(to + i * extent_of(reduction), result, (size_t)value_bytes(reduction));
  }
}

#endif
