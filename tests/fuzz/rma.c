/* Part rma: windows of all kinds and all synchronisations. Each step is an operation of one rank on a slot of
   another's memory, or on its counters; an epoch has up to ten steps, whose slots differ. All ranks keep a
   model of all memories. Some steps are of their own: loads under MPI_Win_lock_all beside changes under
   exclusive locks, an operation on two attached pieces, an alignment that is asked for. */
#include "comms.h"
#include "data.h"

enum { kCreate, kAllocate, kShared, kDynamic, kWindows };
enum { kFence, kPost, kLocks, kLockAll, kSyncs };
enum { kPut, kGet, kPutGet, kChain, kBits, kSwaps, kGuarded, kPieces, kAligned, kOperations };
static const char* const kWindowNames[] = {"created", "allocated", "shared", "dynamic"};
static const char* const kSyncNames[] = {"fence", "post and start", "locks", "lock_all"};
static const char* const kNames[] = {"put",
                                     "get",
                                     "put and get",
                                     "accumulates",
                                     "bits of a counter",
                                     "compare and swap",
                                     "loads beside changes",
                                     "two pieces",
                                     "alignment"};
enum { kSlots = 12, kCounters = 4, kHead = kCounters * 16 };

typedef struct {
  int kind, origin, target, slot, repeats, op, times, counter;
  Pattern pattern;
} Operation;
static Operation operations[kMostSteps];
static MPI_Win win;
static int window_kind, unit, slot_bytes, window_bytes, threads, sync_kind, first_step, last_step;
static char *memory, *model[kMostRanks];
static MPI_Aint bases[kMostRanks];

/* What an epoch leaves to be freed, and to be looked at, when it is over. */
typedef struct {
  Random own;
  struct {
    Side side;
    char* expected; /* or NULL: an origin */
    const Operation* operation;
  } list[8 * kMostSteps];
  int count;
} Worker;
static Worker workers[kMostThreads];

static const char* name_of(const Operation* o) {
  static _Thread_local char text[300];
  snprintf(text, sizeof text,
           "%s window, %s: %s by rank %d at rank %d, slot %d of %d bytes, %d x %d bytes, operation %d, %d "
           "times, unit %d, %d threads",
           kWindowNames[window_kind], kSyncNames[sync_kind], kNames[o->kind], o->origin, o->target, o->slot,
           slot_bytes, o->repeats, o->pattern.bytes, o->op, o->times, unit, threads);
  return text;
}
static int uses_locks(void) { return sync_kind >= kLocks; }
static MPI_Aint displacement(int target, MPI_Aint byte) {
  return window_kind == kDynamic ? MPI_Aint_add(bases[target], byte) : byte / unit;
}

/* --- the model --- */
#define APPLY(T)                                                                                   \
  {                                                                                                \
    T a, b;                                                                                        \
    memcpy(&a, at, sizeof a);                                                                      \
    memcpy(&b, x, sizeof b);                                                                       \
    a = op == 2 ? (T)(a + b) : op == 3 ? (a > b ? a : b) : op == 4 ? (a < b ? a : b) : (T)(a ^ b); \
    memcpy(at, &a, sizeof a);                                                                      \
    break;                                                                                         \
  }
static MPI_Op op_of(int op) {
  const MPI_Op ops[] = {MPI_REPLACE, MPI_NO_OP, MPI_SUM, MPI_MAX, MPI_MIN, MPI_BXOR};
  return ops[op];
}
static void apply(int op, char* at, const char* x, int number) {
  if (op == 0) memcpy(at, x, (size_t)basic(number).size);
  if (op <= 1) return;
  switch (number) {
    case 1:
      APPLY(uint8_t)
    case 2:
      APPLY(int16_t)
    case 3:
      APPLY(int32_t)
    case 4:
      APPLY(uint32_t)
    default:
      APPLY(int64_t)
  }
}
static uint64_t data_of(const Operation* o, int turn) {
  return hash(hash(fuzz.seed, 7000 + (uint64_t)(o - operations)), (uint64_t)turn);
}
static char* element(const Type* type, char* base, long i) {
  return base + i / type->count * type->extent + type->map[i % type->count].at;
}

/* The target's type, which lies within the slot: the same for all ranks, as the model needs it. */
static Type target_type(const Operation* o, int* count, MPI_Aint* at) {
  Random random = plan_of((int)(o - operations), 5);
  const MPI_Aint begin = kHead + (MPI_Aint)o->slot * slot_bytes;
  for (int tries = 0;; tries++) {
    const int share = tries < 4 ? share_of(&random, o->repeats) : 1;
    Type type = type_of(&random, &o->pattern, share);
    MPI_Aint low, high;
    *count = o->repeats / share;
    span(&type, *count, &low, &high);
    *at = (begin - low + unit - 1) / unit * unit;
    if (*count > 0 && *at + high > begin + slot_bytes && tries > 20)
      *count = (int)((begin + slot_bytes - *at - type.high) / type.extent + 1);
    if (*at >= 0 && *at + high <= begin + slot_bytes && type.extent > 0) return type;
    if (tries > 20 && type.extent > 0) {
      if (*count < 0) *count = 0;
      return type;
    }
    drop_type(&type);
  }
}
static Side* keep(Worker* w, Side side, char* expected, const Operation* o) {
  CHECK(w->count < (int)(sizeof w->list / sizeof w->list[0]), "the list of buffers is full");
  w->list[w->count].side = side;
  w->list[w->count].expected = expected;
  w->list[w->count].operation = o;
  return &w->list[w->count++].side;
}
/* A buffer for what is there now in the model. */
static Side* expect(Worker* w, const Operation* o, int repeats, const Type* type, char* there) {
  Side side = side_of(&w->own, &o->pattern, repeats);
  char* expected = background_of(&side.buffer);
  const long elements = (long)repeats * o->pattern.count;
  for (long i = 0; i < elements; i++)
    memcpy(element(&side.type, expected + (side.buffer.base - side.buffer.memory), i),
           element(type, there, i), (size_t)basic(type->map[i % type->count].basic).size);
  return keep(w, side, expected, o);
}

/* --- operations --- */
static void wait_now(Worker* w, MPI_Request* request) {
  if (*request != MPI_REQUEST_NULL) complete(&w->own, request, MPI_STATUS_IGNORE);
}
static void call(Worker* w, const Operation* o, int what, const Side* from, const Side* to, const Type* type,
                 int count, MPI_Aint at) {
  const MPI_Aint place = displacement(o->target, at);
  const int t = o->target, by_request = uses_locks() && chance(&w->own, 40);
  MPI_Request q = MPI_REQUEST_NULL;
  void* in = to ? to->buffer.base : NULL;
  const void* out = from ? from->buffer.base : NULL;
  const MPI_Datatype target = type->type, taken = to ? to->type.type : MPI_INT,
                     given = from ? from->type.type : MPI_INT;
  const int n = from ? from->count : 0, m = to ? to->count : 0;
  const MPI_Op op = what == kChain ? op_of(from ? o->op : 1) : MPI_REPLACE;
  if (what == kPut && by_request) MPI_Rput(out, n, given, t, place, count, target, win, &q);
  if (what == kPut && !by_request) MPI_Put(out, n, given, t, place, count, target, win);
  if (what == kGet && by_request) MPI_Rget(in, m, taken, t, place, count, target, win, &q);
  if (what == kGet && !by_request) MPI_Get(in, m, taken, t, place, count, target, win);
  if (what == kChain && !to && by_request)
    MPI_Raccumulate(out, n, given, t, place, count, target, op, win, &q);
  if (what == kChain && !to && !by_request) MPI_Accumulate(out, n, given, t, place, count, target, op, win);
  if (what == kChain && to && by_request)
    MPI_Rget_accumulate(out, n, given, in, m, taken, t, place, count, target, op, win, &q);
  if (what == kChain && to && !by_request)
    MPI_Get_accumulate(out, n, given, in, m, taken, t, place, count, target, op, win);
  wait_now(w, &q);
}
/* Changes the model; with `begins` this rank begins the operation, too. */
static void operate(Worker* w, const Operation* o, int begins) {
  int count = 0;
  MPI_Aint at = 0;
  Type type = target_type(o, &count, &at);
  char* there = model[o->target] + at;
  const long elements = (long)count * type.count;
  const int repeats = (int)(elements / o->pattern.count);
  for (int turn = 0; turn < o->times; turn++) {
    const int what = o->kind == kPutGet ? (turn % 2 ? kGet : kPut) : o->kind, chain = what == kChain,
              fetches = what == kGet || (chain && hash(data_of(o, turn), 1) % 2),
              gives = what != kGet && !(chain && fetches && hash(data_of(o, turn), 2) % 4 == 0);
    if (begins) {
      Side *from = NULL, *to = fetches ? expect(w, o, repeats, &type, there) : NULL;
      if (gives) {
        Side side = side_of(&w->own, &o->pattern, repeats);
        put_elements(&side.type, side.buffer.base, 0, elements, data_of(o, turn), 0);
        from = keep(w, side, NULL, o);
      }
      call(w, o, what, from, to, &type, count, at);
      if (o->kind == kPutGet || (uses_locks() && chance(&w->own, 20))) MPI_Win_flush(o->target, win);
    }
    for (long i = 0; i < elements && gives; i++) {
      const int number = type.map[i % type.count].basic;
      char value[8];
      put_value(value, basic(number).size, value_of(data_of(o, turn), i));
      apply(chain ? o->op : 0, element(&type, there, i), value, number);
    }
  }
  if (begins)
    keep(w, (Side){type, {0}, 0}, NULL, o);
  else
    drop_type(&type);
}
/* Counters, or their model: each addition has a bit of its own, and sees it not yet there; or adds one by
 * compare and swap.
 */
static void count_up(Worker* w, const Operation* o, int begins) {
  const MPI_Aint byte = (MPI_Aint)o->counter * 16, place = displacement(o->target, byte),
                 second = displacement(o->target, byte + 8);
  const int step = (int)(o - operations) - first_step;
  for (int i = 0; i < o->times; i++) {
    if (begins && o->kind == kBits) {
      const uint64_t bit = 1ull << (step * 5 + i);
      uint64_t old = 0;
      if (chance(&w->own, 50))
        MPI_Fetch_and_op(&bit, &old, MPI_UINT64_T, o->target, place, MPI_SUM, win);
      else
        MPI_Get_accumulate(&bit, 1, MPI_UINT64_T, &old, 1, MPI_UINT64_T, o->target, place, 1, MPI_UINT64_T,
                           MPI_SUM, win);
      MPI_Win_flush(o->target, win);
      CHECK(!(old & bit), "%s: bit %d was there already", name_of(o), step * 5 + i);
    }
    int64_t expected = 0, wanted = 1, got = -1;
    while (begins && o->kind == kSwaps && got != expected) {
      if (got >= 0) expected = got;
      wanted = expected + 1;
      MPI_Compare_and_swap(&wanted, &expected, &got, MPI_INT64_T, o->target, second, win);
      MPI_Win_flush(o->target, win);
    }
    if (begins) continue;
    if (o->kind == kBits) *(uint64_t*)(model[o->target] + byte) += 1ull << (step * 5 + i);
    if (o->kind == kSwaps) ++*(int64_t*)(model[o->target] + byte + 8);
  }
}

/* --- epochs --- */
static void walk(int thread, void* data) {
  const int target = *(int*)data; /* or -1: all */
  for (int i = first_step; i < last_step; i++) {
    const Operation* o = &operations[i];
    if (!step_begins(i) || o->kind >= kGuarded || o->origin != fuzz.rank ||
        (target >= 0 && o->target != target))
      continue;
    if (target < 0 && i % threads != thread) continue;
    if (o->kind >= kBits)
      count_up(&workers[thread], o, 1);
    else
      operate(&workers[thread], o, 1);
  }
}
/* Each thread locks targets of its own, one after the other. */
static void lock_each(int thread, void* data) {
  (void)data;
  for (int i = 0; i < fuzz.size; i++) {
    int target = (i + fuzz.rank) % fuzz.size;
    if (target % threads != thread) continue;
    MPI_Win_lock(chance(&workers[thread].own, 30) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, win);
    walk(thread, &target);
    MPI_Win_unlock(target, win);
  }
}
static void synchronised(void) {
  MPI_Group all;
  int none = -1;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  if (sync_kind == kFence) MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  if (sync_kind == kPost) MPI_Win_post(all, 0, win);
  if (sync_kind == kPost) MPI_Win_start(all, 0, win);
  if (sync_kind == kLockAll) MPI_Win_lock_all(0, win);
  if (sync_kind == kLocks)
    in_threads(threads, lock_each, NULL);
  else
    in_threads(threads, walk, &none);
  if (sync_kind == kFence) MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  if (sync_kind == kPost) MPI_Win_complete(win);
  if (sync_kind == kPost) MPI_Win_wait(win);
  if (sync_kind == kLockAll) MPI_Win_unlock_all(win);
  MPI_Group_free(&all);
}
/* What other ranks do, in the model only; then all that this rank has got, and its memory. */
static void look(void) {
  for (int i = first_step; i < last_step; i++) {
    const Operation* o = &operations[i];
    if (!step_begins(i) || o->kind >= kGuarded) continue;
    if (o->kind >= kBits) count_up(&workers[0], o, 0);
    if (o->kind < kBits && o->origin != fuzz.rank) operate(&workers[0], o, 0);
  }
  for (int t = 0; t < kMostThreads; t++) {
    Worker* w = &workers[t];
    for (int i = 0; i < w->count; i++) {
      if (w->list[i].expected)
        compare(&w->list[i].side.buffer, w->list[i].expected, name_of(w->list[i].operation));
      drop_side(&w->list[i].side);
    }
    w->count = 0;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, fuzz.rank, 0, win);
  for (int i = 0; i < window_bytes; i++) {
    if (memory[i] == model[fuzz.rank][i]) continue;
    const int slot = (i - kHead) / slot_bytes;
    for (int s = first_step; s < last_step; s++)
      if (operations[s].target == fuzz.rank &&
          (i < kHead ? operations[s].kind >= kBits && operations[s].counter == i / 16
                     : operations[s].slot == slot && operations[s].kind < kBits))
        fail("byte %d of the window is %02x, should be %02x: %s", i, (unsigned char)memory[i],
             (unsigned char)model[fuzz.rank][i], name_of(&operations[s]));
    fail("%s window, %s: byte %d is %02x, should be %02x, and no rank writes there",
         kWindowNames[window_kind], kSyncNames[sync_kind], i, (unsigned char)memory[i],
         (unsigned char)model[fuzz.rank][i]);
  }
  MPI_Win_unlock(fuzz.rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
}
/* A rank stores into its own memory, without MPI; all ranks put that into the model. */
static void stores(Random* random) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, fuzz.rank, 0, win);
  for (int rank = 0; rank < fuzz.size; rank++) {
    const int at = kHead + below(random, window_bytes - kHead),
              bytes = below(random, window_bytes - at > 300 ? 300 : window_bytes - at);
    memset(model[rank], 0, kHead);
    fill(model[rank] + at, (size_t)bytes, draw(random));
    if (rank == fuzz.rank) memcpy(memory, model[rank], kHead);
    if (rank == fuzz.rank) memcpy(memory + at, model[rank] + at, (size_t)bytes);
  }
  MPI_Win_unlock(fuzz.rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* --- steps of their own --- */
/* One rank reads two numbers of its memory under MPI_Win_lock_all; another changes both under an exclusive
 * lock. */
static void guarded(Random* random) {
  const int reader = below(random, fuzz.size), writer = (reader + 1) % fuzz.size,
            turns = between(random, 10, 300);
  volatile int64_t* numbers = (volatile int64_t*)memory;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, fuzz.rank, 0, win);
  numbers[0] = numbers[2] = 0;
  MPI_Win_unlock(fuzz.rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < turns && fuzz.size > 1; i++) {
    if (fuzz.rank == reader) {
      MPI_Win_lock_all(0, win);
      MPI_Win_sync(win);
      const int64_t a = numbers[0];
      if (i % 8 == 0) sched_yield();
      for (volatile int k = 0; k < 500; k++)
        ;
      MPI_Win_sync(win);
      const int64_t b = numbers[2];
      MPI_Win_unlock_all(win);
      CHECK(a == b,
            "under MPI_Win_lock_all a rank reads %ld and %ld, which change together under exclusive locks",
            (long)a, (long)b);
    }
    if (fuzz.rank == writer) {
      const int64_t value = i + 1;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, reader, 0, win);
      MPI_Put(&value, 1, MPI_INT64_T, reader, displacement(reader, 0), 1, MPI_INT64_T, win);
      MPI_Win_flush(reader, win);
      for (volatile int k = 0; k < 500; k++)
        ;
      MPI_Put(&value, 1, MPI_INT64_T, reader, displacement(reader, 16), 1, MPI_INT64_T, win);
      MPI_Win_unlock(reader, win);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}
/* One operation on two pieces of the next rank, between which nothing is attached. */
static void pieces(Random* random) {
  static int both[1000];
  const int count = between(random, 1, 400), target = (fuzz.rank + 1) % fuzz.size,
            from = (fuzz.rank + fuzz.size - 1) % fuzz.size;
  int lengths[2] = {count, count}, *out = malloc(sizeof(int) * 800);
  MPI_Aint here[2], there[2];
  MPI_Win dynamic;
  MPI_Datatype type;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
  for (int i = 0; i < 1000; i++) both[i] = -1;
  for (int i = 0; i < 2; i++) {
    MPI_Win_attach(dynamic, both + 500 * i, sizeof(int) * (MPI_Aint)count);
    MPI_Get_address(both + 500 * i, &here[i]);
  }
  MPI_Sendrecv(here, 2, MPI_AINT, from, 20, there, 2, MPI_AINT, target, 20, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Type_create_hindexed(2, lengths, there, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < 2 * count; i++) out[i] = fuzz.rank * 1000 + i;
  MPI_Win_fence(0, dynamic);
  MPI_Put(out, 2 * count, MPI_INT, target, 0, 1, type, dynamic);
  MPI_Win_fence(0, dynamic);
  for (int i = 0; i < 1000; i++) {
    const int wanted = i % 500 < count ? from * 1000 + i % 500 + (i < 500 ? 0 : count) : -1;
    CHECK(both[i] == wanted, "number %d of two attached pieces is %d, should be %d", i, both[i], wanted);
  }
  for (int i = 0; i < 2; i++) MPI_Win_detach(dynamic, both + 500 * i);
  MPI_Type_free(&type);
  MPI_Win_free(&dynamic);
  free(out);
}
static void aligned(Random* random) {
  const int alignment = 16 << below(random, 15), bytes = below(random, 10000),
            shared = below(random, 2) && is_one_host();
  char text[20];
  void* base = NULL;
  MPI_Info info;
  MPI_Win own;
  snprintf(text, sizeof text, "%d", alignment);
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_minimum_memory_alignment", text);
  if (shared) MPI_Info_set(info, "alloc_shared_noncontig", "true");
  if (shared)
    MPI_Win_allocate_shared(bytes, 1, info, MPI_COMM_WORLD, &base, &own);
  else
    MPI_Win_allocate(bytes, 1, info, MPI_COMM_WORLD, &base, &own);
  CHECK(bytes == 0 || (uintptr_t)base % (uintptr_t)alignment == 0, "%s of %d bytes aligned to %d gives %p",
        shared ? "MPI_Win_allocate_shared" : "MPI_Win_allocate", bytes, alignment, base);
  memset(base, 1, (size_t)bytes);
  MPI_Win_free(&own);
  MPI_Info_free(&info);
}

/* --- the plan --- */
static void make_window(Random* random) {
  static const int sizes[] = {64, 1024, 8192, 65536};
  window_kind = below(random, kWindows);
  if (window_kind == kShared && !is_one_host()) window_kind = kAllocate;
  unit = 1 << below(random, 4);
  slot_bytes = sizes[below(random, 4)];
  while (slot_bytes > 64 && slot_bytes > fuzz.bytes) slot_bytes /= 4;
  window_bytes = kHead + kSlots * slot_bytes;
  void* given = NULL;
  if (window_kind == kCreate || window_kind == kDynamic) MPI_Alloc_mem(window_bytes, MPI_INFO_NULL, &given);
  if (window_kind == kCreate) MPI_Win_create(given, window_bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  if (window_kind == kAllocate)
    MPI_Win_allocate(window_bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &given, &win);
  if (window_kind == kShared)
    MPI_Win_allocate_shared(window_bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &given, &win);
  if (window_kind == kDynamic) MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  if (window_kind == kDynamic) MPI_Win_attach(win, given, window_bytes);
  memory = given;
  MPI_Aint address = 0;
  MPI_Get_address(given, &address);
  MPI_Allgather(&address, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD);
  memset(memory, 0, (size_t)window_bytes);
  for (int i = 0; i < fuzz.size; i++) model[i] = calloc(1, (size_t)window_bytes);
  MPI_Barrier(MPI_COMM_WORLD);
}
static void free_window(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (window_kind == kDynamic) MPI_Win_detach(win, memory);
  MPI_Win_free(&win);
  if (window_kind == kCreate || window_kind == kDynamic) MPI_Free_mem(memory);
  for (int i = 0; i < fuzz.size; i++) free(model[i]);
}
static Operation operation_of(int i, int slot) {
  static const int whole[] = {1, 2, 3, 4, 6};
  Random random = plan_of(i, 0);
  Operation o = {.kind = below(&random, kSwaps + 1),
                 .origin = below(&random, fuzz.size),
                 .target = below(&random, fuzz.size),
                 .slot = slot};
  if (chance(&random, 8)) o.kind = between(&random, kGuarded, kAligned);
  if (!uses_locks() && (o.kind == kBits || o.kind == kSwaps || o.kind == kPutGet))
    o.kind = below(&random, 2) ? kPut : kChain;
  if (left_out(o.kind)) o.kind = kGet;
  o.pattern = pattern_of(&random);
  if (o.kind == kChain) o.pattern = (Pattern){1, {whole[below(&random, 5)], 0}, 0};
  if (o.kind == kChain) o.pattern.bytes = basic(o.pattern.basics[0]).size;
  o.times = o.kind >= kPutGet ? between(&random, 1, 4) : 1;
  o.op = below(&random, 5);
  if (o.op == 1) o.op = 5; /* MPI_NO_OP is not for MPI_Accumulate */
  o.counter = below(&random, kCounters);
  o.repeats = bytes_of(&random, slot_bytes) / o.pattern.bytes;
  return o;
}
static void plan(int steps) {
  Random random = plan_of(-2, 0);
  make_window(&random);
  for (int i = 0; i < kMostThreads; i++) workers[i].own = own_of(-2, 10 + i);
  for (first_step = 0; first_step < steps; first_step = last_step) {
    Random epoch = plan_of(first_step, 9);
    int slots[kSlots], chosen = 0;
    sync_kind = below(&epoch, kSyncs);
    threads = sync_kind >= kLocks && chance(&epoch, 30) ? threads_of(&epoch, kMostThreads) : 1;
    permute(&epoch, slots, kSlots);
    last_step = first_step + between(&epoch, 1, 10);
    if (last_step > steps) last_step = steps;
    for (int i = first_step; i < last_step; i++) {
      operations[i] = operation_of(i, slots[i - first_step]);
      chosen += step_begins(i);
      if (step_begins(i)) note("%s", name_of(&operations[i]));
    }
    if (!chosen) continue;
    stores(&epoch);
    synchronised();
    look();
    for (int i = first_step; i < last_step; i++) {
      Random own = plan_of(i, 3);
      if (!step_begins(i)) continue;
      if (operations[i].kind == kGuarded) guarded(&own);
      if (operations[i].kind == kPieces) pieces(&own);
      if (operations[i].kind == kAligned) aligned(&own);
    }
  }
  free_window();
}

int main(int argc, char** argv) {
  fuzz_init(argc, argv, "rma");
  run_seeds(60, plan);
  MPI_Finalize();
  return 0;
}
