/* Info objects (MPI-5.0 chapter 10), which may be used before MPI_Init and after MPI_Finalize. */
#include "check.h"

static char long_key[MPI_MAX_INFO_KEY + 8], long_value[MPI_MAX_INFO_VAL + 8];

/* CHECK_STR of the value of `key`. */
static void expect(MPI_Info info, const char* key, const char* expected) {
  char value[MPI_MAX_INFO_VAL] = "";
  int length = sizeof value, flag = -1;
  CHECK_OK(MPI_Info_get_string(info, key, &length, value, &flag));
  CHECK_EQ(flag, expected != NULL);
  if (!flag || expected == NULL) return;
  CHECK_STR(value, expected);
  CHECK_EQ(length, strlen(expected) + 1);
}

static void basics(void) {
  MPI_Info info, copy;
  int n = -1, flag = -1, length = -1;
  char key[MPI_MAX_INFO_KEY], value[64];
  CHECK_OK(MPI_Info_create(&info));
  CHECK(info != MPI_INFO_NULL);
  CHECK_OK(MPI_Info_get_nkeys(info, &n));
  CHECK_EQ(n, 0);
  CHECK_OK(MPI_Info_set(info, "first", "1"));
  CHECK_OK(MPI_Info_set(info, "second", "two words, = and ; too"));
  CHECK_OK(MPI_Info_set(info, "empty", ""));
  CHECK_OK(MPI_Info_set(info, "first", "one"));
  CHECK_OK(MPI_Info_get_nkeys(info, &n));
  CHECK_EQ(n, 3);
  expect(info, "first", "one");
  expect(info, "second", "two words, = and ; too");
  expect(info, "empty", "");
  expect(info, "FIRST", NULL);
  expect(info, "third", NULL);

  const char* keys[] = {"first", "second", "empty"};
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(MPI_Info_get_nthkey(info, i, key));
    CHECK_STR(key, keys[i]);
  }
  CHECK_OK(MPI_Info_dup(info, &copy));
  CHECK_OK(MPI_Info_delete(info, "second"));
  expect(info, "second", NULL);
  expect(copy, "second", "two words, = and ; too");
  CHECK_OK(MPI_Info_get_nkeys(info, &n));
  CHECK_EQ(n, 2);

  /* The older way to ask. */
  CHECK_OK(MPI_Info_get_valuelen(copy, "second", &length, &flag));
  CHECK(flag);
  CHECK_EQ(length, 22);
  CHECK_OK(MPI_Info_get(copy, "second", sizeof value - 1, value, &flag));
  CHECK(flag);
  CHECK_STR(value, "two words, = and ; too");
  CHECK_OK(MPI_Info_get(copy, "second", 3, value, &flag));
  CHECK_STR(value, "two");
  CHECK_OK(MPI_Info_get(copy, "absent", 3, value, &flag));
  CHECK(!flag);
  CHECK_OK(MPI_Info_get_valuelen(copy, "absent", &length, &flag));
  CHECK(!flag);

  /* A buffer that is too short: cut, and the length that it takes. */
  length = 4;
  CHECK_OK(MPI_Info_get_string(copy, "second", &length, value, &flag));
  CHECK_STR(value, "two");
  CHECK_EQ(length, 23);
  length = 0;
  strcpy(value, "untouched");
  CHECK_OK(MPI_Info_get_string(copy, "second", &length, value, &flag));
  CHECK_STR(value, "untouched");
  CHECK_EQ(length, 23);
  length = 0;
  CHECK_OK(MPI_Info_get_string(copy, "second", &length, NULL, &flag));
  CHECK_EQ(length, 23);
  CHECK_OK(MPI_Info_free(&info));
  CHECK_OK(MPI_Info_free(&copy));
  CHECK(copy == MPI_INFO_NULL);
}

static void limits_and_errors(void) {
  MPI_Info info, null = MPI_INFO_NULL;
  int n, flag;
  char key[MPI_MAX_INFO_KEY];
  CHECK_OK(MPI_Info_create(&info));
  memset(long_key, 'k', sizeof long_key);
  memset(long_value, 'v', sizeof long_value);
  long_key[sizeof long_key - 1] = long_value[sizeof long_value - 1] = '\0';
  CHECK_CLASS(MPI_Info_set(info, long_key, "x"), MPI_ERR_INFO_KEY);
  CHECK_CLASS(MPI_Info_set(info, "", "x"), MPI_ERR_INFO_KEY);
  CHECK_CLASS(MPI_Info_set(info, "x", long_value), MPI_ERR_INFO_VALUE);
  long_key[MPI_MAX_INFO_KEY - 1] = long_value[MPI_MAX_INFO_VAL - 1] = '\0';
  CHECK_OK(MPI_Info_set(info, long_key, long_value));
  expect(info, long_key, long_value);
  CHECK_OK(MPI_Info_get_nthkey(info, 0, key));
  CHECK_STR(key, long_key);
  CHECK_CLASS(MPI_Info_delete(info, "absent"), MPI_ERR_INFO_NOKEY);
  CHECK_CLASS(MPI_Info_get_nthkey(info, 1, key), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Info_get_nthkey(info, -1, key), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Info_set(MPI_INFO_NULL, "a", "b"), MPI_ERR_INFO);
  CHECK_CLASS(MPI_Info_get_nkeys(MPI_INFO_NULL, &n), MPI_ERR_INFO);
  CHECK_CLASS(MPI_Info_get(MPI_INFO_NULL, "a", 1, key, &flag), MPI_ERR_INFO);
  CHECK_CLASS(MPI_Info_dup(MPI_INFO_NULL, &null), MPI_ERR_INFO);
  CHECK_CLASS(MPI_Info_free(&null), MPI_ERR_INFO);
  MPI_Info stale = info;
  CHECK_OK(MPI_Info_free(&info));
  CHECK_CLASS(MPI_Info_get_nkeys(stale, &n), MPI_ERR_INFO);
  CHECK_CLASS(MPI_Info_free(&stale), MPI_ERR_INFO);
}

static void environment(int argc, char** argv) {
  MPI_Info info;
  char value[MPI_MAX_INFO_VAL] = "";
  int n = -1, length = sizeof value, flag = -1;
  CHECK_OK(MPI_Info_get_nkeys(MPI_INFO_ENV, &n));
  CHECK_OK(MPI_Info_get_string(MPI_INFO_ENV, "command", &length, value, &flag));
  if (flag) CHECK(strlen(value) > 0);
  CHECK_OK(MPI_Info_create_env(argc, argv, &info));
  CHECK_OK(MPI_Info_set(info, "mine", "1"));
  expect(info, "mine", "1");
  CHECK_OK(MPI_Info_free(&info));
}

static void many(void) {
  MPI_Info info;
  char key[32], value[32];
  int n = -1;
  CHECK_OK(MPI_Info_create(&info));
  for (int i = 0; i < 200; ++i) {
    snprintf(key, sizeof key, "key %d", i);
    snprintf(value, sizeof value, "value %d", i);
    CHECK_OK(MPI_Info_set(info, key, value));
  }
  for (int i = 0; i < 200; i += 2) {
    snprintf(key, sizeof key, "key %d", i);
    CHECK_OK(MPI_Info_delete(info, key));
  }
  CHECK_OK(MPI_Info_get_nkeys(info, &n));
  CHECK_EQ(n, 100);
  expect(info, "key 199", "value 199");
  expect(info, "key 198", NULL);
  CHECK_OK(MPI_Info_free(&info));
}

int main(int argc, char** argv) {
  basics();
  many();
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  basics();
  limits_and_errors();
  environment(argc, argv);
  MPI_Finalize();
  basics();
  return check_result();
}
