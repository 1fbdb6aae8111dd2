/* A program that never calls MPI_Init: sessions, their process sets, and communicators of them (MPI-5.0
   section 11.3). */
#include "session.h"

static int size, rank;

static void expect_world_model(int expected) {
  int flag = -1;
  CHECK_OK(MPI_Initialized(&flag));
  CHECK_EQ(flag, expected);
  CHECK_OK(MPI_Finalized(&flag));
  CHECK_EQ(flag, 0);
}

/* A ring in a communicator of all ranks tells how many there are. */
static void talk(MPI_Comm comm) {
  int from_left = -1, result = -1;
  CHECK_OK(MPI_Comm_size(comm, &size));
  CHECK_OK(MPI_Comm_rank(comm, &rank));
  CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 3, &from_left, 1, MPI_INT,
                        (rank + size - 1) % size, 3, comm, MPI_STATUS_IGNORE));
  CHECK_EQ(from_left, (rank + size - 1) % size);
  CHECK_EQ(sum_over(comm, rank), size * (size - 1) / 2);
  MPI_Comm copy;
  CHECK_OK(MPI_Comm_dup(comm, &copy));
  CHECK_OK(MPI_Comm_compare(comm, copy, &result));
  CHECK_EQ(result, MPI_CONGRUENT);
  CHECK_OK(MPI_Comm_free(&copy));
}

/* Every set that this rank is in: its name with and without enough room, its size, and its group. */
static void process_sets(MPI_Session session) {
  int count = 0, seen_world = 0, seen_self = 0;
  CHECK_OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
  CHECK(count >= 2);
  for (int n = 0; n < count; ++n) {
    char name[MPI_MAX_PSET_NAME_LEN] = "untouched", start[5] = "....";
    int needed = 0, length = 5, members = -1, mine = MPI_UNDEFINED;
    CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &needed, NULL));
    CHECK(needed > 1 && needed <= MPI_MAX_PSET_NAME_LEN);
    CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, start));
    CHECK_EQ(length, needed);
    CHECK_EQ(strlen(start), 4);
    length = needed;
    CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, name));
    CHECK_EQ((int)strlen(name), needed - 1);
    CHECK(strncmp(name, start, 4) == 0);
    seen_world += strcmp(name, "mpi://WORLD") == 0;
    seen_self += strcmp(name, "mpi://SELF") == 0;

    MPI_Group group;
    CHECK_OK(MPI_Group_from_session_pset(session, name, &group));
    CHECK_OK(MPI_Group_size(group, &members));
    CHECK_OK(MPI_Group_rank(group, &mine));
    CHECK(mine != MPI_UNDEFINED);
    char size_text[16];
    snprintf(size_text, sizeof size_text, "%d", members);
    MPI_Info info;
    CHECK_OK(MPI_Session_get_pset_info(session, name, &info));
    expect_value(info, "mpi_size", size_text);
    CHECK_OK(MPI_Info_free(&info));

    MPI_Comm comm;
    CHECK_OK(MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_EQ(sum_over(comm, 1), members);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_free(&group));
  }
  CHECK_EQ(seen_world, 1);
  CHECK_EQ(seen_self, 1);
}

static void facts(MPI_Session session) {
  MPI_Info info;
  CHECK_OK(MPI_Session_get_info(session, &info));
  expect_value(info, "thread_level", "MPI_THREAD_MULTIPLE");
  expect_value(info, "mpi_memory_alloc_kinds", "system,mpi");
  CHECK_OK(MPI_Info_free(&info));
}

/* What is left to the library: a session that ends with a group, a communicator and its copy in use. */
static void leave_things(void) {
  MPI_Session session = open_session();
  MPI_Group group, part;
  MPI_Comm copy;
  const int first = 0;
  MPI_Comm comm = comm_of(session, "mpi://WORLD", "left");
  CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
  CHECK_OK(MPI_Group_incl(group, 1, &first, &part));
  CHECK_OK(MPI_Comm_dup(comm, &copy));
  CHECK_EQ(sum_over(copy, 1), size);
  CHECK_OK(MPI_Session_finalize(&session));
  CHECK(session == MPI_SESSION_NULL);
}

int main(void) {
  expect_world_model(0);
  MPI_Info wishes;
  MPI_Session first, second;
  CHECK_OK(MPI_Info_create(&wishes));
  CHECK_OK(MPI_Info_set(wishes, "thread_level", "MPI_THREAD_FUNNELED"));
  CHECK_OK(MPI_Session_init(wishes, MPI_ERRORS_RETURN, &first));
  CHECK_OK(MPI_Info_free(&wishes));
  expect_world_model(0);
  facts(first);

  MPI_Comm world = comm_of(first, "mpi://WORLD", "test");
  MPI_Comm self = comm_of(first, "mpi://self", "test"); /* in upper or lower case */
  talk(world);
  CHECK_EQ(sum_over(self, 1), 1);
  process_sets(first);

  /* Another session beside it outlives it. */
  second = open_session();
  MPI_Comm other = comm_of(second, "mpi://WORLD", "test");
  talk(other);
  talk(world);
  CHECK_OK(MPI_Comm_free(&world));
  CHECK_OK(MPI_Comm_free(&self));
  CHECK_OK(MPI_Session_finalize(&first));
  talk(other);
  CHECK_OK(MPI_Comm_disconnect(&other));
  CHECK_OK(MPI_Session_finalize(&second));

  /* And once more, from nothing. */
  for (int again = 0; again < 3; ++again) leave_things();
  expect_world_model(0);
  return check_result();
}
