/* Ranks that compute for uneven times between their messages, so that with fewer cores than ranks they are
 * run by one core after the other: messages of one sender on one communicator stay in order all the same,
 * whatever their sizes, and however they are sent and received. */
#include "check.h"

enum { kMessages = 600, kLongest = 6000, kComms = 3 };
static int rank, size;
static MPI_Comm comms[kComms];

static unsigned next_random(unsigned* state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static void compute(unsigned* state) {
  const unsigned x = next_random(state);
  if (x % 4 != 0) return;
  const double end = MPI_Wtime() + (x % 64 == 0 ? 2e-3 : 50e-6) * (double)(x % 7) / 7;
  while (MPI_Wtime() < end) {
  }
}

/* A message: who, on which communicator, the how manieth. */
struct Header {
  int source, comm, number;
};

static int length_of(int number) {
  static const int lengths[] = {12, 12, 40, 41, 64, 12, 500, 12, 4095, 4097, kLongest, 12};
  return lengths[number % 12];
}

static void check_one(const unsigned char* buffer, const MPI_Status* status, int comm, int* next) {
  struct Header header;
  int count;
  memcpy(&header, buffer, sizeof header);
  MPI_Get_count(status, MPI_BYTE, &count);
  CHECK_EQ(header.source, status->MPI_SOURCE);
  CHECK_EQ(header.comm, comm);
  CHECK_EQ(header.number, next[header.source]);
  CHECK_EQ(count, length_of(header.number));
  ++next[header.source];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int c = 0; c < kComms; ++c) MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
  unsigned random = (unsigned)rank * 77u + 5u;
  int* const next[kComms] = {calloc((size_t)size, sizeof(int)), calloc((size_t)size, sizeof(int)),
                             calloc((size_t)size, sizeof(int))};
  static unsigned char buffers[16][kLongest], in[kLongest];
  MPI_Request requests[16];
  for (int k = 0; k < 16; ++k) requests[k] = MPI_REQUEST_NULL;

  /* Each rank sends message i to the rank i places to its right, and receives that many: in order of arrival
   * on the first communicator, by name on the second, after a probe on the third. */
  int number[kComms] = {0};
  int* const sent = calloc((size_t)(size * kComms), sizeof(int));
  for (int i = 0; i < kMessages && check_failures < 20; ++i) {
    const int c = i % kComms, to = (rank + i / kComms) % size,
              from = (rank - i / kComms % size + size) % size;
    const int slot = i % 16;
    MPI_Wait(&requests[slot], MPI_STATUS_IGNORE);
    const struct Header header = {rank, c, sent[to * kComms + c]++};
    memcpy(buffers[slot], &header, sizeof header);
    const int length = length_of(header.number);
    if (i % 5 == 0 && length < 100)
      MPI_Send(buffers[slot], length, MPI_BYTE, to, c, comms[c]);
    else
      MPI_Isend(buffers[slot], length, MPI_BYTE, to, c, comms[c], &requests[slot]);
    compute(&random);
    MPI_Status status;
    if (c == 0) {
      MPI_Recv(in, kLongest, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[c], &status);
    } else if (c == 1) {
      MPI_Recv(in, kLongest, MPI_BYTE, from, c, comms[c], &status);
    } else {
      int flag = 0;
      while (!flag) MPI_Iprobe(from, MPI_ANY_TAG, comms[c], &flag, &status);
      MPI_Recv(in, kLongest, MPI_BYTE, from, c, comms[c], &status);
    }
    check_one(in, &status, c, next[c]);
    ++number[c];
    compute(&random);
  }
  MPI_Waitall(16, requests, MPI_STATUSES_IGNORE);
  for (int c = 0; c < kComms; ++c) {
    CHECK_EQ(number[c], kMessages / kComms);
    MPI_Comm_free(&comms[c]);
    free(next[c]);
  }
  free(sent);
  MPI_Finalize();
  return check_result();
}
