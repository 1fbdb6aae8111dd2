/* Communicators whose members all ranks know. A plan names ranks by their rank of MPI_COMM_WORLD. */
#ifndef CLUMP_TESTS_FUZZ_COMMS_H
#define CLUMP_TESTS_FUZZ_COMMS_H

#include "fuzz.h"

enum { kMostRanks = 64, kMostComms = 10 };

/* The ranks of one side of a communicator, in its order. */
typedef struct {
  int count, ranks[kMostRanks];
} Members;
/* A communicator: side[1] is the other side of an intercommunicator. here: the side of this rank, or -1. */
typedef struct {
  MPI_Comm comm;
  Members side[2];
  int inter, here;
  const char* kind;
} Known;

static inline int place_of(const Members* members, int rank) {
  for (int i = 0; i < members->count; i++)
    if (members->ranks[i] == rank) return i;
  return -1;
}
static inline const Members* local_of(const Known* k) { return &k->side[k->here < 0 ? 0 : k->here]; }
/* To whom a rank of the communicator sends: the other side, or its own. */
static inline const Members* peers_of(const Known* k) { return &k->side[k->inter && k->here != 1]; }

/* Works out where this rank is, and compares that with what the library says. */
static inline void know(Known* k, const char* kind) {
  int size = 0, rank = 0, inter = 0;
  k->kind = kind;
  k->here = place_of(&k->side[0], fuzz.rank) >= 0               ? 0
            : k->inter && place_of(&k->side[1], fuzz.rank) >= 0 ? 1
                                                                : -1;
  CHECK((k->comm != MPI_COMM_NULL) == (k->here >= 0), "%s: a communicator where none has to be, or none",
        kind);
  if (k->here < 0) return;
  MPI_Comm_size(k->comm, &size);
  MPI_Comm_rank(k->comm, &rank);
  MPI_Comm_test_inter(k->comm, &inter);
  CHECK(inter == k->inter && size == local_of(k)->count && rank == place_of(local_of(k), fuzz.rank),
        "%s: rank %d of %d, inter %d, instead of rank %d of %d, inter %d", kind, rank, size, inter,
        place_of(local_of(k), fuzz.rank), local_of(k)->count, k->inter);
}

/* Splits into two colours; ranks without a colour are in neither. One of the two parts becomes known. */
static inline void make_split(Random* random, const Known* old, Known* k) {
  const Members* all = &old->side[0];
  int keys[kMostRanks], colours[kMostRanks], wanted = below(random, 2);
  permute(random, keys, all->count);
  for (int i = 0; i < all->count; i++) colours[i] = below(random, 5) == 0 ? MPI_UNDEFINED : below(random, 2);
  for (int key = 0; key < all->count; key++)
    for (int i = 0; i < all->count; i++)
      if (keys[i] == key && colours[i] == wanted) k->side[0].ranks[k->side[0].count++] = all->ranks[i];
  if (old->here < 0) return;
  const int me = place_of(all, fuzz.rank);
  MPI_Comm_split(old->comm, colours[me], keys[me], &k->comm);
  if (colours[me] == 1 - wanted) MPI_Comm_free(&k->comm);
}
/* By the members alone, or by all of the old communicator. */
static inline void make_of_group(Random* random, const Known* old, Known* k, int by_all) {
  int order[kMostRanks];
  const Members* all = &old->side[0];
  permute(random, order, all->count);
  k->side[0].count = between(random, 1, all->count);
  for (int i = 0; i < k->side[0].count; i++) k->side[0].ranks[i] = all->ranks[order[i]];
  if (old->here < 0 || (!by_all && place_of(&k->side[0], fuzz.rank) < 0)) return;
  MPI_Group group, part;
  MPI_Comm_group(old->comm, &group);
  MPI_Group_incl(group, k->side[0].count, order, &part);
  if (by_all)
    MPI_Comm_create(old->comm, part, &k->comm);
  else
    MPI_Comm_create_group(old->comm, part, 7, &k->comm);
  MPI_Group_free(&group);
  MPI_Group_free(&part);
}
static inline void make_inter(Random* random, const Known* old, Known* k) {
  const Members* all = &old->side[0];
  int side[kMostRanks], first[2] = {-1, -1}, cut = between(random, 1, all->count - 1), order[kMostRanks];
  permute(random, order, all->count);
  for (int i = 0; i < all->count; i++) side[i] = order[i] >= cut;
  for (int i = 0; i < all->count; i++) {
    Members* members = &k->side[side[i]];
    if (members->count == 0) first[side[i]] = i;
    members->ranks[members->count++] = all->ranks[i];
  }
  k->inter = 1;
  if (old->here < 0) return;
  MPI_Comm half;
  const int mine = side[place_of(all, fuzz.rank)];
  MPI_Comm_split(old->comm, mine, place_of(all, fuzz.rank), &half);
  MPI_Intercomm_create(half, 0, old->comm, first[!mine], 99, &k->comm);
  MPI_Comm_free(&half);
}
static inline void make_copy(Random* random, const Known* old, Known* k) {
  MPI_Request request;
  int dims[2] = {0, 0}, periods[2] = {below(random, 2), below(random, 2)};
  const int way = below(random, 3);
  k->side[0] = old->side[0];
  if (old->here < 0) return;
  if (way == 0) MPI_Comm_dup(old->comm, &k->comm);
  if (way == 1) MPI_Comm_idup(old->comm, &k->comm, &request);
  if (way == 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (way == 2) MPI_Dims_create(old->side[0].count, 2, dims);
  if (way == 2) MPI_Cart_create(old->comm, 2, dims, periods, 0, &k->comm);
}

static inline void know_world(Known* k) {
  memset(k, 0, sizeof *k);
  k->comm = MPI_COMM_WORLD;
  for (int i = 0; i < fuzz.size; i++) k->side[0].ranks[k->side[0].count++] = i;
  know(k, "world");
}
/* Makes at most `most` communicators; the first is MPI_COMM_WORLD. The same numbers at all ranks. Collective.
 */
static inline int make_comms(Random* random, Known* list, int most, int with_inter) {
  int count = 1;
  const int wanted = between(random, 1, most);
  know_world(&list[0]);
  for (int tries = 0; count < wanted && tries < 30; tries++) {
    const int kind = below(random, 5);
    Known *k = &list[count], *old = &list[below(random, count)];
    memset(k, 0, sizeof *k);
    k->comm = MPI_COMM_NULL;
    if (old->inter || old->side[0].count == 0 || (kind == 4 && (!with_inter || old->side[0].count < 2)))
      continue;
    if (kind == 0) make_copy(random, old, k);
    if (kind == 1) make_split(random, old, k);
    if (kind == 2 || kind == 3) make_of_group(random, old, k, kind == 3);
    if (kind == 4) make_inter(random, old, k);
    know(k, kind == 0 ? "copy" : kind == 1 ? "split" : kind == 4 ? "inter" : "of a group");
    if (k->side[0].count > 0) count++;
  }
  return count;
}
static inline void free_comms(Random* random, Known* list, int count) {
  int order[kMostComms];
  permute(random, order, count);
  for (int i = 0; i < count; i++) {
    Known* k = &list[order[i]];
    if (k->comm != MPI_COMM_WORLD && k->comm != MPI_COMM_NULL) MPI_Comm_free(&k->comm);
  }
}

#endif
