/* Sessions before MPI_Init, beside it, and after MPI_Finalize, and which of the two an object belongs to. */
#include "session.h"

static int size, rank;

static void expect_flags(int initialized, int finalized) {
  int flag = -1;
  CHECK_OK(MPI_Initialized(&flag));
  CHECK_EQ(flag, initialized);
  CHECK_OK(MPI_Finalized(&flag));
  CHECK_EQ(flag, finalized);
}

static void expect_members(MPI_Comm comm) {
  int members = -1, number = -1;
  CHECK_OK(MPI_Comm_size(comm, &members));
  CHECK_OK(MPI_Comm_rank(comm, &number));
  CHECK_EQ(members, size);
  CHECK_EQ(number, rank);
  CHECK_EQ(sum_over(comm, 1), size);
}

int main(int argc, char** argv) {
  int provided = -1, is_main = -1;
  MPI_Session before = open_session();
  expect_flags(0, 0);
  MPI_Comm early = comm_of(before, "mpi://WORLD", "a");
  CHECK_OK(MPI_Comm_size(early, &size));
  CHECK_OK(MPI_Comm_rank(early, &rank));
  expect_members(early);
  CHECK_EQ(sum_over(early, 1), size);

  CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided));
  CHECK(provided >= MPI_THREAD_SERIALIZED);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  expect_flags(1, 0);
  CHECK_OK(MPI_Query_thread(&provided));
  CHECK_OK(MPI_Is_thread_main(&is_main));
  CHECK_EQ(is_main, 1);
  expect_members(MPI_COMM_WORLD);
  expect_members(early);

  /* A session that begins and ends inside. Messages of three communicators of all ranks stay apart. */
  MPI_Session inside = open_session();
  MPI_Comm middle = comm_of(inside, "mpi://WORLD", "a");
  const MPI_Comm comms[] = {middle, MPI_COMM_WORLD, early};
  int out[3], in[3] = {-1, -1, -1};
  MPI_Request requests[6];
  for (int i = 0; i < 3; ++i) {
    out[i] = 10 * rank + i;
    CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, (rank + 1) % size, 0, comms[i], &requests[i]));
  }
  for (int i = 2; i >= 0; --i)
    CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, (rank + size - 1) % size, 0, comms[i], &requests[3 + i]));
  CHECK_OK(MPI_Waitall(6, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 3; ++i) CHECK_EQ(in[i], 10 * ((rank + size - 1) % size) + i);

  /* What derives from two of them makes nothing new. */
  MPI_Group world_group, set, both = MPI_GROUP_NULL;
  MPI_Comm mixed = MPI_COMM_NULL;
  CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world_group));
  CHECK_OK(MPI_Group_from_session_pset(inside, "mpi://WORLD", &set));
  CHECK_CLASS(MPI_Group_union(world_group, set, &both), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Group_intersection(world_group, set, &both), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Group_difference(set, world_group, &both), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Comm_create(MPI_COMM_WORLD, set, &mixed), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Comm_create_group(middle, world_group, 0, &mixed), MPI_ERR_GROUP);
  CHECK(both == MPI_GROUP_NULL && mixed == MPI_COMM_NULL);
  CHECK_OK(MPI_Group_union(MPI_GROUP_EMPTY, set, &both)); /* the empty group is everybody's */
  CHECK_OK(MPI_Comm_create_group(middle, both, 0, &mixed));
  expect_members(mixed);
  CHECK_OK(MPI_Comm_free(&mixed));
  CHECK_OK(MPI_Group_free(&both));
  CHECK_OK(MPI_Comm_disconnect(&middle));
  CHECK_OK(MPI_Session_finalize(&inside));
  expect_members(MPI_COMM_WORLD);

  /* The World model ends, with a group and a communicator left to it; the session goes on. */
  MPI_Comm left;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &left));
  CHECK_OK(MPI_Finalize());
  expect_flags(1, 1);
  expect_members(early);
  CHECK_OK(MPI_Comm_set_errhandler(early, MPI_ERRORS_RETURN));
  MPI_Comm more = comm_of(before, "mpi://WORLD", "b");
  expect_members(more);
  CHECK_OK(MPI_Comm_free(&more));
  CHECK_OK(MPI_Comm_free(&early));
  CHECK_OK(MPI_Session_finalize(&before));

  MPI_Session after = open_session();
  expect_flags(1, 1);
  MPI_Comm late = comm_of(after, "mpi://WORLD", "a");
  expect_members(late);
  CHECK_OK(MPI_Comm_free(&late));
  CHECK_OK(MPI_Session_finalize(&after));
  return check_result();
}
