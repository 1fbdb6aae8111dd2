/* The buffers of the property tests. A rank passes a collective blocks of elements in one buffer, on each of
   two sides. Of each buffer there are two images: the one that the library works on, and what should be in it
   afterwards, down to the last byte of the gaps and of the guard zones around. */
#ifndef CLUMP_TESTS_SIDES_H
#define CLUMP_TESTS_SIDES_H

#include "values.h"

enum { kGuardBytes = 128, kLine = 64 };

typedef struct {
  unsigned char *actual, *expected;
  size_t bytes, base; /* the buffer begins at `base` */
} image;

typedef struct {
  int blocks; /* 0: the rank has no such buffer */
  const kind** kinds;
  int *counts, *displs; /* displacements as they are passed: in elements or in bytes */
  MPI_Datatype* types;
  ptrdiff_t* places; /* in bytes */
  image image;
} side;

enum placing { kOneAfterTheOther, kInElements, kInBytes };

static inline void image_guard(image* m, int rank) {
  for (size_t i = 0; i < m->bytes; ++i) m->actual[i] = (unsigned char)(i * 167 + (size_t)rank * 59 + 13);
}

/* Anywhere that C allows, so also across vectors and cache lines. */
static inline void image_make(image* m, size_t data, int align, dice* own) {
  const size_t offset = (size_t)align * (size_t)below(own, kLine / align + 1);
  m->base = kGuardBytes + offset;
  m->bytes = (m->base + data + kGuardBytes + kLine) / kLine * kLine;
  m->actual = aligned_alloc(kLine, m->bytes);
  m->expected = malloc(m->bytes);
}

static inline void side_make(side* s, int blocks) {
  s->blocks = blocks;
  s->kinds = calloc((size_t)blocks, sizeof *s->kinds);
  s->counts = calloc((size_t)blocks, sizeof *s->counts);
  s->displs = calloc((size_t)blocks, sizeof *s->displs);
  s->types = calloc((size_t)blocks, sizeof *s->types);
  s->places = calloc((size_t)blocks, sizeof *s->places);
}

static inline void side_free(side* s) {
  if (s->blocks == 0) return;
  free(s->kinds);
  free(s->counts);
  free(s->displs);
  free(s->types);
  free(s->places);
  free(s->image.actual);
  free(s->image.expected);
}

/* Gives each block a place, if the collective lets one choose: in any order, with gaps here and there. */
static inline void side_place(side* s, enum placing placing, dice* own) {
  int at = 0, align = 1, reach = 0;
  int* order = malloc((size_t)s->blocks * sizeof *order);
  for (int b = 0; b < s->blocks; ++b) {
    const int other = placing == kOneAfterTheOther ? b : below(own, b + 1);
    order[b] = order[other];
    order[other] = b;
  }
  for (int i = 0; i < s->blocks; ++i) {
    const int b = order[i], extent = (int)s->kinds[b]->extent;
    if (placing != kOneAfterTheOther && below(own, 3) == 0) at += below(own, 5);
    if (placing == kInBytes) at = (at + 31) / 16 * 16;
    s->displs[b] = at;
    s->places[b] = placing == kInBytes ? at : (ptrdiff_t)at * extent;
    at += placing == kInBytes ? s->counts[b] * extent + s->kinds[b]->reach : s->counts[b];
    s->types[b] = s->kinds[b]->type;
    if (s->kinds[b]->align > align) align = s->kinds[b]->align;
    if (s->kinds[b]->reach > reach) reach = s->kinds[b]->reach;
  }
  free(order);
  const size_t end = placing == kInBytes ? (size_t)at : (size_t)at * (size_t)s->kinds[0]->extent;
  image_make(&s->image, end + (size_t)reach, align, own);
}

static inline void side_guard(side* s, int rank) {
  if (s->blocks != 0) image_guard(&s->image, rank);
}

/* What was written to the actual one so far is expected to be there afterwards, too. */
static inline void side_expect_same(side* s) {
  if (s->blocks != 0) memcpy(s->image.expected, s->image.actual, s->image.bytes);
}

static inline unsigned char* element(const side* s, unsigned char* memory, int block, int i) {
  return memory + s->image.base + s->places[block] + i * s->kinds[block]->extent;
}

/* Writes the bytes of a stream that `key` stands for into a block, in the order in which they are sent. */
static inline void side_put_stream(const side* s, unsigned char* memory, int block, uint64_t key) {
  const kind* k = s->kinds[block];
  uint32_t state = (uint32_t)key;
  for (int i = 0; i < s->counts[block]; ++i) {
    unsigned char* at = element(s, memory, block, i);
    for (int p = 0; p < k->parts; ++p)
      for (int b = 0; b < formats[k->part[p].format].bytes; ++b)
        at[k->part[p].offset + b] = (unsigned char)((state += 0x9e3779b1u) >> 24);
  }
}

/* Accepts what is in some of the first block's elements: all their data, or the bytes only that mean nothing.
 */
static inline void side_accept(side* s, int first, int count, int all) {
  const kind* k = s->kinds[0];
  for (int i = first; i < first + count; ++i)
    for (int p = 0; p < k->parts; ++p) {
      const int bytes = formats[k->part[p].format].bytes;
      const int from = k->part[p].offset + (all ? 0 : formats[k->part[p].format].used_bytes);
      memcpy(element(s, s->image.expected, 0, i) + from, element(s, s->image.actual, 0, i) + from,
             (size_t)(k->part[p].offset + bytes - from));
    }
}

/* Where the images differ first; -1 if they do not. */
static inline ptrdiff_t image_difference(const image* m) {
  if (memcmp(m->actual, m->expected, m->bytes) == 0) return -1;
  ptrdiff_t at = 0;
  while (m->actual[at] == m->expected[at]) ++at;
  return at;
}

/* Says what is at a place of a buffer. */
static inline void side_explain(const side* s, ptrdiff_t at, char* text, size_t room) {
  const ptrdiff_t place = at - (ptrdiff_t)s->image.base;
  for (int b = 0; b < s->blocks; ++b) {
    const kind* k = s->kinds[b];
    for (int i = 0; i < s->counts[b]; ++i)
      for (int p = 0; p < k->parts; ++p) {
        const ptrdiff_t offset = place - s->places[b] - i * k->extent - k->part[p].offset;
        if (offset < 0 || offset >= formats[k->part[p].format].bytes) continue;
        snprintf(text, room, "byte %d of part %d of element %d of %d, block %d (%s)", (int)offset, p, i,
                 s->counts[b], b, k->name);
        return;
      }
  }
  snprintf(text, room, "byte %td outside of the data (the first of %d blocks has %d of %s)", place, s->blocks,
           s->counts[0], s->kinds[0]->name);
}

#endif
