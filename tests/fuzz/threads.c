/* Part threads: in each step several threads of every rank make, use and free objects at the same time:
   types, keys and attributes, infos, names, groups, operations, error handlers, windows, communicators. A
   thread has objects of its own, or a part of a shared one: its keys of a communicator, its entries of an
   info. It always finds what it has put there itself. */
#include "comms.h"
#include "fuzz.h"

enum { kTurns = 300 };
enum {
  kTypes,
  kCommKeys,
  kTypeKeys,
  kWinKeys,
  kInfos,
  kNames,
  kLocks,
  kComms,
  kSmall,
  kMessages,
  kErrors,
  kKinds
};
static const char* const kNamesOfKinds[] = {"types",
                                            "keys of a communicator",
                                            "keys of a type",
                                            "keys of a window",
                                            "an info",
                                            "names",
                                            "window locks",
                                            "communicators",
                                            "groups, operations and error handlers",
                                            "messages",
                                            "error classes"};

static struct {
  int kind, count;
  MPI_Comm own[kMostThreads]; /* one for each thread */
  MPI_Comm shared;
  MPI_Datatype type;
  MPI_Info info;
  MPI_Win win;
  long* memory; /* of the window: a cell for each thread of each rank */
} now;

static void own_types(Random* random, int thread) {
  MPI_Datatype type, copy;
  int size = 0, length = 0;
  char name[MPI_MAX_OBJECT_NAME], wanted[40];
  const int count = between(random, 1, 50);
  if (chance(random, 50))
    MPI_Type_contiguous(count, MPI_INT, &type);
  else
    MPI_Type_vector(count, 1, 3, MPI_INT, &type);
  if (chance(random, 50)) MPI_Type_commit(&type);
  MPI_Type_size(type, &size);
  CHECK(size == 4 * count, "the size of a type of thread %d is %d, not %d", thread, size, 4 * count);
  if (chance(random, 30)) {
    snprintf(wanted, sizeof wanted, "type of thread %d", thread);
    MPI_Type_set_name(type, wanted);
    MPI_Type_get_name(type, name, &length);
    CHECK(!strcmp(name, wanted), "the name of a type of thread %d is '%s'", thread, name);
  }
  MPI_Type_dup(type, &copy);
  MPI_Type_free(&type);
  MPI_Type_size(copy, &size);
  CHECK(size == 4 * count, "the size of a copied type of thread %d is %d, not %d", thread, size, 4 * count);
  MPI_Type_free(&copy);
}

/* A key that only this thread uses, on an object that all use. */
static void check_attribute(int thread, int found, const void* value, const void* wanted) {
  CHECK(found && value == wanted, "thread %d set an attribute to %p, and finds %p, flag %d", thread, wanted,
        value, found);
}
static void comm_keys(int thread, char* value) {
  int key = 0, found = 0;
  void* got = NULL;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(now.shared, key, value);
  MPI_Comm_get_attr(now.shared, key, &got, &found);
  check_attribute(thread, found, got, value);
  MPI_Comm_delete_attr(now.shared, key);
  MPI_Comm_get_attr(now.shared, key, &got, &found);
  CHECK(!found, "thread %d finds an attribute that it has deleted", thread);
  MPI_Comm_free_keyval(&key);
}
static void type_keys(int thread, char* value) {
  int key = 0, found = 0;
  void* got = NULL;
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
  MPI_Type_set_attr(now.type, key, value);
  MPI_Type_get_attr(now.type, key, &got, &found);
  check_attribute(thread, found, got, value);
  MPI_Type_delete_attr(now.type, key);
  MPI_Type_free_keyval(&key);
}
static void win_keys(int thread, char* value) {
  int key = 0, found = 0;
  void* got = NULL;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
  MPI_Win_set_attr(now.win, key, value);
  MPI_Win_get_attr(now.win, key, &got, &found);
  check_attribute(thread, found, got, value);
  MPI_Win_delete_attr(now.win, key);
  MPI_Win_free_keyval(&key);
}

static void infos(Random* random, int thread) {
  char key[40], wanted[60], value[60];
  int room = sizeof value, found = 0;
  MPI_Info copy;
  snprintf(key, sizeof key, "key %d of thread %d", below(random, 3), thread);
  snprintf(wanted, sizeof wanted, "value %d", below(random, 1000000));
  MPI_Info_set(now.info, key, wanted);
  MPI_Info_get_string(now.info, key, &room, value, &found);
  CHECK(found && !strcmp(value, wanted), "thread %d set '%s' of an info to '%s', and finds '%s', flag %d",
        thread, key, wanted, found ? value : "", found);
  if (chance(random, 10)) {
    MPI_Info_dup(now.info, &copy);
    room = sizeof value;
    MPI_Info_get_string(copy, key, &room, value, &found);
    CHECK(found && !strcmp(value, wanted), "thread %d finds '%s' in a copy of an info, not '%s'", thread,
          found ? value : "", wanted);
    MPI_Info_free(&copy);
  }
  MPI_Info_delete(now.info, key);
}

/* Every name is one letter again and again: a name of two letters is a mixed one. */
static void check_name(const char* name, int length, int thread) {
  for (int i = 0; i < length; i++)
    CHECK(name[i] == name[0] && name[i] >= 'a' && name[i] < 'a' + kMostThreads,
          "thread %d finds the name '%s', which no thread has set", thread, name);
  CHECK((int)strlen(name) == length, "thread %d finds the name '%s' of length %d", thread, name, length);
}
static void names(Random* random, int thread) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  memset(name, 'a' + thread, (size_t)between(random, 1, 60));
  MPI_Comm_set_name(now.shared, name);
  MPI_Type_set_name(now.type, name);
  MPI_Win_set_name(now.win, name);
  MPI_Comm_get_name(now.shared, name, &length);
  check_name(name, length, thread);
  MPI_Type_get_name(now.type, name, &length);
  check_name(name, length, thread);
  MPI_Win_get_name(now.win, name, &length);
  check_name(name, length, thread);
}

/* Each thread locks a target of its own: a rank may hold one lock of a target. */
static void locks(Random* random, int thread, long turn) {
  const int target = thread;
  const MPI_Aint cell = fuzz.rank * kMostThreads + thread;
  long back = -1, value = turn * 100 + fuzz.rank;
  MPI_Win_lock(chance(random, 40) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, now.win);
  MPI_Put(&value, 1, MPI_LONG, target, cell, 1, MPI_LONG, now.win);
  MPI_Win_flush(target, now.win);
  MPI_Get(&back, 1, MPI_LONG, target, cell, 1, MPI_LONG, now.win);
  MPI_Win_unlock(target, now.win);
  CHECK(back == value, "thread %d put %ld into the window of rank %d, and gets %ld", thread, value, target,
        back);
}

static void communicators(Random* random, int thread, long turn) {
  MPI_Comm made;
  MPI_Group group;
  MPI_Request request;
  int sum = 0;
  const int one = 1, way = (int)(turn % 3);
  if (way == 0) MPI_Comm_dup(now.own[thread], &made);
  if (way == 1) {
    MPI_Comm_group(now.own[thread], &group);
    MPI_Comm_create_group(now.own[thread], group, thread, &made);
    MPI_Group_free(&group);
  }
  if (way == 2) {
    MPI_Comm_idup(now.own[thread], &made, &request);
    complete(random, &request, MPI_STATUS_IGNORE);
  }
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made);
  CHECK(sum == fuzz.size, "the sum over a communicator of thread %d is %d, not %d", thread, sum, fuzz.size);
  MPI_Comm_free(&made);
}

static void difference(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; i++) ((int*)inout)[i] = ((int*)in)[i] - ((int*)inout)[i];
}
static void handler(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
}
static void small_objects(Random* random, int thread) {
  MPI_Group all, some;
  MPI_Op op;
  MPI_Errhandler made, got;
  int size = 0, in[3] = {10, 20, 30}, inout[3] = {1, 2, 3};
  const int ranks[1] = {below(random, fuzz.size)};
  MPI_Comm_group(now.shared, &all);
  MPI_Group_incl(all, 1, ranks, &some);
  MPI_Group_size(some, &size);
  CHECK(size == 1, "a group of thread %d has %d ranks", thread, size);
  MPI_Group_free(&all);
  MPI_Group_free(&some);
  MPI_Op_create(difference, 0, &op);
  MPI_Reduce_local(in, inout, 3, MPI_INT, op);
  CHECK(inout[0] == 9 && inout[1] == 18 && inout[2] == 27, "a reduction of thread %d gives %d", thread,
        inout[0]);
  MPI_Op_free(&op);
  MPI_Comm_create_errhandler(handler, &made);
  MPI_Comm_set_errhandler(now.own[thread], made);
  MPI_Comm_get_errhandler(now.own[thread], &got);
  CHECK(got == made, "thread %d finds another error handler than it has set", thread);
  MPI_Errhandler_free(&got);
  MPI_Comm_set_errhandler(now.own[thread], MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&made);
}

/* On one communicator, each thread with a tag of its own: to the next rank, from the one before. */
static void messages(Random* random, int thread, long turn) {
  static _Thread_local int out[2000], in[2000];
  MPI_Request requests[2];
  MPI_Status statuses[2];
  const int count = (int)(hash((uint64_t)turn, (uint64_t)thread) % 2000), to = (fuzz.rank + 1) % fuzz.size,
            from = (fuzz.rank + fuzz.size - 1) % fuzz.size;
  int got = 0;
  for (int i = 0; i < count; i++) out[i] = fuzz.rank * 1000000 + thread * 100000 + i;
  MPI_Irecv(in, 2000, MPI_INT, from, thread, now.shared, &requests[0]);
  if (chance(random, 50))
    MPI_Isend(out, count, MPI_INT, to, thread, now.shared, &requests[1]);
  else
    MPI_Issend(out, count, MPI_INT, to, thread, now.shared, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  MPI_Get_count(&statuses[0], MPI_INT, &got);
  CHECK(got == count, "thread %d gets %d numbers, not %d", thread, got, count);
  for (int i = 0; i < count; i++)
    CHECK(in[i] == from * 1000000 + thread * 100000 + i, "thread %d gets %d as number %d", thread, in[i], i);
}

static void error_classes(int thread) {
  int class = 0, code = 0, back = 0, length = 0;
  char text[MPI_MAX_ERROR_STRING], wanted[40];
  MPI_Add_error_class(&class);
  MPI_Add_error_code(class, &code);
  snprintf(wanted, sizeof wanted, "of thread %d: %d", thread, code);
  MPI_Add_error_string(code, wanted);
  MPI_Error_class(code, &back);
  MPI_Error_string(code, text, &length);
  CHECK(back == class && !strcmp(text, wanted), "thread %d finds class %d, not %d, and '%s'", thread, back,
        class, text);
}

static void work(int thread, void* data) {
  Random random = own_of(fuzz_step, 100 + thread);
  (void)data;
  for (long turn = 0; turn < kTurns; turn++) {
    char* const value = (char*)(intptr_t)(turn * 8 + thread + 1);
    if (now.kind == kTypes) own_types(&random, thread);
    if (now.kind == kCommKeys) comm_keys(thread, value);
    if (now.kind == kTypeKeys) type_keys(thread, value);
    if (now.kind == kWinKeys) win_keys(thread, value);
    if (now.kind == kInfos) infos(&random, thread);
    if (now.kind == kNames) names(&random, thread);
    if (now.kind == kLocks && turn < kTurns / 3) locks(&random, thread, turn);
    if (now.kind == kComms && turn < kTurns / 20) communicators(&random, thread, turn);
    if (now.kind == kSmall) small_objects(&random, thread);
    if (now.kind == kMessages && turn < kTurns / 3) messages(&random, thread, turn);
    if (now.kind == kErrors && turn < 10) error_classes(thread);
  }
}

static void plan(int steps) {
  for (int i = 0; i < kMostThreads; i++) MPI_Comm_dup(MPI_COMM_WORLD, &now.own[i]);
  MPI_Comm_dup(MPI_COMM_WORLD, &now.shared);
  MPI_Type_contiguous(3, MPI_INT, &now.type);
  MPI_Info_create(&now.info);
  MPI_Win_allocate((MPI_Aint)sizeof(long) * fuzz.size * kMostThreads, sizeof(long), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &now.memory, &now.win);
  for (int i = 0; i < steps; i++) {
    Random random = plan_of(i, 0);
    if (!step_begins(i)) continue;
    now.kind = below(&random, kKinds);
    now.count = threads_of(&random, kMostThreads);
    if (now.kind == kLocks && now.count > fuzz.size) now.count = fuzz.size;
    if (left_out(now.kind)) continue;
    note("%d threads: %s", now.count, kNamesOfKinds[now.kind]);
    in_threads(now.count, work, NULL);
  }
  for (int i = 0; i < kMostThreads; i++) MPI_Comm_free(&now.own[i]);
  MPI_Comm_free(&now.shared);
  MPI_Type_free(&now.type);
  MPI_Info_free(&now.info);
  MPI_Win_free(&now.win);
}

int main(int argc, char** argv) {
  fuzz_init(argc, argv, "threads");
  run_seeds(12, plan);
  MPI_Finalize();
  return 0;
}
