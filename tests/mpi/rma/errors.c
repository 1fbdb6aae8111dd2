/* Wrong use: the error class, and that ranks and windows go on. */
#include <signal.h>
#include <sys/resource.h>

#include "check.h"

static int rank, size;

static void says(int code, const char* words) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  if (strstr(text, words) == NULL) CHECK_FAILED("'%s' is not in '%s'", words, text);
}

static void test_places(MPI_Win win) {
  int value = 1, out[4] = {0};
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 10, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 0, -1, 1, MPI_INT, win), MPI_ERR_DISP);
  CHECK_CLASS(MPI_Get(out, 4, MPI_INT, 0, 7, 4, MPI_INT, win), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 0, (MPI_Aint)1 << 62, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, size, 0, 1, MPI_INT, win), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Put(out, 4, MPI_INT, 0, 0, 3, MPI_INT, win), MPI_ERR_TRUNCATE);
  CHECK_CLASS(MPI_Put(out, -1, MPI_INT, 0, 0, 3, MPI_INT, win), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Put(out, 1, MPI_DATATYPE_NULL, 0, 0, 3, MPI_INT, win), MPI_ERR_TYPE);
  const int code = MPI_Get(out, 4, MPI_INT, 0, 7, 4, MPI_INT, win);
  says(code, "16 bytes from byte 28 on");
  says(code, "rank 0 has 40 bytes in window 'board'");
  says(code, "target_disp = 7");
  MPI_Win_unlock(0, win);
}

static void test_accumulates(MPI_Win win) {
  int value = 1, found = 0;
  float real = 1;
  MPI_Datatype mixed = MPI_DATATYPE_NULL, loose = MPI_DATATYPE_NULL;
  const int lengths[2] = {1, 1};
  const MPI_Aint places[2] = {0, 4};
  const MPI_Datatype types[2] = {MPI_INT, MPI_FLOAT};
  MPI_Type_create_struct(2, lengths, places, types, &mixed);
  MPI_Type_commit(&mixed);
  MPI_Type_contiguous(2, MPI_INT, &loose);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_FLOAT, MPI_SUM, win), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Accumulate(&value, 1, mixed, 0, 0, 1, mixed, MPI_SUM, win), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Accumulate(&real, 1, MPI_FLOAT, 0, 0, 1, MPI_FLOAT, MPI_BAND, win), MPI_ERR_OP);
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, loose, win), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Compare_and_swap(&real, &real, &real, MPI_FLOAT, 0, 0, win), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Fetch_and_op(&value, &found, MPI_INT, 0, 10, MPI_SUM, win), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(MPI_Fetch_and_op(&value, NULL, MPI_INT, 0, 0, MPI_SUM, win), MPI_ERR_BUFFER);
  MPI_Win_unlock(0, win);
  MPI_Type_free(&mixed);
  MPI_Type_free(&loose);
}

static void test_epochs(MPI_Win win) {
  int value = 1;
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_test(win, &value), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock(5, 0, 0, win), MPI_ERR_LOCKTYPE);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 3, win), MPI_ERR_ASSERT);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_start(MPI_GROUP_EMPTY, 0, win), MPI_ERR_RMA_SYNC);
  if (size > 1) CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  MPI_Win_unlock(0, win);
  /* A lock ends what a fence has opened. */
  MPI_Win_fence(0, win);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Win_unlock(0, win);
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  MPI_Win_complete(win);
  MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
  CHECK_CLASS(MPI_Win_post(MPI_GROUP_EMPTY, 0, win), MPI_ERR_RMA_SYNC);
  MPI_Win_wait(win);
}

static void test_making(void) {
  MPI_Win win = MPI_WIN_NULL;
  int memory[4];
  void* base = NULL;
  CHECK_CLASS(MPI_Win_create(memory, -4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
  CHECK_CLASS(MPI_Win_create(memory, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
  CHECK_CLASS(MPI_Win_create(NULL, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_BASE);
  CHECK_CLASS(MPI_Win_allocate((MPI_Aint)1 << 60, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
              MPI_ERR_NO_MEM);
  /* One rank's mistake: nobody gets a window. */
  CHECK_CLASS(MPI_Win_create(memory, rank == 0 ? -1 : 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win),
              MPI_ERR_SIZE);
  CHECK_EQ(win, MPI_WIN_NULL);
}

/* Memory of this process that others share, in KB. */
static long shared_kilobytes(void) {
  char line[200];
  long found = 0;
  FILE* const file = fopen("/proc/self/status", "r");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "RssShmem: %ld", &found) == 1) break;
  fclose(file);
  return found;
}

/* There is no room for the window: no rank gets one, and nothing is left of the attempt. Ranks of one process
   need no file for it, and get the window. */
static void test_no_room(void) {
  enum { kOften = 400, kBytes = 1 << 21 };
  struct rlimit before, limit;
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &before);
  limit = before;
  limit.rlim_cur = kBytes / 2;
  MPI_Barrier(MPI_COMM_WORLD);
  setrlimit(RLIMIT_FSIZE, &limit);
  MPI_Barrier(MPI_COMM_WORLD);
  long after_some = 0;
  int often = kOften;
  for (int i = 0; i < often; ++i) {
    void* base = NULL;
    MPI_Win win = MPI_WIN_NULL;
    const int code = MPI_Win_allocate(kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    if (code == MPI_SUCCESS) {
      MPI_Win_free(&win);
      often = 1;
    } else {
      CHECK_CLASS(code, MPI_ERR_NO_MEM);
      CHECK(win == MPI_WIN_NULL);
    }
    if (i == kOften / 8) after_some = shared_kilobytes();
  }
  if (often == kOften) CHECK(shared_kilobytes() - after_some < 2 * kOften); /* not a page each time */
  MPI_Barrier(MPI_COMM_WORLD);
  setrlimit(RLIMIT_FSIZE, &before);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void test_handles(MPI_Win win) {
  int value = 1;
  MPI_Win freed = win, none = MPI_WIN_NULL;
  CHECK_CLASS(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
  CHECK_CLASS(MPI_Win_free(&none), MPI_ERR_WIN);
  CHECK_CLASS(MPI_Win_attach(win, &value, 4), MPI_ERR_RMA_FLAVOR);
  MPI_Win_free(&win);
  CHECK_CLASS(MPI_Win_fence(0, freed), MPI_ERR_WIN);
}

static void test_dynamic(void) {
  MPI_Win win = MPI_WIN_NULL;
  int memory[4] = {0}, unit = 0;
  MPI_Aint bytes = 0, address = 0;
  void* base = NULL;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_attach(win, memory, sizeof memory);
  CHECK_CLASS(MPI_Win_attach(win, memory + 1, 4), MPI_ERR_RMA_ATTACH);
  CHECK_CLASS(MPI_Win_attach(win, memory, -1), MPI_ERR_SIZE);
  CHECK_CLASS(MPI_Win_detach(win, memory + 1), MPI_ERR_BASE);
  CHECK_CLASS(MPI_Win_shared_query(win, 0, &bytes, &unit, &base), MPI_ERR_RMA_FLAVOR);
  MPI_Get_address(memory + 4, &address);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  CHECK_CLASS(MPI_Put(memory, 1, MPI_INT, rank, address, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  MPI_Win_unlock(rank, win);
  /* Memory that another rank has not attached: known at once on its node, and at the end of the epoch
   * elsewhere. */
  const int right = (rank + 1) % size;
  MPI_Aint theirs = 0;
  MPI_Sendrecv(&address, 1, MPI_AINT, (rank + size - 1) % size, 0, &theirs, 1, MPI_AINT, right, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
  int code = MPI_Put(memory, 1, MPI_INT, right, theirs, 1, MPI_INT, win);
  const int flushed = MPI_Win_flush(right, win);
  CHECK_CLASS(code != MPI_SUCCESS ? code : flushed, MPI_ERR_RMA_RANGE);
  code = MPI_Get(memory, 1, MPI_INT, right, theirs, 1, MPI_INT, win);
  const int unlocked = MPI_Win_unlock(right, win);
  CHECK_CLASS(code != MPI_SUCCESS ? code : unlocked, MPI_ERR_RMA_RANGE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_detach(win, memory);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  int memory[10] = {0};
  MPI_Win win = MPI_WIN_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  test_making();
  test_no_room();
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_set_name(win, "board");
  test_epochs(win);
  test_places(win);
  test_accumulates(win);
  test_handles(win);
  test_dynamic();
  MPI_Finalize();
  return check_result();
}
