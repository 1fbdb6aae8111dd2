/* Thousands of seeded epochs of MPI_Win_post, start, complete and wait with random groups, on two windows in
   turn, against a naive model that every rank computes for itself: all ranks draw the same numbers.

   In an epoch, edges say which origins access which targets. A rank posts, accesses, and waits; a "late" one
   accesses before it posts, so its targets are no late ranks. Nothing else synchronises the ranks, so some
   are epochs ahead of others. Each origin puts into cells of its own in each target's window, gets one that
   it has put before, and adds to a cell that all origins have in common.

   Arguments: how many seeds, and the first one. */
#include <stdint.h>
#include <time.h>

#include "../../seed_of_ranks.h"
#include "check.h"

enum { kMostRanks = 16, kOwn = 4, kCells = kMostRanks * kOwn + 1, kSum = kCells - 1 };
enum { kEpochs = 250, kWindows = 2 };
static int rank, size;
static uint64_t state;

static unsigned draw(unsigned below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % below;
}

static struct {
  MPI_Win win;
  int64_t* mine;
  int64_t expected[kMostRanks][kCells];
} windows[kWindows];

/* An epoch, the same at all ranks. */
static struct {
  int window, nocheck;
  int edge[kMostRanks][kMostRanks]; /* by origin and target */
  int late[kMostRanks], tests[kMostRanks];
  MPI_Group origins, targets; /* of this rank */
} epoch;

static MPI_Group group_of(const int* ranks, int n) {
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, n, ranks, &group);
  MPI_Group_free(&world);
  return group;
}

static void free_groups(void) {
  if (epoch.origins != MPI_GROUP_NULL && epoch.origins != MPI_GROUP_EMPTY) MPI_Group_free(&epoch.origins);
  if (epoch.targets != MPI_GROUP_NULL && epoch.targets != MPI_GROUP_EMPTY) MPI_Group_free(&epoch.targets);
}

static void draw_edges(void) {
  const unsigned sparse = 1 + draw(4);
  int origins[kMostRanks], targets[kMostRanks], from = 0, to = 0;
  for (int r = 0; r < size; ++r) epoch.late[r] = !epoch.nocheck && draw(4) == 0;
  for (int o = 0; o < size; ++o)
    for (int t = 0; t < size; ++t) epoch.edge[o][t] = draw(sparse) == 0 && !(epoch.late[o] && epoch.late[t]);
  /* In any order. */
  for (int i = 0, first = (int)draw((unsigned)size); i < size; ++i) {
    const int other = (first + i) % size;
    if (epoch.edge[other][rank]) origins[from++] = other;
    if (epoch.edge[rank][other]) targets[to++] = other;
  }
  free_groups();
  epoch.origins = group_of(origins, from);
  epoch.targets = group_of(targets, to);
}

/* The operations of one origin on one target: drawn by all ranks, done by the origin. */
struct Acts {
  int64_t value[2], sum, wanted;
  int cell[2], got_from; /* different cells */
};

static struct Acts draw_acts(int origin, int target) {
  struct Acts acts;
  const int first = origin * kOwn, skip = (int)draw(kOwn);
  int64_t* const there = windows[epoch.window].expected[target];
  acts.got_from = first + skip;
  acts.wanted = there[acts.got_from];
  for (int i = 0; i < 2; ++i) {
    acts.cell[i] = first + (skip + 1 + i) % kOwn;
    acts.value[i] = there[acts.cell[i]] = (int64_t)draw(1000000) + ((int64_t)draw(1000) << 32);
  }
  acts.sum = (int64_t)draw(100);
  there[kSum] += acts.sum;
  return acts;
}

static void access_targets(const struct Acts* acts) {
  const MPI_Win win = windows[epoch.window].win;
  int64_t got[kMostRanks];
  MPI_Win_start(epoch.targets, epoch.nocheck, win);
  for (int t = 0; t < size; ++t) {
    if (!epoch.edge[rank][t]) continue;
    for (int i = 0; i < 2; ++i)
      MPI_Put(&acts[t].value[i], 1, MPI_INT64_T, t, acts[t].cell[i], 1, MPI_INT64_T, win);
    MPI_Get(&got[t], 1, MPI_INT64_T, t, acts[t].got_from, 1, MPI_INT64_T, win);
    MPI_Accumulate(&acts[t].sum, 1, MPI_INT64_T, t, kSum, 1, MPI_INT64_T, MPI_SUM, win);
  }
  MPI_Win_complete(win);
  for (int t = 0; t < size; ++t)
    if (epoch.edge[rank][t]) CHECK_EQ(got[t], acts[t].wanted);
}

static void wait_for_origins(void) {
  const MPI_Win win = windows[epoch.window].win;
  int done = 0;
  if (!epoch.tests[rank]) MPI_Win_wait(win);
  while (epoch.tests[rank] && !done) MPI_Win_test(win, &done);
  for (int i = 0; i < kCells; ++i)
    CHECK_EQ(windows[epoch.window].mine[i], windows[epoch.window].expected[rank][i]);
}

static void run_epoch(int number) {
  struct Acts acts[kMostRanks] = {0};
  epoch.window = (int)draw(kWindows);
  const int again = number > 0 && draw(3) == 0; /* with the groups of the last one */
  if (!again) {
    epoch.nocheck = draw(5) == 0 ? MPI_MODE_NOCHECK : 0;
    draw_edges();
  }
  for (int r = 0; r < size; ++r) epoch.tests[r] = (int)draw(2);
  const int sleeps = draw(16) == 0 ? (int)draw((unsigned)size) : -1;
  for (int o = 0; o < size; ++o)
    for (int t = 0; t < size; ++t)
      if (epoch.edge[o][t]) {
        const struct Acts drawn = draw_acts(o, t);
        if (o == rank) acts[t] = drawn;
      }
  if (rank == sleeps) nanosleep(&(struct timespec){0, 200000}, NULL);
  if (epoch.late[rank]) access_targets(acts);
  MPI_Win_post(epoch.origins, epoch.nocheck, windows[epoch.window].win);
  if (epoch.nocheck) MPI_Barrier(MPI_COMM_WORLD);
  if (!epoch.late[rank]) access_targets(acts);
  wait_for_origins();
}

int main(int argc, char** argv) {
  int64_t memory[kCells] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int seeds = argc > 1 ? atoi(argv[1]) : 1, first = argc > 2 ? atoi(argv[2]) : (int)seed_of_ranks(1);
  MPI_Win_create(memory, sizeof memory, sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &windows[0].win);
  windows[0].mine = memory;
  MPI_Win_allocate(sizeof memory, sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &windows[1].mine,
                   &windows[1].win);
  memset(windows[1].mine, 0, sizeof memory);
  MPI_Barrier(MPI_COMM_WORLD);
  epoch.origins = epoch.targets = MPI_GROUP_NULL;
  for (int seed = first; seed < first + seeds; ++seed) {
    state = (uint64_t)seed * 0x9e3779b97f4a7c15u;
    for (int i = 0; i < kEpochs; ++i) run_epoch(i);
  }
  free_groups();
  for (int i = 0; i < kWindows; ++i) MPI_Win_free(&windows[i].win);
  MPI_Finalize();
  return check_result();
}
