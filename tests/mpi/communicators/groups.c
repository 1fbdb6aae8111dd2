/* Groups made in every way, and what they then contain (MPI-5.0 section 7.3). */
#include "check.h"

static int size, rank;
static MPI_Group world;

/* `group` has exactly these ranks of the world, in this order; it is freed. */
static void expect(MPI_Group group, int n, const int* expected) {
  int got_size = -1, got_rank = -1;
  CHECK_OK(MPI_Group_size(group, &got_size));
  CHECK_EQ(got_size, n);
  CHECK_OK(MPI_Group_rank(group, &got_rank));
  int my_rank = MPI_UNDEFINED;
  int all[64], translated[64];
  for (int i = 0; i < n; ++i) {
    all[i] = i;
    translated[i] = -99;
    if (expected[i] == rank) my_rank = i;
  }
  CHECK_EQ(got_rank, my_rank);
  CHECK_OK(MPI_Group_translate_ranks(group, n, all, world, translated));
  for (int i = 0; i < n; ++i) CHECK_EQ(translated[i], expected[i]);
  CHECK_OK(MPI_Group_free(&group));
  CHECK(group == MPI_GROUP_NULL);
}

static void inclusion(void) {
  int evens[64], odds[64], reversed[64], n_even = 0, n_odd = 0;
  for (int i = 0; i < size; ++i) {
    if (i % 2 == 0)
      evens[n_even++] = i;
    else
      odds[n_odd++] = i;
    reversed[i] = size - 1 - i;
  }
  MPI_Group group;
  CHECK_OK(MPI_Group_incl(world, n_even, evens, &group));
  expect(group, n_even, evens);
  CHECK_OK(MPI_Group_excl(world, n_even, evens, &group));
  expect(group, n_odd, odds);
  CHECK_OK(MPI_Group_incl(world, size, reversed, &group));
  expect(group, size, reversed);
  CHECK_OK(MPI_Group_incl(world, 0, NULL, &group));
  CHECK(group == MPI_GROUP_EMPTY);
  expect(group, 0, NULL);
  CHECK_OK(MPI_Group_excl(world, 0, NULL, &group));
  MPI_Group copy = group;
  int result = -1;
  CHECK_OK(MPI_Group_compare(copy, world, &result));
  CHECK_EQ(result, MPI_IDENT);
  CHECK_OK(MPI_Group_free(&group));

  /* An irregular order, so that nothing can be a formula. */
  if (size >= 4) {
    const int mixed[] = {3, 0, 2};
    CHECK_OK(MPI_Group_incl(world, 3, mixed, &group));
    expect(group, 3, mixed);
  }
}

static void ranges(void) {
  int expected[64], n = 0;
  MPI_Group group;
  int backwards[1][3] = {{size - 1, 0, -1}};
  for (int i = 0; i < size; ++i) expected[i] = size - 1 - i;
  CHECK_OK(MPI_Group_range_incl(world, 1, backwards, &group));
  expect(group, size, expected);
  CHECK_OK(MPI_Group_range_excl(world, 1, backwards, &group));
  expect(group, 0, NULL);

  /* The last rank need not be hit by the stride. */
  int thirds[1][3] = {{0, size - 1, 3}};
  for (int i = 0; i < size; i += 3) expected[n++] = i;
  CHECK_OK(MPI_Group_range_incl(world, 1, thirds, &group));
  expect(group, n, expected);
  n = 0;
  for (int i = 0; i < size; ++i)
    if (i % 3 != 0) expected[n++] = i;
  CHECK_OK(MPI_Group_range_excl(world, 1, thirds, &group));
  expect(group, n, expected);

  if (size >= 7) {
    int two[2][3] = {{6, 4, -2}, {1, 3, 1}};
    const int both[] = {6, 4, 1, 2, 3};
    CHECK_OK(MPI_Group_range_incl(world, 2, two, &group));
    expect(group, 5, both);
  }
  CHECK_OK(MPI_Group_range_incl(world, 0, NULL, &group));
  expect(group, 0, NULL);
}

static void set_operations(void) {
  /* a: the lower two thirds backwards; b: the upper two thirds. */
  int a_ranks[64], b_ranks[64], expected[64], n_a = 0, n_b = 0, n;
  const int third = size / 3;
  for (int i = size - third - 1; i >= 0; --i) a_ranks[n_a++] = i;
  for (int i = third; i < size; ++i) b_ranks[n_b++] = i;
  MPI_Group a, b, group;
  CHECK_OK(MPI_Group_incl(world, n_a, a_ranks, &a));
  CHECK_OK(MPI_Group_incl(world, n_b, b_ranks, &b));

  /* First all of a, then those of b that are new, each in its group's order. */
  n = 0;
  for (int i = 0; i < n_a; ++i) expected[n++] = a_ranks[i];
  for (int i = size - third; i < size; ++i) expected[n++] = i;
  CHECK_OK(MPI_Group_union(a, b, &group));
  expect(group, n, expected);

  n = 0;
  for (int i = 0; i < n_a; ++i)
    if (a_ranks[i] >= third) expected[n++] = a_ranks[i];
  CHECK_OK(MPI_Group_intersection(a, b, &group));
  expect(group, n, expected);

  n = 0;
  for (int i = 0; i < n_a; ++i)
    if (a_ranks[i] < third) expected[n++] = a_ranks[i];
  CHECK_OK(MPI_Group_difference(a, b, &group));
  expect(group, n, expected);

  CHECK_OK(MPI_Group_union(a, MPI_GROUP_EMPTY, &group));
  expect(group, n_a, a_ranks);
  CHECK_OK(MPI_Group_intersection(a, MPI_GROUP_EMPTY, &group));
  expect(group, 0, NULL);
  CHECK_OK(MPI_Group_difference(MPI_GROUP_EMPTY, a, &group));
  expect(group, 0, NULL);
  CHECK_OK(MPI_Group_difference(a, a, &group));
  CHECK(group == MPI_GROUP_EMPTY);
  expect(group, 0, NULL);
  CHECK_OK(MPI_Group_free(&a));
  CHECK_OK(MPI_Group_free(&b));
}

static void comparison(void) {
  int backwards[1][3] = {{size - 1, 0, -1}}, first[1] = {0}, result = -1;
  MPI_Group reversed, single, same;
  CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &same));
  CHECK_OK(MPI_Group_range_incl(world, 1, backwards, &reversed));
  CHECK_OK(MPI_Group_incl(world, 1, first, &single));
  CHECK_OK(MPI_Group_compare(world, same, &result));
  CHECK_EQ(result, MPI_IDENT);
  CHECK_OK(MPI_Group_compare(world, reversed, &result));
  CHECK_EQ(result, size == 1 ? MPI_IDENT : MPI_SIMILAR);
  CHECK_OK(MPI_Group_compare(single, world, &result));
  CHECK_EQ(result, size == 1 ? MPI_IDENT : MPI_UNEQUAL);
  CHECK_OK(MPI_Group_compare(MPI_GROUP_EMPTY, MPI_GROUP_EMPTY, &result));
  CHECK_EQ(result, MPI_IDENT);
  CHECK_OK(MPI_Group_compare(MPI_GROUP_EMPTY, single, &result));
  CHECK_EQ(result, MPI_UNEQUAL);
  CHECK_OK(MPI_Group_free(&same));
  CHECK_OK(MPI_Group_free(&reversed));
  CHECK_OK(MPI_Group_free(&single));
}

static void translation(void) {
  MPI_Group self;
  CHECK_OK(MPI_Comm_group(MPI_COMM_SELF, &self));
  const int asked[] = {0, MPI_PROC_NULL};
  int got[2] = {-7, -7};
  CHECK_OK(MPI_Group_translate_ranks(self, 2, asked, world, got));
  CHECK_EQ(got[0], rank);
  CHECK_EQ(got[1], MPI_PROC_NULL);
  for (int other = 0; other < size; ++other) {
    int mine = -7;
    CHECK_OK(MPI_Group_translate_ranks(world, 1, &other, self, &mine));
    CHECK_EQ(mine, other == rank ? 0 : MPI_UNDEFINED);
  }
  CHECK_OK(MPI_Group_translate_ranks(world, 0, NULL, self, NULL));
  CHECK_OK(MPI_Group_free(&self));
}

/* A group outlives the communicator that it came from, and a communicator the group that it was made of. */
static void lifetime(void) {
  MPI_Comm comm;
  MPI_Group group;
  int got = -1;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Comm_group(comm, &group));
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Group_size(group, &got));
  CHECK_EQ(got, size);
  CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
  CHECK_OK(MPI_Group_free(&group));
  CHECK_OK(MPI_Comm_rank(comm, &got));
  CHECK_EQ(got, rank);
  CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  inclusion();
  ranges();
  set_operations();
  comparison();
  translation();
  lifetime();
  CHECK_OK(MPI_Group_free(&world));
  MPI_Finalize();
  return check_result();
}
