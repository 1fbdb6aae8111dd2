/* Errors that end the job, because a program with sessions only has no other error handler than the initial
   one. argv[1] says which. */
#include "session.h"

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  int value = 0;
  MPI_Session session = open_session();
  if (strcmp(how, "leave") == 0) return 0;
  if (strcmp(how, "world") == 0) MPI_Comm_size(MPI_COMM_WORLD, &value);
  if (strcmp(how, "query") == 0) MPI_Query_thread(&value);
  if (strcmp(how, "finalize") == 0) MPI_Finalize();
  MPI_Session_finalize(&session);
  if (strcmp(how, "late") == 0) MPI_Group_size(MPI_GROUP_EMPTY, &value);
  return 0;
}
