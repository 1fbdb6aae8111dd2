/* What most other programs here leave out: the ranks write what they send and read what they get, in each
 * iteration, as programs do that compute. The time is that of all three. With two ranks what matters is in
 * whose cache the data is left. */
#include "measure.h"

enum { kLargest = 1 << 20 };

static double *out, *in; /* a block for each rank */

/* One rank sends, the next one receives; in turn. */
static void touched_send(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    const int source = i % size, destination = (i + 1) % size;
    if (rank == source) {
      write_all(out, bytes, i);
      MPI_Send(out, (int)bytes, MPI_BYTE, destination, 0, MPI_COMM_WORLD);
    } else if (rank == destination) {
      MPI_Recv(in, (int)bytes, MPI_BYTE, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      read_all(in, bytes);
    }
  }
}

static void touched_sendrecv(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    write_all(out, bytes, i);
    MPI_Sendrecv(out, (int)bytes, MPI_BYTE, (rank + 1) % size, 0, in, (int)bytes, MPI_BYTE,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    read_all(in, bytes);
  }
}

/* The same with requests, as most programs do it. */
static void touched_requests(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    MPI_Request requests[2];
    write_all(out, bytes, i);
    MPI_Irecv(in, (int)bytes, MPI_BYTE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, (int)bytes, MPI_BYTE, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    read_all(in, bytes);
  }
}

static void touched_bcast(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    if (rank == i % size) write_all(out, bytes, i);
    MPI_Bcast(out, (int)bytes, MPI_BYTE, i % size, MPI_COMM_WORLD);
    read_all(out, bytes);
  }
}

static void touched_allreduce(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    write_all(out, bytes, i);
    MPI_Allreduce(out, in, (int)(bytes / sizeof *out), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    read_all(in, bytes);
  }
}

static void touched_allgather(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    write_all(out, bytes, i);
    MPI_Allgather(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
    read_all(in, bytes * (size_t)size);
  }
}

static void touched_alltoall(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    write_all(out, bytes * (size_t)size, i);
    MPI_Alltoall(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
    read_all(in, bytes * (size_t)size);
  }
}

/* Begun and waited for at once: how much of it hides behind a computation is overlap.c's business. */
static void touched_ibcast(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    MPI_Request request;
    if (rank == i % size) write_all(out, bytes, i);
    MPI_Ibcast(out, (int)bytes, MPI_BYTE, i % size, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    read_all(out, bytes);
  }
}

static void touched_iallreduce(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    MPI_Request request;
    write_all(out, bytes, i);
    MPI_Iallreduce(out, in, (int)(bytes / sizeof *out), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    read_all(in, bytes);
  }
}

static void touched_ialltoall(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    MPI_Request request;
    write_all(out, bytes * (size_t)size, i);
    MPI_Ialltoall(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    read_all(in, bytes * (size_t)size);
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*batch)(int iterations, size_t bytes);
  } operations[] = {{"touched-send", touched_send},
                    {"touched-sendrecv", touched_sendrecv},
                    {"touched-requests", touched_requests},
                    {"touched-bcast", touched_bcast},
                    {"touched-allreduce", touched_allreduce},
                    {"touched-allgather", touched_allgather},
                    {"touched-alltoall", touched_alltoall},
                    {"touched-ibcast", touched_ibcast},
                    {"touched-iallreduce", touched_iallreduce},
                    {"touched-ialltoall", touched_ialltoall}};
  static const size_t sizes[] = {256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 128 << 10, kLargest};
  measure_init(&argc, &argv);
  out = new_buffer((size_t)kLargest * (size_t)size);
  in = new_buffer((size_t)kLargest * (size_t)size);
  for (size_t i = 0; i < sizeof operations / sizeof operations[0]; ++i)
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k)
      measure(operations[i].name, sizes[k], 1, operations[i].batch);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
