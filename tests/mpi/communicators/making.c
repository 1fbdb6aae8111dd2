/* Communicators made by dup, create and create_group, what they contain, and that their messages stay apart
   (MPI-5.0 sections 7.4 and 7.8). */
#include "check.h"

static int size, rank;

static int compare(MPI_Comm a, MPI_Comm b) {
  int result = -1;
  CHECK_OK(MPI_Comm_compare(a, b, &result));
  return result;
}

/* Everyone's world rank arrives where the communicator says. */
static void expect_members(MPI_Comm comm, int n, const int* expected) {
  int got_size = -1, got_rank = -1, members[64];
  CHECK_OK(MPI_Comm_size(comm, &got_size));
  CHECK_OK(MPI_Comm_rank(comm, &got_rank));
  CHECK_EQ(got_size, n);
  CHECK_EQ(expected[got_rank], rank);
  CHECK_OK(MPI_Allgather(&rank, 1, MPI_INT, members, 1, MPI_INT, comm));
  for (int i = 0; i < n; ++i) CHECK_EQ(members[i], expected[i]);
}

static void predefined(void) {
  int value = -1;
  CHECK_OK(MPI_Comm_size(MPI_COMM_SELF, &value));
  CHECK_EQ(value, 1);
  CHECK_OK(MPI_Comm_rank(MPI_COMM_SELF, &value));
  CHECK_EQ(value, 0);
  CHECK_EQ(compare(MPI_COMM_WORLD, MPI_COMM_WORLD), MPI_IDENT);
  CHECK_EQ(compare(MPI_COMM_WORLD, MPI_COMM_SELF), size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
  CHECK_OK(MPI_Comm_test_inter(MPI_COMM_WORLD, &value));
  CHECK_EQ(value, 0);
}

/* Nobody spawned this job. */
static void parent(void) {
  MPI_Comm comm = MPI_COMM_WORLD;
  CHECK_OK(MPI_Comm_get_parent(&comm));
  CHECK_EQ(comm, MPI_COMM_NULL);
  CHECK_CLASS(MPI_Comm_get_parent(NULL), MPI_ERR_ARG);
}

static void duplicates(void) {
  MPI_Comm copy, second;
  int expected[64];
  for (int i = 0; i < size; ++i) expected[i] = i;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
  CHECK_OK(MPI_Comm_dup(copy, &second));
  CHECK_EQ(compare(copy, MPI_COMM_WORLD), MPI_CONGRUENT);
  expect_members(copy, size, expected);

  /* The same source and tag in three communicators: each receive gets its own communicator's message. */
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  const MPI_Comm comms[] = {second, MPI_COMM_WORLD, copy};
  MPI_Request requests[6];
  int out[3], in[3] = {-1, -1, -1};
  for (int i = 0; i < 3; ++i) {
    out[i] = 100 * i + rank;
    CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, to, 5, comms[i], &requests[i]));
  }
  for (int i = 2; i >= 0; --i)
    CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], &requests[3 + i]));
  CHECK_OK(MPI_Waitall(6, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 3; ++i) CHECK_EQ(in[i], 100 * i + from);
  CHECK_OK(MPI_Comm_free(&second));
  CHECK_OK(MPI_Comm_free(&copy));
  CHECK(copy == MPI_COMM_NULL);
}

static void reversed(void) {
  MPI_Group world, group;
  MPI_Comm comm;
  int backwards[1][3] = {{size - 1, 0, -1}}, expected[64];
  for (int i = 0; i < size; ++i) expected[i] = size - 1 - i;
  CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  CHECK_OK(MPI_Group_range_incl(world, 1, backwards, &group));
  CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
  expect_members(comm, size, expected);
  CHECK_EQ(compare(comm, MPI_COMM_WORLD), size == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Group_free(&group));
  CHECK_OK(MPI_Group_free(&world));
}

/* Lower and upper half in one call, each rank with its own half's group; then one half alone, the other with
 * the empty group. */
static void halves(void) {
  const int half = (size + 1) / 2, lower = rank < half;
  int range[1][3] = {{lower ? 0 : half, lower ? half - 1 : size - 1, 1}}, expected[64];
  for (int i = 0; i < size; ++i) expected[i] = lower ? i : half + i;
  MPI_Group world, group;
  MPI_Comm comm;
  CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  CHECK_OK(MPI_Group_range_incl(world, 1, range, &group));
  CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
  expect_members(comm, lower ? half : size - half, expected);
  CHECK_OK(MPI_Comm_free(&comm));

  CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, lower ? group : MPI_GROUP_EMPTY, &comm));
  if (lower) {
    expect_members(comm, half, expected);
    CHECK_OK(MPI_Comm_free(&comm));
  }
  CHECK(comm == MPI_COMM_NULL);

  /* Only the members call; the other half makes its own, with the same tag, at the same time. */
  CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, &comm));
  expect_members(comm, lower ? half : size - half, expected);
  CHECK_OK(MPI_Comm_free(&comm));
  if (lower) {
    CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm));
    expect_members(comm, half, expected);
    CHECK_OK(MPI_Comm_free(&comm));
  }
  CHECK_OK(MPI_Group_free(&group));
  CHECK_OK(MPI_Group_free(&world));
}

static void names(void) {
  char name[MPI_MAX_OBJECT_NAME], too_long[2 * MPI_MAX_OBJECT_NAME];
  int length = -1;
  MPI_Comm comm;
  CHECK_OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
  CHECK_STR(name, "MPI_COMM_WORLD");
  CHECK_EQ(length, 14);
  CHECK_OK(MPI_Comm_get_name(MPI_COMM_SELF, name, &length));
  CHECK_STR(name, "MPI_COMM_SELF");
  CHECK_OK(MPI_Comm_set_name(MPI_COMM_SELF, "alone"));
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  CHECK_OK(MPI_Comm_get_name(comm, name, &length));
  CHECK_STR(name, ""); /* a name is not copied */
  CHECK_EQ(length, 0);
  CHECK_OK(MPI_Comm_set_name(comm, "a name with spaces "));
  CHECK_OK(MPI_Comm_get_name(comm, name, &length));
  CHECK_STR(name, "a name with spaces ");
  memset(too_long, 'x', sizeof too_long);
  too_long[sizeof too_long - 1] = '\0';
  CHECK_OK(MPI_Comm_set_name(comm, too_long));
  CHECK_OK(MPI_Comm_get_name(comm, name, &length));
  CHECK_EQ(length, MPI_MAX_OBJECT_NAME - 1);
  CHECK_EQ(strlen(name), MPI_MAX_OBJECT_NAME - 1);
  CHECK_OK(MPI_Comm_get_name(MPI_COMM_SELF, name, &length));
  CHECK_STR(name, "alone");
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Comm_get_name(MPI_COMM_NULL, name, &length));
  CHECK_STR(name, "MPI_COMM_NULL");
}

static void hints(void) {
  MPI_Info given, used;
  MPI_Comm comm;
  char value[16];
  int length = sizeof value, flag = 0;
  CHECK_OK(MPI_Info_create(&given));
  CHECK_OK(MPI_Info_set(given, "mpi_assert_no_any_tag", "true"));
  CHECK_OK(MPI_Info_set(given, "mpi_assert_exact_length", "perhaps"));
  CHECK_OK(MPI_Info_set(given, "a_hint_of_another_library", "true"));
  CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, given, &comm));
  CHECK_OK(MPI_Comm_get_info(comm, &used));
  CHECK_OK(MPI_Info_get_string(used, "mpi_assert_no_any_tag", &length, value, &flag));
  CHECK(flag);
  if (flag) CHECK_STR(value, "true");
  /* Those are told that are in use (MPI-5.0 section 7.4.4). */
  CHECK_OK(MPI_Info_get_string(used, "a_hint_of_another_library", &length, value, &flag));
  CHECK(!flag);
  length = sizeof value;
  CHECK_OK(MPI_Info_get_string(used, "mpi_assert_exact_length", &length, value, &flag));
  CHECK(!flag || strcmp(value, "perhaps") != 0);
  CHECK_OK(MPI_Info_free(&used));
  CHECK_OK(MPI_Info_set(given, "mpi_assert_no_any_tag", "false"));
  CHECK_OK(MPI_Comm_set_info(comm, given));
  CHECK_OK(MPI_Comm_get_info(comm, &used));
  length = sizeof value;
  CHECK_OK(MPI_Info_get_string(used, "mpi_assert_no_any_tag", &length, value, &flag));
  if (flag) CHECK_STR(value, "false");
  CHECK_OK(MPI_Info_free(&used));
  CHECK_OK(MPI_Info_free(&given));
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm));
  CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  predefined();
  parent();
  duplicates();
  reversed();
  halves();
  names();
  hints();
  MPI_Finalize();
  return check_result();
}
