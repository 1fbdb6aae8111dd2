/* Buffered sends: they do not wait for their receives, the buffer's room is reckoned as the standard says,
 * detaching waits. */
#include "check.h"

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;

  static int data[50000], in[50000];
  int one, two, packed;
  CHECK_CLASS(MPI_Bsend(data, 1, MPI_INT, right, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER); /* nothing attached */
  MPI_Pack_size(50000, MPI_INT, MPI_COMM_WORLD, &packed);
  const int room = 2 * (packed + MPI_BSEND_OVERHEAD);
  char* buffer = malloc(room);
  CHECK_OK(MPI_Buffer_attach(buffer, room));
  CHECK_CLASS(MPI_Buffer_attach(buffer, room), MPI_ERR_BUFFER);

  /* Everyone sends two large messages before anyone receives; a third finds no room. */
  for (int round = 0; round < 5; ++round) {
    for (int message = 0; message < 2; ++message) {
      for (int i = 0; i < 50000; ++i) data[i] = rank * 10 + message + i;
      if (message == 0) {
        CHECK_OK(MPI_Bsend(data, 50000, MPI_INT, right, message, MPI_COMM_WORLD));
      } else {
        MPI_Request request;
        CHECK_OK(MPI_Ibsend(data, 50000, MPI_INT, right, message, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
      }
      memset(data, 0, sizeof data);
    }
    CHECK_CLASS(MPI_Bsend(data, 50000, MPI_INT, right, 2, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int message = 1; message >= 0; --message) {
      CHECK_OK(MPI_Recv(in, 50000, MPI_INT, left, message, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK_EQ(in[0], left * 10 + message);
      CHECK_EQ(in[49999], left * 10 + message + 49999);
    }
    CHECK_OK(MPI_Buffer_flush());
  }

  one = rank;
  CHECK_OK(MPI_Bsend(&one, 1, MPI_INT, right, 7, MPI_COMM_WORLD));
  CHECK_OK(MPI_Bsend(&one, 1, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD));
  void* detached = NULL;
  int detached_size = 0;
  CHECK_OK(MPI_Buffer_detach(&detached, &detached_size));
  CHECK(detached == buffer);
  CHECK_EQ(detached_size, room);
  memset(buffer, 0xff, room);
  CHECK_OK(MPI_Recv(&two, 1, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(two, left);
  CHECK_CLASS(MPI_Buffer_detach(&detached, &detached_size), MPI_ERR_BUFFER);

  /* As the standard has it users reckon with MPI_BSEND_OVERHEAD, but room for the data alone is enough, and a
   * byte for each empty message. */
  const int tight = packed + 2;
  CHECK_OK(MPI_Buffer_attach(buffer, tight));
  for (int i = 0; i < 50000; ++i) data[i] = rank + i;
  CHECK_OK(MPI_Bsend(data, 50000, MPI_INT, right, 8, MPI_COMM_WORLD));
  for (int message = 0; message < 2; ++message)
    CHECK_OK(MPI_Bsend(NULL, 0, MPI_INT, right, 9, MPI_COMM_WORLD));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int message = 0; message < 2; ++message)
    CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Recv(in, 50000, MPI_INT, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(in[49999], left + 49999);
  CHECK_OK(MPI_Buffer_detach(&detached, &detached_size));
  CHECK_EQ(detached_size, tight);
  free(buffer);
  MPI_Finalize();
  return check_result();
}
