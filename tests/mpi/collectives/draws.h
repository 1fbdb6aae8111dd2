/* What the property tests draw, and what follows from it: how much each rank sends to whom. */
#ifndef CLUMP_TESTS_DRAWS_H
#define CLUMP_TESTS_DRAWS_H

#include "calls.h"
#include "sides.h"

typedef struct {
  MPI_Comm comm;
  int number, rank, size;
} group;

typedef struct {
  const group* g;
  enum collective what;
  enum form form;
  int root, in_place;
  int units;   /* of a block */
  int uneven;  /* blocks have up to so many: reduce_scatter, and v and w forms */
  int mixed;   /* a unit is 6 ints, as elements of any type that each rank likes */
  int rubbish; /* is in arguments that nobody may look at */
  const kind* kind;
  enum operation operation;
  uint64_t key; /* for the contents */
  side in, out;
  int* shares; /* counts of reduce_scatter */
  call call;
  MPI_Request request;
  double entered, left; /* of a barrier */
} test;

static inline int is_reduction(enum collective what) { return what >= kReduce && what <= kExscan; }
static inline int is_alltoall(enum collective what) { return what >= kAlltoall; }
static inline int is_vector(enum collective what) {
  return what == kGatherv || what == kScatterv || what == kAllgatherv || what == kAlltoallv ||
         what == kAlltoallw;
}

/* Around the limits of algorithms and of protocols, and anywhere. */
static inline int draw_units(dice* d, int unit_bytes, int blocks) {
  static const int limits[] = {512, 1024, 2048, 4097, 8192, 16384, 65536, 65536};
  const int choice = below(d, 10);
  int bytes = choice == 5   ? 481
              : choice == 6 ? 4096
              : choice == 7 ? limits[below(d, 8)]
              : choice == 8 ? below(d, 10000)
                            : below(d, 100000);
  if (choice == 0) return 0;
  if (choice == 1) return 1;
  if (choice < 5) return below(d, 40);
  if (choice == 9 && below(d, 4) == 0) bytes = (1 + below(d, 2)) * 300000 + below(d, 1000);
  if (below(d, 3) == 0) bytes /= blocks; /* some limits are of all blocks together */
  const int units = bytes / unit_bytes + below(d, 5) - 2;
  return units < 0 ? 0 : units;
}

/* So that a case takes some tens of milliseconds at most: every rank makes the operands of all others. */
static inline int limit_units(const test* t, dice* d, int units, int unit_bytes) {
  const int size = t->g->size;
  const int scattered = t->what == kReduceScatter || t->what == kReduceScatterBlock;
  const int blocks = t->what == kBcast || (is_reduction(t->what) && !scattered) ? 1 : size;
  int most = (size <= 8 || blocks == 1 ? 1200000 : 400000) / unit_bytes / blocks;
  const int steps = below(d, 16) == 0 ? 20000000 : 1500000;
  if (is_reduction(t->what) && steps / size / size / blocks < most) most = steps / size / size / blocks;
  if (t->kind->most != 0 && t->kind->most / blocks - 5 < most) most = t->kind->most / blocks - 5;
  if (most < 1) most = 1;
  return units < most ? units : most;
}

static inline void draw_types(test* t, dice* d) {
  if (is_reduction(t->what)) {
    t->operation = below(d, kOperations);
    do t->kind = known_kinds[below(d, known)];
    while (!(t->kind->category & operations[t->operation].categories));
    return;
  }
  t->mixed = below(d, 3) == 0;
  t->kind = t->mixed           ? int_kinds[0]
            : below(d, 3) == 0 ? derived(below(d, kDerived))
                               : known_kinds[below(d, known)];
}

static inline void draw(test* t, const group* g, dice* d) {
  memset(t, 0, sizeof *t);
  t->g = g;
  t->what = below(d, kCollectives);
  t->form = below(d, kForms);
  t->root = below(d, g->size);
  t->in_place = below(d, 3) == 0 && t->what != kBarrier && t->what != kBcast;
  t->rubbish = below(d, 2);
  t->uneven = (is_vector(t->what) || t->what == kReduceScatter) && below(d, 5) != 0;
  t->key = roll(d);
  t->request = MPI_REQUEST_NULL;
  draw_types(t, d);
  const int unit_bytes = t->mixed ? kUnitInts * 4 : data_bytes(t->kind);
  t->units = limit_units(t, d, draw_units(d, unit_bytes, g->size), unit_bytes);
}

/* How many units one rank sends another. In place both send as many. */
static inline int block_units(const test* t, int from, int to) {
  const int low = from < to ? from : to, high = from < to ? to : from;
  if (!t->uneven || t->units == 0) return t->units;
  if (t->in_place && is_alltoall(t->what)) from = low, to = high;
  const uint64_t random = mix_of(t->key, (uint64_t)from * 4099 + (uint64_t)to);
  const int choice = (int)(random % 6);
  if (choice < 2) return choice;
  return choice == 2 ? t->units : (int)((random >> 8) % (uint64_t)(t->units + 1));
}

/* Whose block it is, and whose it becomes. */
static inline void ends(const test* t, int outgoing, int block, int* from, int* to) {
  const int me = t->g->rank;
  *from = t->root;
  *to = 0;
  if (t->what == kBcast) return;
  if (t->what == kScatter || t->what == kScatterv) {
    *to = outgoing ? block : me;
    return;
  }
  *from = outgoing ? me : block;
  if (t->what == kGather || t->what == kGatherv) *to = t->root;
  if (is_alltoall(t->what)) *to = outgoing ? block : me;
}

/* Whether the caller passes MPI_IN_PLACE. */
static inline int in_place_here(const test* t) {
  const int everywhere = t->what != kReduce && t->what != kGather && t->what != kGatherv &&
                         t->what != kScatter && t->what != kScatterv;
  return t->in_place && (everywhere || t->g->rank == t->root);
}

static inline int count_blocks(const test* t, int outgoing) {
  const int at_root = t->g->rank == t->root, size = t->g->size, in_place = in_place_here(t);
  switch (t->what) {
    case kBarrier:
      return 0;
    case kBcast:
      return outgoing;
    case kReduce:
      return outgoing ? !in_place : at_root;
    case kGather:
    case kGatherv:
      return outgoing ? !in_place : at_root * size;
    case kScatter:
    case kScatterv:
      return outgoing ? at_root * size : !in_place;
    case kAllgather:
    case kAllgatherv:
      return outgoing ? !in_place : size;
    case kAlltoall:
    case kAlltoallv:
    case kAlltoallw:
      return outgoing ? !in_place * size : size;
    default: /* other reductions */
      return outgoing ? !in_place : 1;
  }
}

#endif
