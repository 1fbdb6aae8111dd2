/* Thousands of seeded operations of all kinds, with random types, against a naive reference that every rank
   computes for itself: all ranks draw the same numbers, so each knows what all do.

   Rounds of epochs of one kind. In a round of puts each origin owns a part of each target's window; in a
   round of accumulates all use the same operation, and integers make the order irrelevant. */
#include <stdint.h>

#include "../../seed_of_ranks.h"
#include "check.h"

enum { kElements = 240, kMostRanks = 16, kRounds = 60 };
static int rank, size;
static int32_t expected[kMostRanks][kElements]; /* all windows */
static uint64_t state;

static unsigned draw(unsigned below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % below;
}

/* `count` elements in `blocks` blocks, `stride` elements apart, from element `first` on. */
struct Shape {
  int first, blocks, length, stride;
};

static struct Shape draw_shape(int begin, int room) {
  struct Shape shape = {begin, 1, 1, 1};
  shape.length = 1 + (int)draw(4);
  shape.stride = shape.length + (int)draw(3);
  const int most = (room - shape.length) / shape.stride + 1;
  if (most < 1) {
    shape.length = shape.stride = 1;
    shape.blocks = 1 + (int)draw((unsigned)room);
  } else {
    shape.blocks = 1 + (int)draw((unsigned)most);
  }
  const int span = (shape.blocks - 1) * shape.stride + shape.length;
  shape.first += (int)draw((unsigned)(room - span + 1));
  return shape;
}

static int element(const struct Shape* shape, int i) {
  return shape->first + i / shape->length * shape->stride + i % shape->length;
}

/* The type of a shape without `first`: a vector, or the same by an index, or plain elements. */
static MPI_Datatype type_of(const struct Shape* shape, int way) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (way == 0) {
    MPI_Type_vector(shape->blocks, shape->length, shape->stride, MPI_INT32_T, &type);
  } else {
    int places[kElements];
    for (int i = 0; i < shape->blocks; ++i) places[i] = i * shape->stride;
    MPI_Type_create_indexed_block(shape->blocks, shape->length, places, MPI_INT32_T, &type);
  }
  MPI_Type_commit(&type);
  return type;
}

static int32_t combined(MPI_Op op, int32_t a, int32_t b) {
  if (op == MPI_SUM) return (int32_t)((uint32_t)a + (uint32_t)b);
  if (op == MPI_MAX) return a > b ? a : b;
  if (op == MPI_BXOR) return a ^ b;
  return a;
}

/* What one origin does to one target in a round: drawn by all ranks, done by the origin. */
static void act(MPI_Win win, int origin, int target, int kind, MPI_Op op) {
  const int share = kElements / size;
  const struct Shape shape = kind == 0 ? draw_shape(share * origin, share) : draw_shape(0, kElements);
  const int n = shape.blocks * shape.length, way = (int)draw(2), packed = (int)draw(2), large = (int)draw(2);
  int32_t data[2 * kElements], got[kElements];
  for (int i = 0; i < n; ++i) {
    const int32_t value = (int32_t)draw(1000000);
    data[packed ? i : element(&shape, i) - shape.first] = value;
    int32_t* const there = &expected[target][element(&shape, i)];
    if (kind == 0) *there = value;
    if (kind == 1) *there = combined(op, value, *there);
  }
  if (origin != rank) return;
  MPI_Datatype type = type_of(&shape, way), own = packed ? MPI_INT32_T : type_of(&shape, 1 - way);
  const int own_count = packed ? n : 1;
  if (kind == 0) {
    if (large)
      MPI_Put_c(data, own_count, own, target, shape.first, 1, type, win);
    else
      MPI_Put(data, own_count, own, target, shape.first, 1, type, win);
  } else if (kind == 1) {
    if (large)
      MPI_Get_accumulate(data, own_count, own, got, n, MPI_INT32_T, target, shape.first, 1, type, op, win);
    else
      MPI_Accumulate(data, own_count, own, target, shape.first, 1, type, op, win);
  }
  /* The memory is the program's again when the operation is complete at the origin. */
  MPI_Win_flush_local(target, win);
  MPI_Type_free(&type);
  if (!packed) MPI_Type_free(&own);
}

static void check_gets(MPI_Win win) {
  for (int k = 0; k < 4; ++k) {
    const int target = (int)draw((unsigned)size);
    const struct Shape shape = draw_shape(0, kElements);
    const int n = shape.blocks * shape.length;
    int32_t got[kElements];
    MPI_Datatype type = type_of(&shape, (int)draw(2));
    MPI_Request request = MPI_REQUEST_NULL;
    if (draw(2) == 0)
      MPI_Get(got, n, MPI_INT32_T, target, shape.first, 1, type, win);
    else
      MPI_Rget(got, n, MPI_INT32_T, target, shape.first, 1, type, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(target, win);
    for (int i = 0; i < n; ++i) CHECK_EQ(got[i], expected[target][element(&shape, i)]);
    MPI_Type_free(&type);
  }
}

static void test(MPI_Win win, int32_t* mine) {
  static const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_BXOR};
  memset(expected, 0, sizeof expected);
  memset(mine, 0, kElements * sizeof *mine);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < kRounds && check_failures == 0; ++round) {
    const int kind = (int)draw(2), op = (int)draw(3), all = (int)draw(2);
    if (all) MPI_Win_lock_all(0, win);
    for (int origin = 0; origin < size; ++origin)
      for (int k = 0; k < 3; ++k) {
        const int target = (int)draw((unsigned)size);
        const int type = draw(2) == 0 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
        if (!all && origin == rank) MPI_Win_lock(type, target, 0, win);
        act(win, origin, target, kind, ops[op]);
        if (!all && origin == rank) MPI_Win_unlock(target, win);
      }
    if (all) MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < kElements; ++i) CHECK_EQ(mine[i], expected[rank][i]);
    check_gets(win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  int32_t memory[kElements], *base = NULL;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  state = argc > 1 ? strtoull(argv[1], NULL, 10) : seed_of_ranks(1);
  MPI_Win_create(memory, sizeof memory, sizeof(int32_t), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  test(win, memory);
  MPI_Win_free(&win);
  MPI_Win_allocate(sizeof memory, sizeof(int32_t), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  test(win, base);
  MPI_Win_free(&win);
  MPI_Finalize();
  return check_result();
}
