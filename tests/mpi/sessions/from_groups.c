/* MPI_Comm_create_from_group and MPI_Intercomm_create_from_groups (MPI-5.0 sections 7.4.2 and 7.6.2): parts,
   orders, several at a time, what the new communicators inherit. */
#include "session.h"

static MPI_Session session;
static MPI_Group world;
static int size, rank;

static MPI_Group range(int first, int last, int stride) {
  int ranges[1][3] = {{first, last, stride}};
  MPI_Group group;
  CHECK_OK(MPI_Group_range_incl(world, 1, ranges, &group));
  return group;
}

static MPI_Comm make(MPI_Group group, const char* stringtag) {
  MPI_Comm comm = MPI_COMM_NULL;
  CHECK_OK(MPI_Comm_create_from_group(group, stringtag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  return comm;
}

static void parts(void) {
  int number = -1;
  MPI_Group backwards = range(size - 1, 0, -1), mine = range(rank % 2, size - 1, 2);
  MPI_Comm reversed = make(backwards, "");
  CHECK_OK(MPI_Comm_rank(reversed, &number));
  CHECK_EQ(number, size - 1 - rank);
  CHECK_EQ(sum_over(reversed, number), size * (size - 1) / 2);

  /* The even and the odd ranks at once, with one name. */
  MPI_Comm half = make(mine, "half");
  CHECK_OK(MPI_Comm_rank(half, &number));
  CHECK_EQ(number, rank / 2);
  CHECK_EQ(sum_over(half, 1), rank % 2 == 0 ? (size + 1) / 2 : size / 2);
  CHECK_OK(MPI_Comm_free(&half));
  CHECK_OK(MPI_Comm_free(&reversed));

  /* One after the other with the same name, of groups that overlap. */
  for (int first = 0; first + 1 < size; ++first) {
    if (rank != first && rank != first + 1) continue;
    MPI_Group pair = range(first, first + 1, 1);
    MPI_Comm comm = make(pair, "pair");
    CHECK_EQ(sum_over(comm, rank), 2 * first + 1);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_free(&pair));
  }
  MPI_Comm nobody = make(MPI_GROUP_EMPTY, "nobody"); /* a local call */
  CHECK(nobody == MPI_COMM_NULL);
  CHECK_OK(MPI_Group_free(&backwards));
  CHECK_OK(MPI_Group_free(&mine));
}

static void inheritance(void) {
  MPI_Info hints, used;
  MPI_Errhandler handler;
  MPI_Comm comm, copy;
  CHECK_OK(MPI_Info_create(&hints));
  CHECK_OK(MPI_Info_set(hints, "mpi_assert_no_any_source", "true"));
  CHECK_OK(MPI_Comm_create_from_group(world, "hints", hints, MPI_ERRORS_RETURN, &comm));
  CHECK_OK(MPI_Info_free(&hints));
  CHECK_OK(MPI_Comm_get_info(comm, &used));
  expect_value(used, "mpi_assert_no_any_source", "true");
  CHECK_OK(MPI_Info_free(&used));
  CHECK_OK(MPI_Comm_get_errhandler(comm, &handler));
  CHECK(handler == MPI_ERRORS_RETURN);
  CHECK_OK(MPI_Comm_dup(comm, &copy));
  CHECK_OK(MPI_Comm_get_errhandler(copy, &handler));
  CHECK(handler == MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Send(&rank, 1, MPI_INT, size, 0, copy), MPI_ERR_RANK);
  CHECK_OK(MPI_Comm_free(&copy));
  CHECK_OK(MPI_Comm_free(&comm));
}

/* The lower and the upper half, whose leaders are their last and first ranks. */
static void intercommunicators(void) {
  if (size < 2) return;
  const int half = (size + 1) / 2, lower = rank < half;
  MPI_Group low = range(0, half - 1, 1), high = range(half, size - 1, 1);
  MPI_Comm inter = MPI_COMM_NULL, all = MPI_COMM_NULL;
  const int leader = lower ? half - 1 : 0;
  const int is_leader = rank == (lower ? half - 1 : half);
  /* Only the leader has to know the other group. */
  CHECK_OK(MPI_Intercomm_create_from_groups(lower ? low : high, leader,
                                            !is_leader ? MPI_GROUP_NULL
                                            : lower    ? high
                                                       : low,
                                            is_leader ? (lower ? 0 : half - 1) : -7, "halves", MPI_INFO_NULL,
                                            MPI_ERRORS_RETURN, &inter));
  int flag = 0, remote = -1, total = -1;
  CHECK_OK(MPI_Comm_test_inter(inter, &flag));
  CHECK_EQ(flag, 1);
  CHECK_OK(MPI_Comm_remote_size(inter, &remote));
  CHECK_EQ(remote, lower ? size - half : half);
  CHECK_OK(MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, inter));
  const int low_sum = half * (half - 1) / 2;
  CHECK_EQ(total, lower ? size * (size - 1) / 2 - low_sum : low_sum);
  CHECK_OK(MPI_Intercomm_merge(inter, !lower, &all));
  CHECK_EQ(sum_over(all, rank), size * (size - 1) / 2);
  CHECK_OK(MPI_Comm_free(&all));
  CHECK_OK(MPI_Comm_free(&inter));
  CHECK_OK(MPI_Group_free(&low));
  CHECK_OK(MPI_Group_free(&high));
}

int main(void) {
  session = open_session();
  CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
  CHECK_OK(MPI_Group_size(world, &size));
  CHECK_OK(MPI_Group_rank(world, &rank));
  parts();
  inheritance();
  intercommunicators();
  CHECK_OK(MPI_Group_free(&world));
  CHECK_OK(MPI_Session_finalize(&session));
  return check_result();
}
