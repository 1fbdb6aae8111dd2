/* Random datatypes with a model of their type map, and buffers in which every byte is compared, also those
   that no element has: what lies between elements, before and behind them. */
#ifndef CLUMP_TESTS_FUZZ_DATA_H
#define CLUMP_TESTS_FUZZ_DATA_H

#include "fuzz.h"

typedef struct {
  MPI_Datatype type;
  int size;
} Basic;
enum { kBasics = 8 };
static const int kSizes[kBasics] = {1, 1, 2, 4, 4, 8, 8, 4};
static inline Basic basic(int i) {
  switch (i) {
    case 0:
      return (Basic){MPI_CHAR, 1};
    case 1:
      return (Basic){MPI_UINT8_T, 1};
    case 2:
      return (Basic){MPI_SHORT, 2};
    case 3:
      return (Basic){MPI_INT, 4};
    case 4:
      return (Basic){MPI_UINT32_T, 4};
    case 5:
      return (Basic){MPI_DOUBLE, 8};
    case 6:
      return (Basic){MPI_INT64_T, 8};
    default:
      return (Basic){MPI_FLOAT, 4};
  }
}

/* What the signature of a message repeats: one or two basic types. */
typedef struct {
  int count, basics[2], bytes;
} Pattern;
static inline Pattern pattern_of(Random* random) {
  Pattern pattern = {chance(random, 70) ? 1 : 2, {below(random, kBasics), below(random, kBasics)}, 0};
  for (int i = 0; i < pattern.count; i++) pattern.bytes += basic(pattern.basics[i]).size;
  return pattern;
}

typedef struct {
  MPI_Aint at;
  int basic;
} Slot;
/* A datatype and the model of it: where each basic element lies, the extent, the true bounds. */
typedef struct {
  MPI_Datatype type;
  int made, count; /* made: it has to be freed; count: elements in map */
  Slot* map;
  MPI_Aint extent, low, high;
} Type;

static inline void measure(Type* type) {
  MPI_Aint bound = 0, extent = 0;
  type->low = INT64_MAX;
  type->high = INT64_MIN;
  for (int i = 0; i < type->count; i++) {
    const MPI_Aint at = type->map[i].at, end = at + kSizes[type->map[i].basic];
    if (at < type->low) type->low = at;
    if (end > type->high) type->high = end;
  }
  MPI_Type_get_extent(type->type, &bound, &type->extent);
  MPI_Type_get_true_extent(type->type, &bound, &extent);
  CHECK(bound == type->low && extent == type->high - type->low,
        "the true extent of a type is %ld, %ld, not %ld, %ld", (long)bound, (long)extent, (long)type->low,
        (long)(type->high - type->low));
}
static inline void becomes(Type* type, MPI_Datatype made) {
  if (type->made) MPI_Type_free(&type->type);
  type->type = made;
  type->made = 1;
}
static inline MPI_Aint eights(MPI_Aint bytes) { return (bytes + 7) / 8 * 8; }
/* Gives the type an extent at which its copies do not overlap. */
static inline void keep_apart(Type* type) {
  measure(type);
  const MPI_Aint extent = type->extent < 0 ? -type->extent : type->extent;
  int largest = 1;
  for (int i = 0; i < type->count; i++)
    if (kSizes[type->map[i].basic] > largest) largest = kSizes[type->map[i].basic];
  if (extent >= type->high - type->low && extent % largest == 0) return;
  MPI_Datatype made;
  MPI_Type_create_resized(type->type, type->low, eights(type->high - type->low), &made);
  becomes(type, made);
  measure(type);
}
static inline Type one_pattern(Random* random, const Pattern* pattern) {
  Type type = {basic(pattern->basics[0]).type, 0, pattern->count, malloc(2 * sizeof(Slot)), 0, 0, 0};
  type.map[0] = (Slot){0, pattern->basics[0]};
  if (pattern->count == 2) {
    const int turned = chance(random, 50), lengths[2] = {1, 1};
    MPI_Aint at[2];
    at[turned] = 8 * below(random, 3);
    at[!turned] = at[turned] + 8 + 8 * below(random, 2);
    MPI_Datatype types[2] = {type.type, basic(pattern->basics[1]).type};
    for (int i = 0; i < 2; i++) type.map[i] = (Slot){at[i], pattern->basics[i]};
    MPI_Type_create_struct(2, lengths, at, types, &type.type);
    type.made = 1;
  }
  keep_apart(&type);
  return type;
}

/* How a constructor places `copies` copies of a type: blocks of them, in units of its extent, and a shift in
 * bytes. */
typedef struct {
  int kind, blocks, *at, *length;
  MPI_Aint shift;
} Layout;
enum {
  kContiguous,
  kVector,
  kHvector,
  kIndexed,
  kHindexed,
  kStruct,
  kBlocks,
  kHblocks,
  kSubarray,
  kConstructors
};
static inline Layout layout_of(Random* random, int copies) {
  Layout l = {below(random, kConstructors), 1, NULL, NULL, 0};
  const int uneven = l.kind >= kIndexed && l.kind <= kStruct;
  l.blocks = l.kind == kContiguous ? 1
             : uneven              ? between(random, 1, copies < 8 ? copies : 8)
                                   : divisor(random, copies);
  l.at = malloc(sizeof(int) * (size_t)l.blocks * 2);
  l.length = l.at + l.blocks;
  const int stride =
      (copies / l.blocks + below(random, 4)) * (l.kind <= kHvector && chance(random, 15) ? -1 : 1);
  int order[4096], left = copies, position = 0;
  if (l.kind >= kIndexed && l.blocks <= 4096) permute(random, order, l.blocks);
  for (int i = 0; i < l.blocks; i++) {
    l.length[i] = !uneven             ? copies / l.blocks
                  : i == l.blocks - 1 ? left
                                      : below(random, left - l.blocks + i + 2);
    left -= l.length[i];
  }
  for (int i = 0; i < l.blocks; i++) {
    const int block = l.kind >= kIndexed && l.kind <= kHblocks && l.blocks <= 4096 ? order[i] : i;
    position += below(random, 3);
    l.at[block] = l.kind <= kHvector || l.kind == kSubarray ? i * stride : position;
    position += l.length[block];
  }
  if (l.kind == kHindexed || l.kind == kStruct || l.kind == kHblocks) l.shift = 8 * between(random, -2, 4);
  return l;
}
static inline MPI_Datatype constructed(const Layout* l, const Type* type) {
  const int n = l->blocks, length = l->length[0], stride = n > 1 ? l->at[1] : length;
  MPI_Datatype made, *types;
  MPI_Aint* bytes = malloc(sizeof *bytes * (size_t)n);
  for (int i = 0; i < n; i++) bytes[i] = l->at[i] * type->extent + l->shift;
  switch (l->kind) {
    case kContiguous:
      MPI_Type_contiguous(length, type->type, &made);
      break;
    case kVector:
      MPI_Type_vector(n, length, stride, type->type, &made);
      break;
    case kHvector:
      MPI_Type_create_hvector(n, length, stride * type->extent, type->type, &made);
      break;
    case kIndexed:
      MPI_Type_indexed(n, l->length, l->at, type->type, &made);
      break;
    case kHindexed:
      MPI_Type_create_hindexed(n, l->length, bytes, type->type, &made);
      break;
    case kStruct:
      types = malloc(sizeof *types * (size_t)n);
      for (int i = 0; i < n; i++) types[i] = type->type;
      MPI_Type_create_struct(n, l->length, bytes, types, &made);
      free(types);
      break;
    case kBlocks:
      MPI_Type_create_indexed_block(n, length, l->at, type->type, &made);
      break;
    case kHblocks:
      MPI_Type_create_hindexed_block(n, length, bytes, type->type, &made);
      break;
    default: {
      const int sizes[2] = {n, stride}, part[2] = {n, length}, start[2] = {0, 0};
      MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, type->type, &made);
    }
  }
  free(bytes);
  return made;
}
static inline void repeat(Random* random, Type* type, int copies) {
  const Layout l = layout_of(random, copies);
  Slot *map = malloc(sizeof *map * (size_t)(type->count * copies)), *slot = map;
  for (int i = 0; i < l.blocks; i++)
    for (int j = 0; j < l.length[i]; j++)
      for (int k = 0; k < type->count; k++, slot++)
        *slot = (Slot){type->map[k].at + (l.at[i] + j) * type->extent + l.shift, type->map[k].basic};
  const MPI_Datatype made = constructed(&l, type);
  free(type->map);
  type->map = map;
  type->count *= copies;
  becomes(type, made);
  free(l.at);
  keep_apart(type);
}
/* A committed type of `repeats` patterns, at least one. */
static inline Type type_of(Random* random, const Pattern* pattern, int repeats) {
  Type type = one_pattern(random, pattern);
  int left = repeats, size = 0;
  for (int depth = 0; left > 1; depth++) {
    const int copies = depth == 2 || chance(random, 40) ? left : divisor(random, left);
    if (copies > 1) repeat(random, &type, copies);
    left /= copies;
  }
  if (chance(random, 20)) {
    MPI_Datatype made;
    const MPI_Aint extent = eights(type.high - type.low) + 8 * below(random, 4);
    MPI_Type_create_resized(type.type, type.low + 8 * between(random, -2, 2),
                            chance(random, 20) ? -extent : extent, &made);
    becomes(&type, made);
    measure(&type);
  }
  if (chance(random, 10)) {
    MPI_Datatype made;
    MPI_Type_dup(type.type, &made);
    becomes(&type, made);
  }
  if (type.made) MPI_Type_commit(&type.type);
  MPI_Type_size(type.type, &size);
  CHECK(size == repeats * pattern->bytes, "the size of a type is %d, not %d", size, repeats * pattern->bytes);
  return type;
}
/* How many of the `repeats` patterns of a message one type has: a divisor, and not too many. */
static inline int share_of(Random* random, int repeats) {
  const int share = divisor(random, repeats);
  return share > 4096 ? 1 : share;
}
static inline void drop_type(Type* type) {
  if (type->made) MPI_Type_free(&type->type);
  free(type->map);
  type->map = NULL;
}

/* --- buffers --- */
typedef struct {
  char *memory, *base; /* base: the address for MPI */
  size_t bytes;
  int count;
  uint64_t background;
} Buffer;
static inline void fill(char* memory, size_t bytes, uint64_t background) {
  uint64_t x = mixed(background);
  for (size_t i = 0; i < bytes; i += 4, x = x * 6364136223846793005u + 1442695040888963407u) {
    const uint32_t four = (uint32_t)(x >> 32);
    memcpy(memory + i, &four, bytes - i < 4 ? bytes - i : 4);
  }
}
/* Lowest and highest byte that `count` copies of the type touch. */
static inline void span(const Type* type, int count, MPI_Aint* low, MPI_Aint* high) {
  const MPI_Aint last = count > 0 ? (count - 1) * type->extent : 0;
  *low = count > 0 ? type->low + (last < 0 ? last : 0) : 0;
  *high = count > 0 ? type->high + (last > 0 ? last : 0) : 0;
}
static inline Buffer buffer_of(const Type* type, int count, uint64_t background) {
  MPI_Aint low, high;
  span(type, count, &low, &high);
  const MPI_Aint before = 64 + ((low % 64) + 64) % 64;
  Buffer b = {NULL, NULL, (size_t)(before + high - low + 64), count, background};
  b.memory = malloc(b.bytes);
  b.base = b.memory + before - low;
  fill(b.memory, b.bytes, background);
  return b;
}
/* Element i of a message. */
static inline uint64_t value_of(uint64_t message, long i) {
  return mixed(message + (uint64_t)i * 0x9e3779b97f4a7c15u);
}
static inline void put_value(char* at, int size, uint64_t value) {
  switch (size) {
    case 1:
      memcpy(at, &value, 1);
      return;
    case 2:
      memcpy(at, &value, 2);
      return;
    case 4:
      memcpy(at, &value, 4);
      return;
    default:
      memcpy(at, &value, 8);
  }
}
/* Elements first to first + count - 1 of a buffer become those of a message from number `from` on. */
static inline void put_elements(const Type* type, char* base, long first, long count, uint64_t message,
                                long from) {
  char* copy = base + first / type->count * type->extent;
  const Slot *slot = type->map + first % type->count, *end = type->map + type->count;
  for (long i = 0; i < count; i++, slot++) {
    if (slot == end) {
      slot = type->map;
      copy += type->extent;
    }
    put_value(copy + slot->at, kSizes[slot->basic], value_of(message, from + i));
  }
}
/* Compares a buffer with what it has to be: `expected` is freed. */
static inline void compare(const Buffer* b, char* expected, const char* what) {
  size_t first = 0, wrong = 0;
  if (!memcmp(expected, b->memory, b->bytes)) {
    free(expected);
    return;
  }
  while (first < b->bytes && expected[first] == b->memory[first]) first++;
  for (size_t i = first; i < b->bytes; i++) wrong += expected[i] != b->memory[i];
  CHECK(wrong == 0,
        "%s: %zu of %zu bytes are wrong, the first at %ld from the address (is %02x, should be %02x)", what,
        wrong, b->bytes, (long)(b->memory + first - b->base), (unsigned char)b->memory[first],
        (unsigned char)expected[first]);
  free(expected);
}
static inline char* background_of(const Buffer* b) {
  char* expected = malloc(b->bytes);
  fill(expected, b->bytes, b->background);
  return expected;
}
/* The buffer has `count` elements of the message, and is untouched elsewhere. */
static inline void check_elements(const Type* type, const Buffer* b, long count, uint64_t message,
                                  const char* what) {
  char* expected = background_of(b);
  put_elements(type, expected + (b->base - b->memory), 0, count, message, 0);
  compare(b, expected, what);
}

/* One side of a message: a type, a count of it, a buffer. */
typedef struct {
  Type type;
  Buffer buffer;
  int count;
} Side;
static inline Side side_of(Random* random, const Pattern* pattern, int repeats) {
  Side side;
  const int share = share_of(random, repeats);
  side.type = type_of(random, pattern, share);
  side.count = repeats / share;
  side.buffer = buffer_of(&side.type, side.count, draw(random));
  return side;
}
static inline void drop_side(Side* side) {
  drop_type(&side->type);
  free(side->buffer.memory);
}

#endif
