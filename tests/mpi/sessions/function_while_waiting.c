/* A user's function is called while the main thread waits, in a program with sessions only (MPI-5.0 sections
   6.12 and 11.3). */
#include "function_while_waiting.h"

int main(void) {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Comm comm = MPI_COMM_NULL, messages = MPI_COMM_NULL;
  MPI_Op op = MPI_OP_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
  CHECK_OK(MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session));
  MPI_Info_free(&info);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "functions", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_dup(comm, &messages);
  MPI_Group_free(&group);
  MPI_Op_create(add, 1, &op);
  reduce_while_waiting(comm, messages, &op);
  MPI_Op_free(&op);
  MPI_Comm_free(&messages);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return check_result();
}
