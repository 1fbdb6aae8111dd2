/* Threads of a rank that make and free datatypes of their own at the same time, with and without attributes,
   and threads that ask for the attributes of a type which they share. */
#include <pthread.h>

#include "check.h"

enum { kThreads = 4, kRounds = 50000, kAttributeRounds = 4000 };
static MPI_Datatype shared;
static int shared_key, deletions[kThreads];

static int count_deletion(MPI_Datatype type, int keyval, void* value, void* extra) {
  (void)type, (void)keyval, (void)extra;
  ++*(int*)value;
  return MPI_SUCCESS;
}

static void* make_and_free(void* argument) {
  int* const deleted = argument;
  int size = 0, key = MPI_KEYVAL_INVALID, flag = 0;
  void* value = NULL;
  MPI_Datatype type, copy;
  for (int i = 0; i < kRounds; ++i) {
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_free(&type);
  }
  CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, count_deletion, &key, NULL));
  for (int i = 0; i < kAttributeRounds; ++i) {
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
    CHECK_OK(MPI_Type_set_attr(type, key, deleted));
    CHECK_OK(MPI_Type_dup(type, &copy));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_get_attr(copy, key, &value, &flag));
    CHECK(flag && value == deleted);
    CHECK_OK(MPI_Type_size(copy, &size));
    CHECK_EQ(size, 3 * sizeof(int));
    CHECK_OK(MPI_Type_free(&copy));
    CHECK_OK(MPI_Type_get_attr(shared, shared_key, &value, &flag));
    CHECK(flag && value == deletions);
  }
  CHECK_OK(MPI_Type_free_keyval(&key));
  CHECK_EQ(*deleted, 2 * kAttributeRounds);
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  pthread_t threads[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &shared_key, NULL));
  CHECK_OK(MPI_Type_dup(MPI_DOUBLE, &shared));
  CHECK_OK(MPI_Type_set_attr(shared, shared_key, deletions));
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, make_and_free, &deletions[i]);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  CHECK_OK(MPI_Type_free(&shared));
  CHECK_OK(MPI_Type_free_keyval(&shared_key));
  MPI_Finalize();
  return check_result();
}
