/* Windows as objects: kinds, attributes, names, info, groups, error handlers, shared memory, attached memory.
 */
#include <stdint.h>

#include "check.h"

static int rank, size;

static void check_attributes(MPI_Win win, const void* base, MPI_Aint bytes, int unit, int flavor) {
  void* value = NULL;
  int flag = 0;
  MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag);
  CHECK(flag && value == base);
  MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag);
  CHECK_EQ(*(MPI_Aint*)value, bytes);
  MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag);
  CHECK_EQ(*(int*)value, unit);
  MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag);
  CHECK_EQ(*(int*)value, flavor);
  MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag);
  CHECK_EQ(*(int*)value, MPI_WIN_UNIFIED);
}

static int deleted;
static int delete_it(MPI_Win win, int key, void* value, void* state) {
  (void)win, (void)key, (void)state;
  deleted = *(int*)value;
  return MPI_SUCCESS;
}

static void test_own_attributes(MPI_Win win, int* key) {
  int value = 17, flag = 1, *found = NULL;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_it, key, NULL);
  MPI_Win_get_attr(win, *key, &found, &flag);
  CHECK_EQ(flag, 0);
  MPI_Win_set_attr(win, *key, &value);
  MPI_Win_get_attr(win, *key, &found, &flag);
  CHECK(flag && found == &value);
  MPI_Win_delete_attr(win, *key);
  CHECK_EQ(deleted, 17);
}

static void test_name_group_info(MPI_Win win) {
  char name[MPI_MAX_OBJECT_NAME] = "?", value[64] = "";
  int length = -1, flag = 0, same = -1;
  MPI_Win_get_name(win, name, &length);
  CHECK_EQ(length, 0);
  MPI_Win_set_name(win, "table");
  MPI_Win_get_name(win, name, &length);
  CHECK_STR(name, "table");
  MPI_Win_get_name(MPI_WIN_NULL, name, &length);
  CHECK_STR(name, "MPI_WIN_NULL");
  MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  MPI_Win_get_group(win, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_compare(group, world, &same);
  CHECK_EQ(same, MPI_IDENT);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Win_get_info(win, &info);
  MPI_Info_get(info, "accumulate_ordering", 63, value, &flag);
  CHECK(flag);
  CHECK_STR(value, "none");
  MPI_Info_set(info, "no_locks", "true");
  MPI_Win_set_info(win, info);
  MPI_Info_free(&info);
  MPI_Win_get_info(win, &info);
  MPI_Info_get(info, "no_locks", 63, value, &flag);
  CHECK(flag);
  CHECK_STR(value, "true");
  MPI_Info_free(&info);
}

static int handled;
static void handle(MPI_Win* win, int* code, ...) {
  (void)win;
  MPI_Error_class(*code, &handled);
}

static void test_errhandler(MPI_Win win) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL, found = MPI_ERRHANDLER_NULL;
  MPI_Win_create_errhandler(handle, &handler);
  MPI_Win_get_errhandler(win, &found);
  CHECK(found == MPI_ERRORS_ARE_FATAL);
  MPI_Win_set_errhandler(win, handler);
  MPI_Win_unlock(0, win);
  CHECK_EQ(handled, MPI_ERR_RMA_SYNC);
  MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
  CHECK_EQ(handled, MPI_ERR_OTHER);
  MPI_Win_get_errhandler(win, &found);
  CHECK(found == handler);
  MPI_Errhandler_free(&found);
  MPI_Errhandler_free(&handler);
  MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
}

static void test_create(void) {
  int memory[10], key = MPI_KEYVAL_INVALID, five = 5;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "accumulate_ordering", "none");
  MPI_Win_create(memory, sizeof memory, 2, info, MPI_COMM_WORLD, &win);
  MPI_Info_free(&info);
  check_attributes(win, memory, sizeof memory, 2, MPI_WIN_FLAVOR_CREATE);
  test_own_attributes(win, &key);
  test_name_group_info(win);
  test_errhandler(win);
  MPI_Win_set_attr(win, key, &five);
  MPI_Win_free(&win);
  CHECK_EQ(deleted, 5);
  MPI_Win_free_keyval(&key);
  CHECK_EQ(key, MPI_KEYVAL_INVALID);
  /* Ranks may have no memory. */
  MPI_Win_create(rank == 0 ? memory : NULL, rank == 0 ? (MPI_Aint)sizeof memory : 0, 1, MPI_INFO_NULL,
                 MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(NULL, 0, MPI_INT, size - 1, 0, 0, MPI_INT, win);
  MPI_Put(&five, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  /* A displacement unit that no int can express, as the attribute is one. */
  MPI_Win_create_c(memory, sizeof memory, ((MPI_Aint)1 << 32) + 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  check_attributes(win, memory, sizeof memory, MPI_UNDEFINED, MPI_WIN_FLAVOR_CREATE);
  MPI_Win_free(&win);
}

static void test_allocate(void) {
  char* base = NULL;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_allocate(1000 * (rank % 3), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  check_attributes(win, base, 1000 * (rank % 3), 8, MPI_WIN_FLAVOR_ALLOCATE);
  for (int i = 0; i < 1000 * (rank % 3); ++i) base[i] = (char)rank;
  MPI_Win_free(&win);
  MPI_Win_allocate_c(1 << 20, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  base[(1 << 20) - 1] = 1;
  MPI_Win_free(&win);
}

static void test_shared(int apart) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Info info = MPI_INFO_NULL;
  int own = -1, ranks = 0, *base = NULL, unit = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &own);
  MPI_Comm_size(node, &ranks);
  MPI_Info_create(&info);
  if (apart) MPI_Info_set(info, "alloc_shared_noncontig", "true");
  MPI_Win_allocate_shared((own + 1) * (MPI_Aint)sizeof(int), sizeof(int), info, node, &base, &win);
  MPI_Info_free(&info);
  check_attributes(win, base, (own + 1) * (MPI_Aint)sizeof(int), sizeof(int), MPI_WIN_FLAVOR_SHARED);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  for (int i = 0; i <= own; ++i) base[i] = 100 * own + i;
  MPI_Win_sync(win);
  MPI_Barrier(node);
  MPI_Win_sync(win);
  int* before = NULL;
  for (int other = 0; other < ranks; ++other) {
    int* theirs = NULL;
    MPI_Aint bytes = -1;
    MPI_Win_shared_query(win, other, &bytes, &unit, &theirs);
    CHECK_EQ(bytes, (other + 1) * (MPI_Aint)sizeof(int));
    CHECK_EQ(unit, sizeof(int));
    for (int i = 0; i <= other; ++i) CHECK_EQ(theirs[i], 100 * other + i);
    if (other == 0) {
      int* first = NULL;
      MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &first);
      CHECK(first == theirs);
    } else if (!apart) {
      CHECK(theirs == before + other);
    }
    before = theirs;
  }
  MPI_Barrier(node);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Comm_free(&node);
}

/* A part of size 0 begins where the one before it ends. */
static void test_empty_parts(void) {
  MPI_Comm node = MPI_COMM_NULL;
  int own = -1, ranks = 0, unit = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &own);
  MPI_Comm_size(node, &ranks);
  for (int odd = 0; odd < 2; ++odd) {
    MPI_Win win = MPI_WIN_NULL;
    char *base = NULL, *end = NULL;
    MPI_Win_allocate_shared(own % 2 == odd ? 0 : 24, 1, MPI_INFO_NULL, node, &base, &win);
    for (int other = 0; other < ranks; ++other) {
      char* theirs = NULL;
      MPI_Aint bytes = -1;
      MPI_Win_shared_query(win, other, &bytes, &unit, &theirs);
      CHECK_EQ(bytes, other % 2 == odd ? 0 : 24);
      CHECK(theirs != NULL && (other == 0 || theirs == end));
      if (other == own) CHECK(theirs == base);
      end = theirs + bytes;
    }
    MPI_Win_free(&win);
  }
  MPI_Comm_free(&node);
}

/* Memory is aligned as the program asks for, and MPI_Win_get_info tells to what. `apart`: the ranks' parts of
   shared memory need not touch. */
static void test_alignment(MPI_Comm node, long long wanted, int shared, int apart) {
  char text[32], told[64] = "";
  int flag = 0;
  char* base = NULL;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  snprintf(text, sizeof text, "%lld", wanted);
  MPI_Info_set(info, "mpi_minimum_memory_alignment", text);
  if (apart) MPI_Info_set(info, "alloc_shared_noncontig", "true");
  const MPI_Aint bytes = shared && !apart ? 2 * wanted : 1000;
  if (shared)
    MPI_Win_allocate_shared(bytes, 1, info, node, &base, &win);
  else
    MPI_Win_allocate(bytes, 1, info, MPI_COMM_WORLD, &base, &win);
  MPI_Info_free(&info);
  CHECK_EQ((intptr_t)base % wanted, 0);
  base[0] = base[bytes - 1] = (char)rank;
  MPI_Win_get_info(win, &info);
  MPI_Info_get(info, "mpi_minimum_memory_alignment", 63, told, &flag);
  CHECK(flag);
  CHECK_EQ(atoll(told), wanted);
  MPI_Info_set(info, "mpi_minimum_memory_alignment", "1073741824"); /* too late */
  MPI_Win_set_info(win, info);
  MPI_Info_free(&info);
  MPI_Win_get_info(win, &info);
  MPI_Info_get(info, "mpi_minimum_memory_alignment", 63, told, &flag);
  CHECK_EQ(atoll(told), wanted);
  MPI_Info_free(&info);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQ(base[0], rank);
  MPI_Win_free(&win);
}

static void test_alignments(void) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  for (long long wanted = 256; wanted <= 1 << 21; wanted *= 8192) {
    test_alignment(node, wanted, 0, 0);
    test_alignment(node, wanted, 1, 0);
    test_alignment(node, wanted, 1, 1);
  }
  test_alignment(node, 65536, 0, 0);
  /* Without gaps a rank's part follows that of the rank before, whatever was asked for. */
  int own = 0, flag = 0;
  char *base = NULL, told[64] = "";
  MPI_Win win = MPI_WIN_NULL;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Comm_rank(node, &own);
  MPI_Win_allocate_shared(8, 8, MPI_INFO_NULL, node, &base, &win);
  MPI_Win_get_info(win, &info);
  MPI_Info_get(info, "mpi_minimum_memory_alignment", 63, told, &flag);
  CHECK(flag && (intptr_t)base % atoll(told) == 0);
  if (own == 1) CHECK_EQ(atoll(told), 8);
  MPI_Info_free(&info);
  MPI_Win_free(&win);
  MPI_Comm_free(&node);
}

static void test_dynamic(void) {
  enum { kInts = 50 };
  int *memory = malloc(kInts * sizeof(int)), *others = malloc(kInts * sizeof(int)), out[kInts], in[kInts];
  MPI_Aint address = 0, *all = malloc(sizeof(MPI_Aint) * (size_t)size);
  MPI_Win win = MPI_WIN_NULL;
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  check_attributes(win, MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
  /* A rank that has nothing to attach need not know. */
  CHECK_EQ(MPI_Win_attach(win, NULL, 0), MPI_SUCCESS);
  CHECK_EQ(MPI_Win_detach(win, NULL), MPI_SUCCESS);
  MPI_Win_attach(win, others, kInts * sizeof(int));
  MPI_Win_attach(win, memory, kInts * sizeof(int));
  MPI_Win_detach(win, others);
  MPI_Get_address(memory, &address);
  MPI_Allgather(&address, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
  for (int i = 0; i < kInts; ++i) out[i] = rank + i, memory[i] = in[i] = -1;
  MPI_Win_fence(0, win);
  MPI_Put(out, kInts, MPI_INT, right, all[right], kInts, MPI_INT, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < kInts; ++i) CHECK_EQ(memory[i], left + i);
  MPI_Win_fence(0, win);
  MPI_Get(in, 5, MPI_INT, right, MPI_Aint_add(all[right], 5 * sizeof(int)), 5, MPI_INT, win);
  MPI_Accumulate(out, 1, MPI_INT, right, all[right], 1, MPI_INT, MPI_SUM, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  for (int i = 0; i < 5; ++i) CHECK_EQ(in[i], rank + i + 5);
  CHECK_EQ(memory[0], 2 * left);
  MPI_Win_detach(win, memory);
  MPI_Win_free(&win);
  free(memory), free(others), free(all);
}

/* One operation on several pieces of attached memory, with memory between them that is not attached
   (MPI-5.0 section 12.2.4). */
static void test_pieces(void) {
  enum { kPiece = 8, kFar = 500, kAll = 3 * kFar };
  static int memory[kAll];
  int out[2 * kPiece], in[2 * kPiece];
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Aint places[2], *all = malloc(2 * sizeof(MPI_Aint) * (size_t)size);
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  for (int piece = 0; piece < 2; ++piece) {
    MPI_Win_attach(win, memory + piece * kFar, kPiece * sizeof(int));
    MPI_Get_address(memory + piece * kFar, &places[piece]);
  }
  MPI_Allgather(places, 2, MPI_AINT, all, 2, MPI_AINT, MPI_COMM_WORLD);
  for (int i = 0; i < kAll; ++i) memory[i] = -1;
  for (int i = 0; i < 2 * kPiece; ++i) out[i] = 100 * rank + i, in[i] = -1;
  MPI_Datatype both, three;
  MPI_Aint wrong[3] = {all[2 * right], all[2 * right + 1], all[2 * right] + 2 * kFar * (MPI_Aint)sizeof(int)};
  MPI_Type_create_hindexed(2, (int[]){kPiece, kPiece}, wrong, MPI_INT, &both);
  MPI_Type_create_hindexed(3, (int[]){kPiece, kPiece - 1, 1}, wrong, MPI_INT, &three);
  MPI_Type_commit(&both);
  MPI_Type_commit(&three);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
  CHECK_OK(MPI_Put(out, 2 * kPiece, MPI_INT, right, 0, 1, both, win));
  CHECK_OK(MPI_Win_flush(right, win));
  CHECK_OK(MPI_Accumulate(out, 2 * kPiece, MPI_INT, right, 0, 1, both, MPI_SUM, win));
  CHECK_OK(MPI_Win_flush(right, win));
  CHECK_OK(MPI_Get(in, 2 * kPiece, MPI_INT, right, 0, 1, both, win));
  CHECK_OK(MPI_Win_flush(right, win));
  for (int i = 0; i < 2 * kPiece; ++i) CHECK_EQ(in[i], 2 * out[i]);
  /* Its third block is not attached. The error comes with the flush if the target has to be asked. */
  int code = MPI_Put(out, 2 * kPiece, MPI_INT, right, 0, 1, three, win);
  if (code == MPI_SUCCESS) code = MPI_Win_flush(right, win);
  CHECK_CLASS(code, MPI_ERR_RMA_RANGE);
  MPI_Win_unlock(right, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  for (int i = 0; i < kAll; ++i) {
    const int piece = i / kFar, at = i % kFar;
    CHECK_EQ(memory[i], piece < 2 && at < kPiece ? 2 * (100 * left + piece * kPiece + at) : -1);
  }
  MPI_Win_unlock(rank, win);
  for (int piece = 0; piece < 2; ++piece) MPI_Win_detach(win, memory + piece * kFar);
  MPI_Type_free(&both);
  MPI_Type_free(&three);
  MPI_Win_free(&win);
  free(all);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  test_create();
  test_allocate();
  test_shared(0);
  test_shared(1);
  test_empty_parts();
  test_alignments();
  test_dynamic();
  test_pieces();
  MPI_Finalize();
  return check_result();
}
