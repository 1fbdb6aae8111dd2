/* Threads of a rank that use attributes, the name and the hints of one communicator or window at the same
   time, and one info object. */
#include "../../own_core.h"

#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { kThreads = 4, kRounds = 4000 };
static MPI_Comm comm;
static MPI_Win win;
static MPI_Info info;
static int comm_key, win_key; /* of all threads */
static atomic_long set, deleted;

static int count_comm(MPI_Comm of, int keyval, void* value, void* extra) {
  (void)of, (void)keyval, (void)extra;
  atomic_fetch_add(&deleted, (long)value);
  return MPI_SUCCESS;
}
static int count_win(MPI_Win of, int keyval, void* value, void* extra) {
  (void)of, (void)keyval, (void)extra;
  atomic_fetch_add(&deleted, (long)value);
  return MPI_SUCCESS;
}

/* Attributes that the thread alone has. */
static void own_attributes(long number) {
  int key = MPI_KEYVAL_INVALID, flag = 0;
  void* value = NULL;
  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
  CHECK_OK(MPI_Comm_set_attr(comm, key, (void*)number));
  CHECK_OK(MPI_Comm_get_attr(comm, key, &value, &flag));
  CHECK(flag && (long)value == number);
  CHECK_OK(MPI_Comm_delete_attr(comm, key));
  CHECK_OK(MPI_Comm_get_attr(comm, key, &value, &flag));
  CHECK(!flag);
  CHECK_OK(MPI_Comm_free_keyval(&key));
  CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL));
  CHECK_OK(MPI_Win_set_attr(win, key, (void*)number));
  CHECK_OK(MPI_Win_get_attr(win, key, &value, &flag));
  CHECK(flag && (long)value == number);
  CHECK_OK(MPI_Win_delete_attr(win, key));
  CHECK_OK(MPI_Win_free_keyval(&key));
}

/* Values that threads take from each other: each is deleted once. */
static void common_attributes(long number) {
  int flag = 0;
  void* value = NULL;
  atomic_fetch_add(&set, 2 * number);
  CHECK_OK(MPI_Comm_set_attr(comm, comm_key, (void*)number));
  CHECK_OK(MPI_Win_set_attr(win, win_key, (void*)number));
  CHECK_OK(MPI_Comm_get_attr(comm, comm_key, &value, &flag));
  CHECK(!flag || (long)value > 0);
  if (number % 3 == 0) CHECK_OK(MPI_Comm_delete_attr(comm, comm_key));
  if (number % 5 == 0) CHECK_OK(MPI_Win_delete_attr(win, win_key));
}

/* All names have one letter, which tells what is not one of them. */
static void names(int number, int round) {
  char name[MPI_MAX_OBJECT_NAME], found[MPI_MAX_OBJECT_NAME];
  int length = 0;
  memset(name, 'a' + number, sizeof name);
  name[1 + round % 100] = '\0';
  CHECK_OK(MPI_Comm_set_name(comm, name));
  CHECK_OK(MPI_Comm_get_name(comm, found, &length));
  for (int i = 0; i < length; ++i) CHECK_EQ(found[i], found[0]);
  CHECK_OK(MPI_Win_set_name(win, name));
  CHECK_OK(MPI_Win_get_name(win, found, &length));
  for (int i = 0; i < length; ++i) CHECK_EQ(found[i], found[0]);
}

static void infos(int number, int round) {
  char key[32], value[32], found[64];
  int length = sizeof found, flag = 0;
  MPI_Info copy;
  snprintf(key, sizeof key, "key %d", number);
  snprintf(value, sizeof value, "%d", round);
  CHECK_OK(MPI_Info_set(info, key, value));
  CHECK_OK(MPI_Info_get_string(info, key, &length, found, &flag));
  CHECK(flag);
  CHECK_STR(found, value);
  if (round % 16 == 0) {
    CHECK_OK(MPI_Info_dup(info, &copy));
    CHECK_OK(MPI_Info_free(&copy));
    CHECK_OK(MPI_Comm_get_info(comm, &copy));
    CHECK_OK(MPI_Info_free(&copy));
  }
  CHECK_OK(MPI_Info_delete(info, key));
}

static void* work(void* argument) {
  const int number = *(int*)argument;
  take_core(number);
  for (int round = 1; round <= kRounds; ++round) {
    own_attributes((long)kThreads * round + number);
    common_attributes(round);
    names(number, round);
    infos(number, round);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided, numbers[kThreads];
  pthread_t threads[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_comm, &comm_key, NULL));
  CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_win, &win_key, NULL));
  for (int i = 0; i < kThreads; ++i) {
    numbers[i] = i;
    pthread_create(&threads[i], NULL, work, &numbers[i]);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  CHECK_OK(MPI_Win_free(&win));
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_EQ(atomic_load(&deleted), atomic_load(&set));
  CHECK_OK(MPI_Comm_free_keyval(&comm_key));
  CHECK_OK(MPI_Win_free_keyval(&win_key));
  CHECK_OK(MPI_Info_free(&info));
  MPI_Finalize();
  return check_result();
}
