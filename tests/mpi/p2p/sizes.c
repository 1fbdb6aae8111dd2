/* Every size from 0 to 20000 bytes, in both directions at once, between pairs of ranks: all the ways that a
 * message can take, and the sizes around the limits between them. With an argument N, which is odd, every Nth. */
#include "check.h"
#include "pattern.h"

enum { kLargest = 20000, kWindow = 50 };
static unsigned char out[kLargest], in[kWindow][kLargest];

static void expect(int window, int size, int seed) {
  CHECK_EQ(pattern_differs(in[window], (size_t)size, seed), -1);
}

/* One at a time: the receive is posted before or after the message comes. */
static void exchange(int rank, int peer, int every) {
  for (int size = 0; size <= kLargest; size += every) {
    const int step = size % 4;
    pattern_fill(out, (size_t)size, rank + size);
    memset(in[0], 0x55, (size_t)size);
    MPI_Status status;
    MPI_Request request;
    if (step == 0) {
      MPI_Sendrecv(out, size, MPI_BYTE, peer, size, in[0], size, MPI_BYTE, peer, size, MPI_COMM_WORLD,
                   &status);
    } else if (step == 1) {
      MPI_Irecv(in[0], size, MPI_BYTE, peer, size, MPI_COMM_WORLD, &request);
      MPI_Send(out, size, MPI_BYTE, peer, size, MPI_COMM_WORLD);
      MPI_Wait(&request, &status);
    } else {
      MPI_Isend(out, size, MPI_BYTE, peer, size, MPI_COMM_WORLD, &request);
      MPI_Recv(in[0], kLargest, MPI_BYTE, step == 2 ? peer : MPI_ANY_SOURCE, size, MPI_COMM_WORLD, &status);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    int count;
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_EQ(count, size);
    CHECK_EQ(status.MPI_SOURCE, peer);
    expect(0, size, peer + size);
    if (check_failures > 20) return;
  }
}

/* Many in flight, of sizes that are mixed up: what was sent first is received first. */
static void windows(int rank, int peer) {
  static unsigned char outs[kWindow][kLargest];
  MPI_Request requests[2 * kWindow];
  for (int round = 0; round < 100; ++round) {
    for (int w = 0; w < kWindow; ++w)
      MPI_Irecv(in[w], kLargest, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[w]);
    for (int w = 0; w < kWindow; ++w) {
      const int size = (round * 7919 + w * 104729) % (w % 3 == 0 ? kLargest : 100);
      pattern_fill(outs[w], (size_t)size, rank + w);
      MPI_Isend(outs[w], size, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[kWindow + w]);
    }
    MPI_Status statuses[2 * kWindow];
    MPI_Waitall(2 * kWindow, requests, statuses);
    for (int w = 0; w < kWindow; ++w) {
      int count;
      MPI_Get_count(&statuses[w], MPI_BYTE, &count);
      CHECK_EQ(count, (round * 7919 + w * 104729) % (w % 3 == 0 ? kLargest : 100));
      expect(w, count, peer + w);
      CHECK_EQ(requests[w], MPI_REQUEST_NULL);
      CHECK_EQ(requests[kWindow + w], MPI_REQUEST_NULL);
    }
  }
}

/* More in one direction, to somebody who computes, than there is room for on the way. */
static void one_way(int sends, int peer) {
  enum { kMessages = 400 };
  for (int i = 0; i < kMessages && check_failures < 20; ++i) {
    const int size = 500 + i * 37 % 15000;
    if (sends) {
      pattern_fill(out, (size_t)size, i);
      MPI_Send(out, size, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
      continue;
    }
    if (i % 150 == 0)
      for (const double begin = MPI_Wtime(); MPI_Wtime() - begin < 0.002;) {
      }
    MPI_Recv(in[0], size, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(0, size, i);
  }
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int half = size / 2; /* the partner is at home in another worker when there are two */
  const int peer = rank < half ? rank + half : rank - half;
  exchange(rank, peer, argc > 1 ? atoi(argv[1]) : 1);
  windows(rank, peer);
  one_way(rank < peer, peer);
  one_way(rank > peer, peer);
  MPI_Finalize();
  return check_result();
}
