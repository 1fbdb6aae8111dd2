/* Wrong arguments of the functions that make and ask communicators: the error class of each. A failed call
   leaves its output alone, and communication goes on afterwards. */
#include "check.h"

int main(int argc, char** argv) {
  int size, rank, value;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm made = MPI_COMM_NULL, null = MPI_COMM_NULL;
  MPI_Info info;
  MPI_Group world, alone;
  CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  CHECK_OK(MPI_Comm_group(MPI_COMM_SELF, &alone));

  /* Null handles. */
  CHECK_CLASS(MPI_Comm_size(MPI_COMM_NULL, &value), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_rank(MPI_COMM_NULL, &value), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_NULL, &value), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_dup(MPI_COMM_NULL, &made), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_split(MPI_COMM_NULL, 0, 0, &made), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_create(MPI_COMM_NULL, world, &made), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &made), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_NULL, 0, &made), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Comm_free(&null), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_disconnect(&null), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_test_inter(MPI_COMM_NULL, &value), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_set_name(MPI_COMM_NULL, "x"), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_set_info(MPI_COMM_WORLD, MPI_INFO_NULL), MPI_ERR_INFO);
  CHECK_CLASS(MPI_Comm_get_info(MPI_COMM_NULL, &info), MPI_ERR_COMM);

  /* Null pointers. */
  CHECK_CLASS(MPI_Comm_size(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_dup(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);

  /* What can not be. */
  CHECK_CLASS(MPI_Comm_split(MPI_COMM_WORLD, -1, 0, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, -5, 0, MPI_INFO_NULL, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_create_group(MPI_COMM_WORLD, world, -1, &made), MPI_ERR_TAG);
  CHECK_CLASS(MPI_Comm_remote_size(MPI_COMM_WORLD, &value), MPI_ERR_COMM);
  if (size > 1) CHECK_CLASS(MPI_Comm_create(MPI_COMM_SELF, world, &made), MPI_ERR_GROUP);
  MPI_Comm predefined = MPI_COMM_WORLD;
  CHECK_CLASS(MPI_Comm_free(&predefined), MPI_ERR_COMM);
  predefined = MPI_COMM_SELF;
  CHECK_CLASS(MPI_Comm_free(&predefined), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_disconnect(&predefined), MPI_ERR_COMM);
  CHECK(predefined == MPI_COMM_SELF);
  CHECK(made == MPI_COMM_NULL);

  /* A freed communicator's handle, also when another one has taken its place. */
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
  MPI_Comm stale = made;
  CHECK_OK(MPI_Comm_free(&made));
  CHECK_CLASS(MPI_Comm_size(stale, &value), MPI_ERR_COMM);
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
  CHECK_CLASS(MPI_Comm_rank(stale, &value), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_get_name(stale, name, &value), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 0, 0, stale), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_free(&stale), MPI_ERR_COMM);
  int total = 0;
  const int one = 1;
  CHECK_OK(MPI_Allreduce(&one, &total, 1, MPI_INT, MPI_SUM, made));
  CHECK_EQ(total, size);
  CHECK_OK(MPI_Comm_free(&made));
  CHECK_OK(MPI_Group_free(&world));
  CHECK_OK(MPI_Group_free(&alone));
  MPI_Finalize();
  return check_result();
}
