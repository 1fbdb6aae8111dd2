/* The operations of the property tests: what each rank's operand is, which all ranks can tell, and what comes
   of two of them. Operands are such that every result is exact in every type and in every order that the
   operation allows, so that results can be compared bit by bit. */
#ifndef CLUMP_TESTS_VALUES_H
#define CLUMP_TESTS_VALUES_H

#include "kinds.h"

/* A number; or the parts of a complex one, of a pair or of a map. */
typedef struct {
  wide a, b;
} value;

/* The scrambling function of SplitMix64: all bits of the result depend on all of x. */
static inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}
static inline uint64_t mix_of(uint64_t x, uint64_t y) { return mix(mix(x) ^ y); }

/* A sequence of random numbers. */
typedef uint64_t dice;
static inline uint64_t roll(dice* d) { return mix(*d += 0x9e3779b97f4a7c15u); }
static inline int below(dice* d, int bound) { return (int)(roll(d) % (uint64_t)bound); }

/* Half precision, which not every C compiler has: whole numbers. */
static inline uint16_t half_of(wide v) {
  const uint16_t sign = v < 0 ? 0x8000 : 0;
  const int whole = (int)(v < 0 ? -v : v);
  int exponent = 0;
  if (whole == 0) return 0;
  while (whole >> (exponent + 1) != 0) ++exponent;
  return (uint16_t)(sign | (exponent + 15) << 10 | ((whole << 10 >> exponent) & 1023));
}

static inline void put_number(enum format format, void* at, wide v) {
#if defined(__x86_64__)
  typedef __float128 quad;
#else
  typedef long double quad;
#endif
  const size_t bytes = (size_t)formats[format].used_bytes;
  switch (format) {
    case kHalf:
      memcpy(at, &(uint16_t){half_of(v)}, bytes);
      break;
    case kFloat:
      memcpy(at, &(float){(float)v}, bytes);
      break;
    case kDouble:
      memcpy(at, &(double){(double)v}, bytes);
      break;
    case kLongDouble:
      memcpy(at, &(long double){(long double)v}, bytes);
      break;
    case kQuad:
      memcpy(at, &(quad){(quad)v}, bytes);
      break;
    default: /* the lowest bytes come first */
      memcpy(at, &v, bytes);
  }
}

static inline void put_value(const kind* k, unsigned char* at, value v) {
  put_number(k->part[0].format, at + k->part[0].offset, v.a);
  if (k->parts > 1) put_number(k->part[1].format, at + k->part[1].offset, v.b);
}

enum operation {
  kMax,
  kMin,
  kSum,
  kProd,
  kLand,
  kLor,
  kLxor,
  kBand,
  kBor,
  kBxor,
  kMaxloc,
  kMinloc,
  /* the user's */
  kCompose,       /* of maps: does not commute */
  kAdd,           /* of maps: commutes */
  kComposePacked, /* of maps in a number: does not commute, on a predefined type */
  kSmaller,       /* of numbers: commutes, on a predefined type */
  kOperations
};

static struct {
  MPI_Op op;
  const char* name;
  int categories;
} operations[kOperations] = {
    [kMax] = {MPI_MAX, "MPI_MAX", kInteger | kOtherInteger | kFloating},
    [kMin] = {MPI_MIN, "MPI_MIN", kInteger | kOtherInteger | kFloating},
    [kSum] = {MPI_SUM, "MPI_SUM", kInteger | kOtherInteger | kFloating | kComplex},
    [kProd] = {MPI_PROD, "MPI_PROD", kInteger | kOtherInteger | kFloating | kComplex},
    [kLand] = {MPI_LAND, "MPI_LAND", kInteger | kLogical},
    [kLor] = {MPI_LOR, "MPI_LOR", kInteger | kLogical},
    [kLxor] = {MPI_LXOR, "MPI_LXOR", kInteger | kLogical},
    [kBand] = {MPI_BAND, "MPI_BAND", kInteger | kOtherInteger | kByte},
    [kBor] = {MPI_BOR, "MPI_BOR", kInteger | kOtherInteger | kByte},
    [kBxor] = {MPI_BXOR, "MPI_BXOR", kInteger | kOtherInteger | kByte},
    [kMaxloc] = {MPI_MAXLOC, "MPI_MAXLOC", kPair},
    [kMinloc] = {MPI_MINLOC, "MPI_MINLOC", kPair},
    [kCompose] = {MPI_OP_NULL, "composition", kMap},
    [kAdd] = {MPI_OP_NULL, "addition of maps", kMap},
    [kComposePacked] = {MPI_OP_NULL, "composition of packed maps", kPackedMap},
    [kSmaller] = {MPI_OP_NULL, "a minimum of the user's", kShort},
};

/* Maps are x -> a x + b modulo a prime; packed ones modulo 2^32, with a in the upper half. */
enum { kPrime = 10007 };

static inline uint64_t compose_numbers(uint64_t left, uint64_t right) {
  const uint32_t a = (uint32_t)(left >> 32), b = (uint32_t)left;
  const uint32_t c = (uint32_t)(right >> 32), d = (uint32_t)right;
  return (uint64_t)(a * c) << 32 | (uint32_t)(a * d + b);
}

static inline value complex_product(value x, value y) {
  return (value){x.a * y.a - x.b * y.b, x.a * y.b + x.b * y.a};
}

/* Of equal values the smaller index. */
static inline value better(value x, value y, int maximum) {
  if (x.a == y.a) return x.b < y.b ? x : y;
  return (x.a > y.a) == maximum ? x : y;
}

/* x is of lower ranks. */
static inline value combine(enum operation operation, value x, value y) {
  switch (operation) {
    case kMax:
      return x.a > y.a ? x : y;
    case kMin:
    case kSmaller:
      return x.a < y.a ? x : y;
    case kSum:
      return (value){x.a + y.a, x.b + y.b};
    case kProd:
      return complex_product(x, y);
    case kLand:
      return (value){x.a && y.a, 0};
    case kLor:
      return (value){x.a || y.a, 0};
    case kLxor:
      return (value){!x.a != !y.a, 0};
    case kBand:
      return (value){x.a & y.a, 0};
    case kBor:
      return (value){x.a | y.a, 0};
    case kBxor:
      return (value){x.a ^ y.a, 0};
    case kMaxloc:
    case kMinloc:
      return better(x, y, operation == kMaxloc);
    case kCompose:
      return (value){x.a * y.a % kPrime, (x.a * y.b + x.b) % kPrime};
    case kAdd:
      return (value){(x.a + y.a) % kPrime, (x.b + y.b) % kPrime};
    default:
      return (value){(wide)compose_numbers((uint64_t)x.a, (uint64_t)y.a), 0};
  }
}

/* The same functions as the library calls them. */
static inline const kind* kind_of_map(MPI_Datatype type) {
  const kind* k = type == derived(kMapGappy)->type ? derived(kMapGappy) : derived(kMapSolid);
  CHECK(type == k->type);
  return k;
}

static inline value get_map(const kind* k, const unsigned char* at) {
  int a, b;
  memcpy(&a, at + k->part[0].offset, sizeof a);
  memcpy(&b, at + k->part[1].offset, sizeof b);
  return (value){a, b};
}

static inline void combine_maps(enum operation operation, void* in, void* inout, MPI_Count length,
                                MPI_Datatype type) {
  const kind* k = kind_of_map(type);
  for (MPI_Count i = 0; i < length; ++i) {
    unsigned char *left = (unsigned char*)in + i * k->extent, *right = (unsigned char*)inout + i * k->extent;
    put_value(k, right, combine(operation, get_map(k, left), get_map(k, right)));
  }
}

static inline void compose(void* in, void* inout, int* length, MPI_Datatype* type) {
  combine_maps(kCompose, in, inout, *length, *type);
}

static inline void add(void* in, void* inout, int* length, MPI_Datatype* type) {
  combine_maps(kAdd, in, inout, *length, *type);
}

static inline void compose_packed(void* in, void* inout, MPI_Count* length, MPI_Datatype* type) {
  const uint64_t* left = in;
  uint64_t* right = inout;
  CHECK(*type == MPI_UINT64_T);
  for (MPI_Count i = 0; i < *length; ++i) right[i] = compose_numbers(left[i], right[i]);
}

static inline void smaller(void* in, void* inout, int* length, MPI_Datatype* type) {
  const short* left = in;
  short* right = inout;
  CHECK(*type == MPI_SHORT);
  for (int i = 0; i < *length; ++i)
    if (left[i] < right[i]) right[i] = left[i];
}

static inline void operations_begin(void) {
  CHECK_OK(MPI_Op_create(compose, 0, &operations[kCompose].op));
  CHECK_OK(MPI_Op_create(add, 1, &operations[kAdd].op));
  CHECK_OK(MPI_Op_create_c(compose_packed, 0, &operations[kComposePacked].op));
  CHECK_OK(MPI_Op_create(smaller, 1, &operations[kSmaller].op));
}

static inline void operations_end(void) {
  for (int i = kCompose; i < kOperations; ++i) MPI_Op_free(&operations[i].op);
}

/* From -limit or 0 to limit. */
static inline wide number(uint64_t random, wide limit, int is_signed) {
  const wide bits = (wide)mix(random) << 60 ^ random;
  const wide size = limit <= INT64_MAX ? (wide)(random >> 1) % ((uint64_t)limit + 1) : bits & limit;
  return is_signed && (mix(random) >> 7) % 2 != 0 ? -size : size;
}

/* Factors that are not 1 are few enough for the product to be exact. Of complex ones two at most have an
   imaginary part: so no zero gets a sign that depends on the order. */
static inline value factor(const kind* k, uint64_t random, int position) {
  static const value crooked[] = {{2, 1}, {1, 2}, {3, 1}, {1, 3}};
  const int is_complex = (k->category & kComplex) != 0;
  const int most = formats[k->part[0].format].bits / 2; /* a factor has less than 2 bits */
  if (is_complex && position < 2) return crooked[random % 4];
  if (position + (is_complex ? 2 : 0) >= most) return (value){1, 0};
  const int sign = formats[k->part[0].format].is_signed && !is_complex && (random >> 8) % 2 != 0 ? -1 : 1;
  return (value){sign * (1 + (wide)(random % 3)), 0};
}

/* True or false; true is any number of an integer type, 1 of a logical one. So that `and` is not always
   false, nor `or` always true, some elements are alike on all ranks, or on all but one. */
static inline wide truth(const kind* k, uint64_t of_element, uint64_t random, int is_odd) {
  const int which = (int)(of_element % 5);
  const int is_true = which < 2 ? (which == 0) != is_odd : which == 2 ? random % 2 != 0 : which == 3;
  if (!is_true) return 0;
  if (k->category & kLogical) return 1;
  return (wide)1 << (random >> 8) % (uint64_t)formats[k->part[0].format].bits;
}

/* The i-th operand of a rank. */
static inline value operand(enum operation operation, const kind* k, uint64_t key, int rank, int ranks,
                            int i) {
  const uint64_t of_element = mix(key + (uint64_t)i), random = mix(of_element + (uint64_t)rank * 0x10001u);
  const enum format format = k->part[0].format;
  const int is_signed = formats[format].is_signed;
  const wide limit = ((wide)1 << formats[format].bits) - 1;
  const int turned = (int)((of_element + (uint64_t)rank) % (uint64_t)ranks);
  switch (operation) {
    case kSum:
      return (value){number(random, limit / ranks, is_signed),
                     k->parts > 1 ? number(mix(random), limit / ranks, is_signed) : 0};
    case kProd:
      return factor(k, random, turned);
    case kLand:
    case kLor:
    case kLxor:
      return (value){truth(k, of_element, random, turned == 0), 0};
    case kBand:
      return (value){number(random, limit, is_signed) | number(of_element, limit, is_signed), 0};
    case kBor:
      return (value){number(random, limit, is_signed) & number(of_element, limit, is_signed), 0};
    case kMaxloc:
    case kMinloc: /* a few values only: some are equal */
      return (value){(wide)(random % 3) * (limit / 2 - 1) - limit / 2, (wide)(mix(random) % 1000)};
    case kCompose:
    case kAdd:
      return (value){(wide)(1 + random % (kPrime - 1)), (wide)(mix(random) % kPrime)};
    case kComposePacked:
      return (value){(wide)(random | (uint64_t)1 << 32), 0};
    default: /* every value of the type, or a few only */
      return (value){number(random, of_element % 4 != 0 ? limit : 3, is_signed), 0};
  }
}

#endif
