/* Bad arguments get the standard's error class and a message that names the call. */
#include "check.h"

int main(int argc, char** argv) {
  int rank, size, value = 1, flag, index;
  MPI_Status status;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

  CHECK_CLASS(MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, -7, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD), MPI_ERR_TAG);
  CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD), MPI_ERR_TAG);
  CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Recv(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD, &status), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Recv(&value, -3, MPI_INT, 0, 0, MPI_COMM_WORLD, &status), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Isend(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);

  /* Handles that were freed, or never were any. */
  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm freed_comm = comm;
  MPI_Comm_free(&comm);
  CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 0, 0, freed_comm), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 0, 0, (MPI_Comm)0x7777777), MPI_ERR_COMM);
  MPI_Type_contiguous(2, MPI_INT, &type);
  CHECK_CLASS(MPI_Send(&value, 1, type, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE); /* not committed */
  MPI_Datatype freed_type = type;
  MPI_Type_free(&type);
  CHECK_CLASS(MPI_Send(&value, 1, freed_type, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
  MPI_Request request, done;
  MPI_Irecv(&value, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &request);
  done = request;
  MPI_Send(&rank, 1, MPI_INT, 0, 5, MPI_COMM_SELF);
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_CLASS(MPI_Wait(&done, &status), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Test(&done, &flag, &status), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Waitany(1, &done, &index, &status), MPI_ERR_REQUEST);

  /* A message that is too long: as much as fits, MPI_ERR_TRUNCATE, and a text with both sizes. */
  int four[4] = {1, 2, 3, 4}, two[4] = {0, 0, 0, -1}, code, length;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Request send;
  MPI_Isend(four, 4, MPI_INT, 0, 6, MPI_COMM_SELF, &send);
  code = MPI_Recv(two, 2, MPI_INT, 0, 6, MPI_COMM_SELF, &status);
  CHECK_CLASS(code, MPI_ERR_TRUNCATE);
  CHECK_EQ(two[1], 2);
  CHECK_EQ(two[2], 0);
  CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
  MPI_Error_string(code, text, &length);
  CHECK(strstr(text, "16") != NULL && strstr(text, "8") != NULL && strstr(text, "MPI_Recv") != NULL);

  /* The same for a request, found by MPI_Waitall: MPI_ERR_IN_STATUS, and each status tells. */
  MPI_Request both[2];
  MPI_Status statuses[2];
  MPI_Irecv(two, 2, MPI_INT, 0, 7, MPI_COMM_SELF, &both[0]);
  MPI_Isend(four, 4, MPI_INT, 0, 7, MPI_COMM_SELF, &both[1]);
  CHECK_CLASS(MPI_Waitall(2, both, statuses), MPI_ERR_IN_STATUS);
  CHECK_CLASS(statuses[0].MPI_ERROR, MPI_ERR_TRUNCATE);
  CHECK_EQ(statuses[1].MPI_ERROR, MPI_SUCCESS);

  /* MPI_BOTTOM is a null pointer, and right with absolute addresses. */
  MPI_Datatype absolute;
  MPI_Aint address;
  MPI_Get_address(&value, &address);
  MPI_Type_create_hindexed(1, &(int){1}, &address, MPI_INT, &absolute);
  MPI_Type_commit(&absolute);
  value = 99;
  CHECK_OK(MPI_Sendrecv(MPI_BOTTOM, 1, absolute, 0, 8, two, 1, MPI_INT, 0, 8, MPI_COMM_SELF, &status));
  CHECK_EQ(two[0], 99);
  MPI_Type_free(&absolute);
  MPI_Finalize();
  return check_result();
}
