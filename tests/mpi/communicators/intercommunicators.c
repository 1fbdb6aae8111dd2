/* Intercommunicators: made, used, split, merged (MPI-5.0 section 7.6). With one rank there is nothing to
 * connect. */
#include "check.h"
#include "hosts.h"

static int size, rank, half, lower;
static MPI_Comm local; /* the lower or the upper half of the world */

static MPI_Comm connect_halves(int tag) {
  MPI_Comm inter = MPI_COMM_NULL;
  /* The leaders are not the first ranks, where there are others. */
  const int leader = lower ? half - 1 : 0, remote = lower ? half : half - 1;
  CHECK_OK(MPI_Intercomm_create(local, leader, MPI_COMM_WORLD, remote, tag, &inter));
  return inter;
}

static void contents(MPI_Comm inter) {
  int value = -1, local_size = -1, remote_size = -1;
  CHECK_OK(MPI_Comm_test_inter(inter, &value));
  CHECK_EQ(value, 1);
  CHECK_OK(MPI_Comm_size(inter, &local_size));
  CHECK_OK(MPI_Comm_remote_size(inter, &remote_size));
  CHECK_EQ(local_size, lower ? half : size - half);
  CHECK_EQ(remote_size, lower ? size - half : half);
  CHECK_OK(MPI_Comm_rank(inter, &value));
  CHECK_EQ(value, lower ? rank : rank - half);

  MPI_Group group, world;
  CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  CHECK_OK(MPI_Comm_remote_group(inter, &group));
  for (int i = 0; i < remote_size; ++i) {
    int world_rank = -1;
    CHECK_OK(MPI_Group_translate_ranks(group, 1, &i, world, &world_rank));
    CHECK_EQ(world_rank, lower ? half + i : i);
  }
  CHECK_OK(MPI_Group_free(&group));
  CHECK_OK(MPI_Comm_group(inter, &group));
  CHECK_OK(MPI_Group_rank(group, &value));
  CHECK_EQ(value, lower ? rank : rank - half);
  CHECK_OK(MPI_Group_free(&group));
  CHECK_OK(MPI_Group_free(&world));
}

/* Rank i of one side talks to rank i of the other. */
static void messages(MPI_Comm inter) {
  int me = -1, remote_size = -1;
  CHECK_OK(MPI_Comm_rank(inter, &me));
  CHECK_OK(MPI_Comm_remote_size(inter, &remote_size));
  if (me >= remote_size) return;
  int got = -1, expected = -1;
  MPI_Group remote, world;
  CHECK_OK(MPI_Comm_remote_group(inter, &remote));
  CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  CHECK_OK(MPI_Group_translate_ranks(remote, 1, &me, world, &expected));
  CHECK_OK(MPI_Group_free(&remote));
  CHECK_OK(MPI_Group_free(&world));
  MPI_Status status;
  CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, me, 3, &got, 1, MPI_INT, MPI_ANY_SOURCE, 3, inter, &status));
  CHECK_EQ(got, expected);
  CHECK_EQ(status.MPI_SOURCE, me);
}

static void merged(MPI_Comm inter, int lower_high, int upper_high) {
  MPI_Comm all;
  int members[64], n = -1;
  CHECK_OK(MPI_Intercomm_merge(inter, lower ? lower_high : upper_high, &all));
  CHECK_OK(MPI_Comm_size(all, &n));
  CHECK_EQ(n, size);
  CHECK_OK(MPI_Comm_test_inter(all, &n));
  CHECK_EQ(n, 0);
  CHECK_OK(MPI_Allgather(&rank, 1, MPI_INT, members, 1, MPI_INT, all));
  /* Where both say the same, either order is right. */
  int lower_first = members[0] == 0;
  if (lower_high != upper_high) CHECK_EQ(lower_first, !lower_high);
  for (int i = 0; i < size; ++i) {
    const int upper_count = size - half;
    const int expected = lower_first ? i : i < upper_count ? half + i : i - upper_count;
    CHECK_EQ(members[i], expected);
  }
  CHECK_OK(MPI_Comm_free(&all));
}

static void comparison(MPI_Comm inter) {
  MPI_Comm copy;
  int result = -1;
  CHECK_OK(MPI_Comm_compare(inter, inter, &result));
  CHECK_EQ(result, MPI_IDENT);
  CHECK_OK(MPI_Comm_dup(inter, &copy));
  CHECK_OK(MPI_Comm_compare(inter, copy, &result));
  CHECK_EQ(result, MPI_CONGRUENT);
  CHECK_OK(MPI_Comm_compare(inter, local, &result));
  CHECK_EQ(result, MPI_UNEQUAL);
  contents(copy);
  messages(copy);
  CHECK_OK(MPI_Comm_free(&copy));
}

/* The even ranks of each side. The result is null where one side has nobody. */
static void split(MPI_Comm inter) {
  MPI_Comm part;
  int me = -1, n = -1, remote = -1;
  CHECK_OK(MPI_Comm_rank(inter, &me));
  CHECK_OK(MPI_Comm_split(inter, me % 2, -me, &part));
  const int locals = lower ? half : size - half, remotes = size - locals;
  const int expected = me % 2 ? locals / 2 : (locals + 1) / 2,
            expected_remote = me % 2 ? remotes / 2 : (remotes + 1) / 2;
  CHECK_EQ(part == MPI_COMM_NULL, expected_remote == 0);
  if (part != MPI_COMM_NULL) {
    CHECK_OK(MPI_Comm_size(part, &n));
    CHECK_EQ(n, expected);
    CHECK_OK(MPI_Comm_remote_size(part, &remote));
    CHECK_EQ(remote, expected_remote);
    CHECK_OK(MPI_Comm_rank(part, &n));
    CHECK_EQ(n, expected - 1 - me / 2);
    if (n < remote) {
      int got = -1;
      CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, n, 0, &got, 1, MPI_INT, n, 0, part, MPI_STATUS_IGNORE));
      CHECK_EQ(got, (lower ? half : 0) + 2 * (expected_remote - 1 - n) + me % 2);
    }
    CHECK_OK(MPI_Comm_free(&part));
  }
  CHECK_OK(MPI_Comm_split(inter, MPI_UNDEFINED, 0, &part));
  CHECK(part == MPI_COMM_NULL);
}

/* MPI_Comm_create with the first rank of each side, then with nobody of the upper side. */
static void create(MPI_Comm inter) {
  MPI_Group group, first;
  MPI_Comm pair;
  int me = -1, n = -1;
  CHECK_OK(MPI_Comm_rank(inter, &me));
  CHECK_OK(MPI_Comm_group(inter, &group));
  CHECK_OK(MPI_Group_incl(group, 1, (int[]){0}, &first));
  CHECK_OK(MPI_Comm_create(inter, first, &pair));
  CHECK_EQ(pair != MPI_COMM_NULL, me == 0);
  if (pair != MPI_COMM_NULL) {
    CHECK_OK(MPI_Comm_remote_size(pair, &n));
    CHECK_EQ(n, 1);
    messages(pair);
    CHECK_OK(MPI_Comm_free(&pair));
  }
  CHECK_OK(MPI_Comm_create(inter, lower ? first : MPI_GROUP_EMPTY, &pair));
  CHECK(pair == MPI_COMM_NULL);
  CHECK_OK(MPI_Group_free(&first));
  CHECK_OK(MPI_Group_free(&group));
}

/* Those of a host, if it has ranks of both sides; the parts of the machine may have, or not. */
static void split_by_type(MPI_Comm inter) {
  MPI_Comm part;
  int here[64], lowers = 0, n = -1;
  const int ranks_here = ranks_on_my_host(here);
  for (int i = 0; i < ranks_here; ++i) lowers += here[i] < half;
  const int uppers = ranks_here - lowers;
  CHECK_OK(MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part));
  CHECK_EQ(part != MPI_COMM_NULL, lowers > 0 && uppers > 0);
  if (part != MPI_COMM_NULL) {
    CHECK_OK(MPI_Comm_size(part, &n));
    CHECK_EQ(n, lower ? lowers : uppers);
    CHECK_OK(MPI_Comm_remote_size(part, &n));
    CHECK_EQ(n, lower ? uppers : lowers);
    messages(part);
    CHECK_OK(MPI_Comm_free(&part));
  }
  CHECK_OK(MPI_Comm_split_type(inter, MPI_UNDEFINED, 0, MPI_INFO_NULL, &part));
  CHECK(part == MPI_COMM_NULL);
  CHECK_OK(MPI_Comm_split_type(inter, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &part));
  if (part == MPI_COMM_NULL) return;
  messages(part);
  CHECK_OK(MPI_Comm_free(&part));
}

/* Calls that the standard has for intracommunicators only. */
static void for_intracommunicators(MPI_Comm inter) {
  const int one = 1;
  int out = -7, place = -1, index[1] = {0}, none = 0;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Win win = MPI_WIN_NULL;
  MPI_File file = MPI_FILE_NULL;
  MPI_Group group;
  CHECK_CLASS(MPI_Scan(&one, &out, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Exscan(&one, &out, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Scan_c(&one, &out, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Exscan_c(&one, &out, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Iscan(&one, &out, 1, MPI_INT, MPI_SUM, inter, &request), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Iexscan(&one, &out, 1, MPI_INT, MPI_SUM, inter, &request), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Scan_init(&one, &out, 1, MPI_INT, MPI_SUM, inter, MPI_INFO_NULL, &request), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Exscan_init(&one, &out, 1, MPI_INT, MPI_SUM, inter, MPI_INFO_NULL, &request), MPI_ERR_COMM);
  CHECK_EQ(out, -7);
  CHECK(request == MPI_REQUEST_NULL);

  CHECK_CLASS(MPI_Cart_create(inter, 1, &one, &none, 0, &made), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Cart_map(inter, 1, &one, &none, &place), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Graph_create(inter, 1, index, NULL, 0, &made), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Graph_map(inter, 1, index, NULL, &place), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Dist_graph_create(inter, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Dist_graph_create_adjacent(inter, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
              MPI_ERR_COMM);
  CHECK_OK(MPI_Comm_group(inter, &group));
  CHECK_CLASS(MPI_Comm_create_group(inter, group, 0, &made), MPI_ERR_COMM);
  CHECK_OK(MPI_Group_free(&group));

  CHECK_CLASS(MPI_Comm_accept("x", MPI_INFO_NULL, 0, inter, &made), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_connect("x", MPI_INFO_NULL, 0, inter, &made), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_spawn("x", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, inter, &made, MPI_ERRCODES_IGNORE), MPI_ERR_COMM);
  CHECK(made == MPI_COMM_NULL);
  CHECK_EQ(place, -1);

  CHECK_CLASS(MPI_Win_create(&out, sizeof out, 1, MPI_INFO_NULL, inter, &win), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Win_create_dynamic(MPI_INFO_NULL, inter, &win), MPI_ERR_COMM);
  void* base = NULL;
  CHECK_CLASS(MPI_Win_allocate(8, 1, MPI_INFO_NULL, inter, &base, &win), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, inter, &base, &win), MPI_ERR_COMM);
  CHECK(win == MPI_WIN_NULL);
  CHECK_CLASS(MPI_File_open(inter, "x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_COMM);
  CHECK(file == MPI_FILE_NULL);
}

static void errors(MPI_Comm inter) {
  MPI_Comm made = MPI_COMM_NULL;
  int n;
  CHECK_OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
  CHECK_CLASS(MPI_Comm_remote_size(local, &n), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Intercomm_merge(local, 0, &made), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 0, &made), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Intercomm_create(local, size, MPI_COMM_WORLD, 0, 0, &made), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 0, -1, &made), MPI_ERR_TAG);
  CHECK_CLASS(MPI_Comm_split_type(inter, -4711, 0, MPI_INFO_NULL, &made), MPI_ERR_ARG);
  CHECK(made == MPI_COMM_NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  half = (size + 1) / 2;
  lower = rank < half;
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, lower, rank, &local));
  if (size > 1) {
    MPI_Comm inter = connect_halves(11), second = connect_halves(11);
    contents(inter);
    messages(inter);
    messages(second);
    merged(inter, 0, 1);
    merged(inter, 1, 0);
    merged(second, 0, 0);
    merged(second, 1, 1);
    comparison(inter);
    split(inter);
    create(inter);
    split_by_type(inter);
    errors(inter);
    for_intracommunicators(inter);
    CHECK_OK(MPI_Comm_free(&second));
    CHECK_OK(MPI_Comm_disconnect(&inter));
  }
  CHECK_OK(MPI_Comm_free(&local));
  MPI_Finalize();
  return check_result();
}
