/* What the tests of sessions begin with: a session, and communicators of its process sets. */
#ifndef CLUMP_TESTS_SESSION_H
#define CLUMP_TESTS_SESSION_H

#include "check.h"

static inline MPI_Session open_session(void) {
  MPI_Session session = MPI_SESSION_NULL;
  CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  CHECK(session != MPI_SESSION_NULL);
  return session;
}

static inline MPI_Comm comm_of(MPI_Session session, const char* pset, const char* stringtag) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  CHECK_OK(MPI_Group_from_session_pset(session, pset, &group));
  CHECK(group != MPI_GROUP_NULL);
  CHECK_OK(MPI_Comm_create_from_group(group, stringtag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  CHECK_OK(MPI_Group_free(&group));
  CHECK(comm != MPI_COMM_NULL);
  return comm;
}

/* The sum of what all ranks of `comm` give. */
static inline int sum_over(MPI_Comm comm, int mine) {
  int sum = -1;
  CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
  return sum;
}

/* Whether `name` stands in an info object with this value. */
static inline void expect_value(MPI_Info info, const char* key, const char* expected) {
  char value[MPI_MAX_INFO_VAL] = "";
  int length = sizeof value, flag = 0;
  CHECK_OK(MPI_Info_get_string(info, key, &length, value, &flag));
  CHECK_EQ(flag, 1);
  CHECK_STR(value, expected);
}

#endif
