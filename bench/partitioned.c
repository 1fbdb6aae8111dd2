/* A message of 32 parts that become ready one after another, from rank 0 to rank 1 and back: as a partitioned
   operation; as 32 persistent operations that are started one by one; and as one message when all is ready.
   A part is BYTES long. The receiver looks at every part as it comes. */
#include "measure.h"

enum { PARTS = 32 };
static char* buffer;

static void touch(size_t bytes) {
  for (size_t i = 0; i < bytes; i += 64) ((volatile char*)buffer)[i] += 1;
}

static void partitioned(int iterations, size_t bytes) {
  const int peer = 1 - rank;
  MPI_Request send, receive;
  MPI_Psend_init(buffer, PARTS, (MPI_Count)bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
  MPI_Precv_init(buffer, PARTS, (MPI_Count)bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  for (int k = 0; k < 2 * iterations; ++k) {
    if (k % 2 == rank) {
      MPI_Start(&send);
      for (int i = 0; i < PARTS; ++i) {
        touch(bytes);
        MPI_Pready(i, send);
      }
      MPI_Wait(&send, MPI_STATUS_IGNORE);
    } else {
      MPI_Start(&receive);
      for (int i = 0; i < PARTS; ++i)
        for (int arrived = 0; !arrived;) MPI_Parrived(receive, i, &arrived);
      MPI_Wait(&receive, MPI_STATUS_IGNORE);
    }
  }
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
}

static void persistent(int iterations, size_t bytes) {
  const int peer = 1 - rank;
  MPI_Request sends[PARTS], receives[PARTS];
  for (int i = 0; i < PARTS; ++i) {
    MPI_Send_init(buffer + bytes * (size_t)i, (int)bytes, MPI_BYTE, peer, i, MPI_COMM_WORLD, &sends[i]);
    MPI_Recv_init(buffer + bytes * (size_t)i, (int)bytes, MPI_BYTE, peer, i, MPI_COMM_WORLD, &receives[i]);
  }
  for (int k = 0; k < 2 * iterations; ++k) {
    if (k % 2 == rank) {
      for (int i = 0; i < PARTS; ++i) {
        touch(bytes);
        MPI_Start(&sends[i]);
      }
      MPI_Waitall(PARTS, sends, MPI_STATUSES_IGNORE);
    } else {
      MPI_Startall(PARTS, receives);
      for (int i = 0; i < PARTS; ++i) MPI_Wait(&receives[i], MPI_STATUS_IGNORE);
    }
  }
  for (int i = 0; i < PARTS; ++i) {
    MPI_Request_free(&sends[i]);
    MPI_Request_free(&receives[i]);
  }
}

static void at_once(int iterations, size_t bytes) {
  const int peer = 1 - rank, length = (int)(PARTS * bytes);
  for (int k = 0; k < 2 * iterations; ++k) {
    if (k % 2 == rank) {
      for (int i = 0; i < PARTS; ++i) touch(bytes);
      MPI_Send(buffer, length, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    } else {
      MPI_Recv(buffer, length, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
}

int main(int argc, char** argv) {
  measure_init(&argc, &argv);
  const size_t sizes[] = {8, 1 << 10, 16 << 10, 256 << 10};
  buffer = new_buffer(PARTS * sizes[3]);
  for (int i = 0; i < 4; ++i) {
    measure("partitioned", sizes[i], 2, partitioned);
    measure("parts_persistent", sizes[i], 2, persistent);
    measure("parts_at_once", sizes[i], 2, at_once);
  }
  free(buffer);
  MPI_Finalize();
  return 0;
}
