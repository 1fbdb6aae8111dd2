/* Errors of the functions of sessions, and whose error handler is told. */
#include "session.h"

static MPI_Session told_session;
static MPI_Comm told_comm;
static int told_code, session_calls, comm_calls;

static void on_session(MPI_Session* session, int* code, ...) {
  told_session = *session;
  told_code = *code;
  ++session_calls;
}

static void on_comm(MPI_Comm* comm, int* code, ...) {
  told_comm = *comm;
  told_code = *code;
  ++comm_calls;
}

/* MPI_Session_create_errhandler and MPI_Errhandler_free need no MPI. */
static void handlers(void) {
  MPI_Errhandler handler, other, got;
  MPI_Session session = MPI_SESSION_NULL, kept;
  MPI_Info info;
  int class = -1, count = 0;
  CHECK_OK(MPI_Session_create_errhandler(on_session, &handler));

  /* The handler of a session that does not come to be is told, too. */
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MANY"));
  told_session = MPI_SESSION_NULL;
  CHECK_CLASS(MPI_Session_init(info, handler, &session), MPI_ERR_INFO_VALUE);
  CHECK_EQ(session_calls, 1);
  CHECK(told_session == MPI_SESSION_NULL);
  CHECK(session == MPI_SESSION_NULL);
  CHECK_OK(MPI_Info_free(&info));

  CHECK_OK(MPI_Session_init(MPI_INFO_NULL, handler, &session));
  CHECK_OK(MPI_Session_get_errhandler(session, &got));
  CHECK(got == handler);
  CHECK_OK(MPI_Errhandler_free(&got));
  CHECK_OK(MPI_Errhandler_free(&handler)); /* the session still has it */
  CHECK(handler == MPI_ERRHANDLER_NULL);
  CHECK_CLASS(MPI_Session_get_num_psets(session, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
  CHECK_EQ(session_calls, 2);
  CHECK(told_session == session);
  CHECK_OK(MPI_Error_class(told_code, &class));
  CHECK_EQ(class, MPI_ERR_ARG);
  CHECK_OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
  CHECK_EQ(session_calls, 3);
  CHECK_EQ(told_code, MPI_ERR_OTHER);

  CHECK_OK(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Session_get_errhandler(session, &got));
  CHECK(got == MPI_ERRORS_RETURN);
  CHECK_OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
  CHECK_CLASS(MPI_Session_get_num_psets(session, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
  CHECK_EQ(session_calls, 3);
  CHECK_CLASS(MPI_Session_set_errhandler(session, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);

  /* A handler for communicators is none for sessions. */
  CHECK_OK(MPI_Comm_create_errhandler(on_comm, &other));
  CHECK_CLASS(MPI_Session_set_errhandler(session, other), MPI_ERR_ARG);

  /* The handler of a communicator that does not come to be. */
  MPI_Group self;
  MPI_Comm comm = MPI_COMM_NULL;
  char long_name[MPI_MAX_STRINGTAG_LEN + 1];
  memset(long_name, 'x', sizeof long_name);
  long_name[MPI_MAX_STRINGTAG_LEN] = '\0';
  CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &self));
  told_comm = MPI_COMM_SELF;
  CHECK_CLASS(MPI_Comm_create_from_group(self, long_name, MPI_INFO_NULL, other, &comm), MPI_ERR_ARG);
  CHECK_EQ(comm_calls, 1);
  CHECK(told_comm == MPI_COMM_NULL);
  long_name[MPI_MAX_STRINGTAG_LEN - 1] = '\0'; /* as long as it may be */
  CHECK_OK(MPI_Comm_create_from_group(self, long_name, MPI_INFO_NULL, other, &comm));
  CHECK_CLASS(MPI_Send(&count, 1, MPI_INT, 1, 0, comm), MPI_ERR_RANK);
  CHECK_EQ(comm_calls, 2);
  CHECK(told_comm == comm);
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Group_free(&self));
  CHECK_OK(MPI_Errhandler_free(&other));
  kept = session;
  CHECK_OK(MPI_Session_finalize(&session));

  /* A session's handle ends with it, also while there are others. */
  MPI_Session next = open_session();
  CHECK(kept != next);
  CHECK_OK(MPI_Session_finalize(&next));
}

static void arguments(void) {
  MPI_Session session = open_session(), null = MPI_SESSION_NULL, stale;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Group group, world, missing = MPI_GROUP_EMPTY;
  MPI_Info info;
  char name[8] = "";
  int count = 0, length = sizeof name;
  /* Without MPI_COMM_SELF there is only the initial error handler for these, which ends the job; so: */
  CHECK_OK(MPI_Init(NULL, NULL));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  CHECK_CLASS(MPI_Session_finalize(&null), MPI_ERR_SESSION);
  CHECK_CLASS(MPI_Session_get_info(MPI_SESSION_NULL, &info), MPI_ERR_SESSION);
  CHECK_CLASS(MPI_Session_get_num_psets(MPI_SESSION_NULL, MPI_INFO_NULL, &count), MPI_ERR_SESSION);
  CHECK_CLASS(MPI_Session_get_nth_pset(MPI_SESSION_NULL, MPI_INFO_NULL, 0, &length, name), MPI_ERR_SESSION);
  CHECK_CLASS(MPI_Session_get_pset_info(MPI_SESSION_NULL, "mpi://SELF", &info), MPI_ERR_SESSION);
  CHECK_CLASS(MPI_Session_set_errhandler(MPI_SESSION_NULL, MPI_ERRORS_RETURN), MPI_ERR_SESSION);
  CHECK_CLASS(MPI_Session_call_errhandler(MPI_SESSION_NULL, MPI_ERR_OTHER), MPI_ERR_SESSION);
  CHECK_CLASS(MPI_Group_from_session_pset(MPI_SESSION_NULL, "mpi://SELF", &group), MPI_ERR_SESSION);
  CHECK_CLASS(MPI_Session_init(MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &null), MPI_ERR_ERRHANDLER);
  CHECK_CLASS(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Session_get_info(session, NULL), MPI_ERR_ARG);

  CHECK_OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
  CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, count, &length, name), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &length, name), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Session_get_pset_info(session, "mpi://NOWHERE", &info), MPI_ERR_ARG);
  missing = MPI_GROUP_EMPTY;
  CHECK_CLASS(MPI_Group_from_session_pset(session, "mpi://NOWHERE", &missing), MPI_ERR_ARG);
  CHECK(missing == MPI_GROUP_NULL);

  CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
  const int next = (rank + 1) % size;
  CHECK_OK(MPI_Group_incl(world, 1, &next, &group));
  CHECK_CLASS(MPI_Comm_create_from_group(MPI_GROUP_NULL, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
              MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Comm_create_from_group(world, NULL, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_create_from_group(world, "x", MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &comm),
              MPI_ERR_ERRHANDLER);
  CHECK_CLASS(
      MPI_Intercomm_create_from_groups(world, size, world, 0, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
      MPI_ERR_RANK);
  if (size > 1) {
    CHECK_CLASS(MPI_Comm_create_from_group(group, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
                MPI_ERR_GROUP);
    CHECK_CLASS(
        MPI_Intercomm_create_from_groups(group, 0, world, 0, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
        MPI_ERR_GROUP);
  }
  MPI_Group self;
  CHECK_OK(MPI_Group_incl(world, 1, &rank, &self));
  CHECK_CLASS(MPI_Intercomm_create_from_groups(self, 0, MPI_GROUP_NULL, 0, "x", MPI_INFO_NULL,
                                               MPI_ERRORS_RETURN, &comm),
              MPI_ERR_GROUP);
  CHECK_CLASS(
      MPI_Intercomm_create_from_groups(self, 0, world, size, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
      MPI_ERR_RANK);
  CHECK_CLASS(
      MPI_Intercomm_create_from_groups(self, 0, self, 0, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
      MPI_ERR_COMM); /* not disjoint */
  CHECK(comm == MPI_COMM_NULL);

  /* What derives from a session ends with it. */
  MPI_Comm derived = comm_of(session, "mpi://WORLD", "derived");
  stale = session;
  CHECK_OK(MPI_Session_finalize(&session));
  CHECK_CLASS(MPI_Comm_size(derived, &count), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Group_size(world, &count), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Session_get_num_psets(stale, MPI_INFO_NULL, &count), MPI_ERR_SESSION);
  CHECK_CLASS(MPI_Session_finalize(&stale), MPI_ERR_SESSION);
  CHECK_OK(MPI_Finalize());
}

int main(void) {
  handlers();
  arguments();
  return check_result();
}
