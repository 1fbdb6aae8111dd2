/* Caching (MPI-5.0 section 7.7): keys, values, what duplication and freeing do with them, callbacks that
 * fail, predefined attributes. */
#include "check.h"

static int copies, deletions, last_deleted_value;

static int copy_plus_one(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  CHECK(comm != MPI_COMM_NULL && keyval != MPI_KEYVAL_INVALID);
  ++copies;
  *(int*)extra += 1;
  *(void**)out = (char*)in + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

static int copy_refuses(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)keyval, (void)extra, (void)in, (void)out;
  ++copies;
  *flag = 0;
  return MPI_SUCCESS;
}

static int copy_fails(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)keyval, (void)extra, (void)in, (void)out, (void)flag;
  return MPI_ERR_OTHER;
}

static int count_deletion(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)extra;
  ++deletions;
  last_deleted_value = (int)(size_t)value;
  return MPI_SUCCESS;
}

static int deletion_fails(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value;
  return *(int*)extra ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int type_copy(MPI_Datatype type, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)type, (void)keyval, (void)extra;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int type_delete(MPI_Datatype type, int keyval, void* value, void* extra) {
  (void)type, (void)keyval, (void)value, (void)extra;
  ++deletions;
  return MPI_SUCCESS;
}

static void* pointer(int value) { return (void*)(size_t)value; }

/* The value of an attribute, or -1. */
static int value_of(MPI_Comm comm, int key) {
  void* value = NULL;
  int flag = -1;
  CHECK_OK(MPI_Comm_get_attr(comm, key, &value, &flag));
  return flag ? (int)(size_t)value : -1;
}

static void set_get_delete(void) {
  int key = MPI_KEYVAL_INVALID;
  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deletion, &key, NULL));
  CHECK(key != MPI_KEYVAL_INVALID);
  CHECK_EQ(value_of(MPI_COMM_WORLD, key), -1);
  CHECK_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, pointer(5)));
  CHECK_EQ(value_of(MPI_COMM_WORLD, key), 5);
  CHECK_EQ(value_of(MPI_COMM_SELF, key), -1);
  deletions = 0;
  CHECK_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, pointer(6))); /* deletes 5 */
  CHECK_EQ(deletions, 1);
  CHECK_EQ(last_deleted_value, 5);
  CHECK_EQ(value_of(MPI_COMM_WORLD, key), 6);
  CHECK_OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
  CHECK_EQ(deletions, 2);
  CHECK_EQ(last_deleted_value, 6);
  CHECK_EQ(value_of(MPI_COMM_WORLD, key), -1);
  /* A null pointer is a value. */
  CHECK_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL));
  CHECK_EQ(value_of(MPI_COMM_WORLD, key), 0);
  CHECK_OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
  CHECK_OK(MPI_Comm_free_keyval(&key));
  CHECK_EQ(key, MPI_KEYVAL_INVALID);
}

/* A key that was freed while it is in use can be named to ask for the attribute and to delete it, and for
 * nothing else. */
static void freed_while_in_use(void) {
  int key = MPI_KEYVAL_INVALID, number;
  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, count_deletion, &key, NULL));
  number = key;
  CHECK_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, pointer(7)));
  CHECK_OK(MPI_Comm_free_keyval(&key));
  CHECK_EQ(value_of(MPI_COMM_WORLD, number), 7);
  deletions = 0;
  CHECK_OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, number));
  CHECK_EQ(deletions, 1);
  CHECK_EQ(last_deleted_value, 7);
  CHECK_CLASS(MPI_Comm_delete_attr(MPI_COMM_WORLD, number), MPI_ERR_KEYVAL);
  CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, number, NULL), MPI_ERR_KEYVAL);

  CHECK_OK(MPI_Type_create_keyval(type_copy, type_delete, &key, NULL));
  number = key;
  CHECK_OK(MPI_Type_set_attr(MPI_INT, key, pointer(1)));
  CHECK_OK(MPI_Type_free_keyval(&key));
  deletions = 0;
  CHECK_OK(MPI_Type_delete_attr(MPI_INT, number));
  CHECK_EQ(deletions, 1);
}

static int frees_its_key(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)value, (void)extra;
  return MPI_Comm_free_keyval(&key);
}

/* As other libraries, this one takes it if who has made the key frees it once more, but not twice. */
static void freed_by_its_delete_function(void) {
  int key = MPI_KEYVAL_INVALID, stale;
  MPI_Comm comm;
  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, frees_its_key, &key, NULL));
  stale = key;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Comm_set_attr(comm, key, pointer(5)));
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL), MPI_ERR_KEYVAL);
  CHECK_OK(MPI_Comm_free_keyval(&key));
  CHECK_EQ(key, MPI_KEYVAL_INVALID);
  CHECK_CLASS(MPI_Comm_free_keyval(&stale), MPI_ERR_KEYVAL);
}

/* Its number comes back after some time, for another key: that one is really freed. */
static void number_of_a_key_freed_by_its_delete_function(void) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm comm;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  for (int i = 0; i < 200; ++i) {
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, frees_its_key, &key, NULL));
    CHECK_OK(MPI_Comm_set_attr(comm, key, pointer(5)));
    CHECK_OK(MPI_Comm_delete_attr(comm, key));
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL), MPI_ERR_KEYVAL);
  }
  CHECK_OK(MPI_Comm_free(&comm));
}

/* An attribute of a freed key is not one of a later key that has got the same number. */
static void number_of_a_key_freed_while_in_use(void) {
  int key = MPI_KEYVAL_INVALID, number;
  MPI_Comm comm;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deletion, &key, NULL));
  CHECK_OK(MPI_Comm_set_attr(comm, key, pointer(5)));
  number = key;
  CHECK_OK(MPI_Comm_free_keyval(&key));
  for (int i = 0; i < 1000 && key != number; ++i) {
    if (key != MPI_KEYVAL_INVALID) CHECK_OK(MPI_Comm_free_keyval(&key));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deletion, &key, NULL));
  }
  deletions = 0;
  CHECK_EQ(value_of(comm, key), -1);
  CHECK_OK(MPI_Comm_delete_attr(comm, key));
  CHECK_EQ(deletions, 0);
  CHECK_OK(MPI_Comm_set_attr(comm, key, pointer(6)));
  CHECK_EQ(value_of(comm, key), 6);
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_EQ(deletions, 2);
  CHECK_OK(MPI_Comm_free_keyval(&key));
}

static int sets_it_anew(MPI_Comm comm, int key, void* value, void* extra) {
  int flag = 0;
  void* found = NULL;
  (void)extra;
  ++deletions;
  last_deleted_value = (int)(size_t)value;
  CHECK_OK(MPI_Comm_get_attr(comm, key, &found, &flag));
  CHECK(flag && found == value);             /* until the function has returned */
  CHECK_OK(MPI_Comm_delete_attr(comm, key)); /* it is being deleted */
  if (value == pointer(1)) CHECK_OK(MPI_Comm_set_attr(comm, key, pointer(2)));
  return MPI_SUCCESS;
}

/* A delete function is called once for each value. */
static void set_by_the_delete_function(void) {
  int key = MPI_KEYVAL_INVALID;
  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, sets_it_anew, &key, NULL));
  CHECK_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, pointer(1)));
  deletions = 0;
  CHECK_OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
  CHECK_EQ(deletions, 1);
  CHECK_EQ(value_of(MPI_COMM_WORLD, key), 2);
  CHECK_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, pointer(3)));
  CHECK_EQ(deletions, 2);
  CHECK_EQ(last_deleted_value, 2);
  CHECK_OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
  CHECK_EQ(value_of(MPI_COMM_WORLD, key), -1);
  CHECK_EQ(deletions, 3);
  CHECK_OK(MPI_Comm_free_keyval(&key));
}

static void duplication(void) {
  int plain, counted, refused, dropped, calls = 0;
  MPI_Comm first, second;
  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &plain, NULL));
  CHECK_OK(MPI_Comm_create_keyval(copy_plus_one, count_deletion, &counted, &calls));
  CHECK_OK(MPI_Comm_create_keyval(copy_refuses, count_deletion, &refused, NULL));
  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deletion, &dropped, NULL));
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &first));
  CHECK_OK(MPI_Comm_set_attr(first, plain, pointer(1)));
  CHECK_OK(MPI_Comm_set_attr(first, counted, pointer(20)));
  CHECK_OK(MPI_Comm_set_attr(first, refused, pointer(3)));
  CHECK_OK(MPI_Comm_set_attr(first, dropped, pointer(4)));
  copies = 0;
  CHECK_OK(MPI_Comm_dup(first, &second));
  CHECK_EQ(copies, 2);
  CHECK_EQ(calls, 1);
  CHECK_EQ(value_of(second, plain), 1);
  CHECK_EQ(value_of(second, counted), 21);
  CHECK_EQ(value_of(second, refused), -1);
  CHECK_EQ(value_of(second, dropped), -1);

  /* A freed key lives on in the objects that have it. */
  CHECK_OK(MPI_Comm_free_keyval(&counted));
  deletions = 0;
  CHECK_OK(MPI_Comm_free(&second));
  CHECK_EQ(deletions, 1);
  CHECK_EQ(last_deleted_value, 21);
  CHECK_OK(MPI_Comm_free(&first));
  CHECK_EQ(deletions, 4);

  /* A split copies nothing. */
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &first));
  CHECK_OK(MPI_Comm_set_attr(first, plain, pointer(1)));
  CHECK_OK(MPI_Comm_split(first, 0, 0, &second));
  CHECK_EQ(value_of(second, plain), -1);
  CHECK_OK(MPI_Comm_free(&second));
  CHECK_OK(MPI_Comm_free(&first));
  CHECK_OK(MPI_Comm_free_keyval(&plain));
  CHECK_OK(MPI_Comm_free_keyval(&refused));
  CHECK_OK(MPI_Comm_free_keyval(&dropped));
}

static void failing_callbacks(void) {
  int key, stubborn, fail = 1;
  MPI_Comm comm, copy = MPI_COMM_NULL;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Comm_create_keyval(copy_fails, MPI_COMM_NULL_DELETE_FN, &key, NULL));
  CHECK_OK(MPI_Comm_set_attr(comm, key, NULL));
  CHECK_CLASS(MPI_Comm_dup(comm, &copy), MPI_ERR_OTHER);
  CHECK_OK(MPI_Comm_delete_attr(comm, key));
  CHECK_OK(MPI_Comm_free_keyval(&key));

  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deletion_fails, &stubborn, &fail));
  CHECK_OK(MPI_Comm_set_attr(comm, stubborn, pointer(9)));
  CHECK_CLASS(MPI_Comm_delete_attr(comm, stubborn), MPI_ERR_OTHER);
  CHECK_EQ(value_of(comm, stubborn), 9);
  CHECK_CLASS(MPI_Comm_set_attr(comm, stubborn, pointer(10)), MPI_ERR_OTHER);
  CHECK_EQ(value_of(comm, stubborn), 9);
  CHECK_CLASS(MPI_Comm_free(&comm), MPI_ERR_OTHER);
  CHECK(comm != MPI_COMM_NULL);
  fail = 0;
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Comm_free_keyval(&stubborn));
}

static void wrong_arguments(void) {
  int key = MPI_KEYVAL_INVALID, type_key, flag;
  void* value;
  CHECK_CLASS(MPI_Comm_free_keyval(&key), MPI_ERR_KEYVAL);
  CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, NULL), MPI_ERR_KEYVAL);
  CHECK_CLASS(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &value, &flag), MPI_ERR_KEYVAL);
  CHECK_CLASS(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID), MPI_ERR_KEYVAL);
  CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, NULL), MPI_ERR_KEYVAL);
  key = MPI_TAG_UB;
  CHECK_CLASS(MPI_Comm_free_keyval(&key), MPI_ERR_KEYVAL);
  CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL));
  CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, type_key, NULL), MPI_ERR_KEYVAL);
  CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_NULL, type_key, NULL), MPI_ERR_COMM);
  CHECK_OK(MPI_Type_free_keyval(&type_key));
  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
  int stale = key;
  CHECK_OK(MPI_Comm_free_keyval(&key));
  CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, stale, NULL), MPI_ERR_KEYVAL);
}

static int predefined(int key, int expected_flag) {
  int *value = NULL, flag = -1;
  CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag));
  if (expected_flag >= 0) CHECK_EQ(flag, expected_flag);
  return flag && value != NULL ? *value : -99;
}

static void predefined_attributes(int size) {
  CHECK(predefined(MPI_TAG_UB, 1) >= 32767);
  CHECK_EQ(predefined(MPI_HOST, -1), MPI_PROC_NULL);
  (void)predefined(MPI_IO, 1);
  const int global = predefined(MPI_WTIME_IS_GLOBAL, 1);
  CHECK(global == 0 || global == 1);
  CHECK(predefined(MPI_APPNUM, -1) == 0 || predefined(MPI_APPNUM, -1) == -99);
  const int universe = predefined(MPI_UNIVERSE_SIZE, -1);
  CHECK(universe >= size || universe == -99);
  CHECK(predefined(MPI_LASTUSEDCODE, 1) >= MPI_ERR_LASTCODE);

  /* The largest tag works. */
  int out = 1, in = 0;
  const int tag = predefined(MPI_TAG_UB, 1);
  CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, 0, tag, &in, 1, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK_EQ(in, 1);
}

static void deprecated_names(void) {
  int key, flag = 0;
  void* value = NULL;
  MPI_Comm copy;
  CHECK_OK(MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, NULL));
  CHECK_OK(MPI_Attr_put(MPI_COMM_WORLD, key, pointer(77)));
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
  CHECK_OK(MPI_Attr_get(copy, key, &value, &flag));
  CHECK(flag && value == pointer(77));
  CHECK_OK(MPI_Comm_free(&copy));
  CHECK_OK(MPI_Attr_delete(MPI_COMM_WORLD, key));
  CHECK_OK(MPI_Attr_get(MPI_COMM_WORLD, key, &value, &flag));
  CHECK(!flag);
  CHECK_OK(MPI_Keyval_free(&key));
}

static void of_types(void) {
  int key, dropped, flag = 0;
  void* value = NULL;
  MPI_Datatype type, copy;
  CHECK_OK(MPI_Type_create_keyval(type_copy, type_delete, &key, NULL));
  CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, type_delete, &dropped, NULL));
  CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &type));
  CHECK_OK(MPI_Type_set_attr(type, key, pointer(1)));
  CHECK_OK(MPI_Type_set_attr(type, dropped, pointer(2)));
  CHECK_OK(MPI_Type_dup(type, &copy));
  CHECK_OK(MPI_Type_get_attr(copy, key, &value, &flag));
  CHECK(flag && value == pointer(1));
  CHECK_OK(MPI_Type_get_attr(copy, dropped, &value, &flag));
  CHECK(!flag);
  deletions = 0;
  CHECK_OK(MPI_Type_delete_attr(copy, key));
  CHECK_EQ(deletions, 1);
  CHECK_OK(MPI_Type_free(&copy));
  CHECK_EQ(deletions, 1);
  CHECK_OK(MPI_Type_free(&type));
  CHECK_EQ(deletions, 3);
  /* Predefined types have attributes, too. */
  CHECK_OK(MPI_Type_set_attr(MPI_DOUBLE, key, pointer(8)));
  CHECK_OK(MPI_Type_get_attr(MPI_DOUBLE, key, &value, &flag));
  CHECK(flag && value == pointer(8));
  CHECK_OK(MPI_Type_delete_attr(MPI_DOUBLE, key));
  CHECK_CLASS(MPI_Type_set_attr(MPI_DATATYPE_NULL, key, NULL), MPI_ERR_TYPE);
  CHECK_OK(MPI_Type_free_keyval(&key));
  CHECK_OK(MPI_Type_free_keyval(&dropped));
}

int main(int argc, char** argv) {
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  set_get_delete();
  freed_while_in_use();
  freed_by_its_delete_function();
  number_of_a_key_freed_while_in_use();
  number_of_a_key_freed_by_its_delete_function();
  set_by_the_delete_function();
  duplication();
  failing_callbacks();
  wrong_arguments();
  predefined_attributes(size);
  deprecated_names();
  of_types();
  MPI_Finalize();
  return check_result();
}
