/* MPI_Finalize first deletes the attributes of MPI_COMM_SELF, the last one set first, while MPI still works
 * (MPI-5.0 section 11.4.1). */
#include "check.h"

static int order[3], deleted;

static int note(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)keyval, (void)extra;
  int finalized = -1, size = -1, got = -1;
  const int mine = 5;
  CHECK(comm == MPI_COMM_SELF);
  CHECK_OK(MPI_Finalized(&finalized));
  CHECK_EQ(finalized, 0);
  /* Communication is still possible. */
  CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
  CHECK_OK(MPI_Allreduce(&mine, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(got, 5 * size);
  if (deleted < 3) order[deleted] = (int)(size_t)value;
  ++deleted;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 3; ++i) {
    int key;
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note, &key, NULL));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, (void*)(size_t)(i + 1)));
    CHECK_OK(MPI_Comm_free_keyval(&key));
  }
  MPI_Finalize();
  CHECK_EQ(deleted, 3);
  for (int i = 0; i < 3; ++i) CHECK_EQ(order[i], 3 - i);
  return check_result();
}
