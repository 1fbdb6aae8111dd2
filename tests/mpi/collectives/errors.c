/* Wrong arguments of collectives, and ranks that disagree where that can be seen. After each error the
 * communicator is still good. */
#include "check.h"

static int rank, size;

static void test_arguments(void) {
  int in[64] = {0}, out[64] = {0};
  const int negative[64] = {-1};
  MPI_Datatype uncommitted;
  MPI_Op op = MPI_SUM;
  CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, size, MPI_COMM_WORLD), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, -1, MPI_COMM_WORLD), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, MPI_ROOT, MPI_COMM_WORLD), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Bcast(in, -1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, 0, MPI_COMM_NULL), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_INT, MPI_REPLACE, MPI_COMM_WORLD), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Allgatherv(in, 1, MPI_INT, out, negative, in, MPI_INT, MPI_COMM_WORLD), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Op_free(&op), MPI_ERR_OP);
  CHECK_CLASS(MPI_Reduce_local(in, out, 1, MPI_FLOAT, MPI_BXOR), MPI_ERR_OP);

  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  CHECK_CLASS(MPI_Bcast(in, 1, uncommitted, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, uncommitted, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_TYPE);
  MPI_Type_commit(&uncommitted);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, uncommitted, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP);
  MPI_Type_free(&uncommitted);

  MPI_Op_create((MPI_User_function*)test_arguments, 1, &op);
  const MPI_Op freed = op;
  MPI_Op_free(&op);
  CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_INT, freed, MPI_COMM_WORLD), MPI_ERR_OP);
}

/* The root gives more, or less, than the others expect. */
static void test_disagreement(void) {
  int buffer[8] = {0}, text_length = 0;
  char text[MPI_MAX_ERROR_STRING];
  for (int root_count = 2; root_count <= 6; root_count += 4) {
    const int code = MPI_Bcast(buffer, rank == 0 ? root_count : 4, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0 || (rank > 1 && code == MPI_SUCCESS))
      continue; /* who hears from an inner rank of the tree sees nothing */
    CHECK_CLASS(code, MPI_ERR_TRUNCATE);
    MPI_Error_string(code, text, &text_length);
    CHECK(strstr(text, "16") != NULL);
    CHECK(strstr(text, "rank") != NULL);
  }
  if (size > 1 && rank == 1) {
    const int code = MPI_Bcast(buffer, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK_CLASS(code, MPI_ERR_TRUNCATE);
  } else {
    MPI_Bcast(buffer, 2, MPI_INT, 0, MPI_COMM_WORLD);
  }
  /* To oneself. */
  CHECK_CLASS(MPI_Allgather(buffer, 1, MPI_INT, buffer + 2, 2, MPI_INT, MPI_COMM_SELF), MPI_ERR_TRUNCATE);
}

static void test_still_good(void) {
  int sum = 0, mine = rank + 1;
  CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(sum, size * (size + 1) / 2);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  test_arguments();
  test_still_good();
  test_disagreement();
  test_still_good();
  MPI_Finalize();
  return check_result();
}
