/* Messages of 16 to 128 KB go through a staging buffer, or are copied once: above 32 KB, or where no buffer is
 * empty. There are enough of them for both, and for the changes in between. What must not depend on it: the bytes, the order,
 * and that a send of up to 32 KB ends without its receive. */
#include "check.h"
#include "pattern.h"

enum { kLargest = 128 << 10, kEager = 32 << 10, kTimes = 600, kWindow = 10 };
static unsigned char out[kWindow][kLargest], in[kWindow][kLargest];

/* Now and then all of it; otherwise what tells the messages apart. */
static void write_some(unsigned char* data, int size, int i) {
  if (i % 50 == 0) pattern_fill(data, (size_t)size, i);
  data[0] = data[size / 2] = data[size - 1] = (unsigned char)i;
}

static void expect(unsigned char* data, int size, int i) {
  CHECK_EQ(data[0], (unsigned char)i);
  CHECK_EQ(data[size / 2], (unsigned char)i);
  CHECK_EQ(data[size - 1], (unsigned char)i);
  if (i % 50 != 0) return;
  static unsigned char whole[kLargest];
  pattern_fill(whole, (size_t)size, i);
  whole[0] = whole[size / 2] = whole[size - 1] = (unsigned char)i;
  CHECK_EQ(memcmp(data, whole, (size_t)size), 0);
}

static void there_and_back(int first, int peer, int size) {
  for (int i = 0; i < kTimes && check_failures < 20; ++i) {
    if (first) {
      write_some(out[0], size, i);
      MPI_Send(out[0], size, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    }
    MPI_Recv(in[0], size, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(in[0], size, i);
    if (!first) MPI_Send(in[0], size, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
  }
}

static void both_at_once(int peer, int size) {
  for (int i = 0; i < kTimes && check_failures < 20; ++i) {
    write_some(out[0], size, i);
    MPI_Sendrecv(out[0], size, MPI_BYTE, peer, 1, in[0], size, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    expect(in[0], size, i);
  }
}

/* Ends only if sends end without their receives. */
static void both_send_first(int peer, int size) {
  for (int i = 0; i < kTimes && check_failures < 20; ++i) {
    write_some(out[0], size, i);
    MPI_Send(out[0], size, MPI_BYTE, peer, 2, MPI_COMM_WORLD);
    MPI_Recv(in[0], size, MPI_BYTE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(in[0], size, i);
  }
}

/* Several on their way, long and short with the same tag: they come in the order in which they were sent. */
static void in_order(int peer) {
  static const int sizes[] = {100, 20000, 8, kEager, 70000, 1000, kLargest, 17000, 4, 40000};
  MPI_Request requests[2 * kWindow];
  for (int i = 0; i < kTimes / 4 && check_failures < 20; ++i) {
    const int receives_first = i % 2;
    for (int turn = 0; turn < 2; ++turn)
      for (int w = 0; w < kWindow; ++w)
        if (turn == receives_first) {
          write_some(out[w], sizes[w], i + w);
          MPI_Isend(out[w], sizes[w], MPI_BYTE, peer, 3, MPI_COMM_WORLD, &requests[kWindow + w]);
        } else {
          MPI_Irecv(in[w], kLargest, MPI_BYTE, peer, 3, MPI_COMM_WORLD, &requests[w]);
        }
    MPI_Status statuses[2 * kWindow];
    MPI_Waitall(2 * kWindow, requests, statuses);
    for (int w = 0; w < kWindow; ++w) {
      int count;
      MPI_Get_count(&statuses[w], MPI_BYTE, &count);
      CHECK_EQ(count, sizes[w]);
      expect(in[w], sizes[w], i + w);
    }
  }
}

int main(int argc, char** argv) {
  static const int sizes[] = {16 * 1024 + 1, 20000, kEager, kEager + 1, 64 << 10, kLargest};
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int half = size / 2, peer = rank < half ? rank + half : rank - half;
  if (peer < 2 * half && rank < 2 * half) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
      there_and_back(rank < half, peer, sizes[i]);
      both_at_once(peer, sizes[i]);
      if (sizes[i] <= kEager) both_send_first(peer, sizes[i]);
    }
    in_order(peer);
  }
  MPI_Finalize();
  return check_result();
}
