/* Correct programs about which --check has nothing to say, although their buffers look as if they overlapped
 * or were written too early, their ranks as if they did not agree, or their requests as if they were
 * forgotten. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <sys/mman.h>
#include <unistd.h>

#include "corpus.h"

static int matrix[8][8], data[64], other[64];

static void expect(int condition) {
  if (condition) return;
  fprintf(stderr, "rank %d: something else was received than sent\n", rank);
  exit(98);
}

static void fill(void) {
  for (int i = 0; i < 64; ++i) data[i] = 100 * rank + i, other[i] = -1;
}

/* CASE columns
 * options: --check */
static void columns(void) {
  MPI_Datatype column;
  MPI_Request requests[16];
  fill();
  MPI_Type_vector(8, 1, 8, MPI_INT, &column);
  MPI_Type_commit(&column);
  for (int i = 0; i < 8; ++i) {
    MPI_Irecv(&matrix[0][i], 1, column, 1 - rank, i, MPI_COMM_WORLD, &requests[2 * i]);
    MPI_Isend(data, 8, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &requests[2 * i + 1]);
  }
  MPI_Waitall(16, requests, MPI_STATUSES_IGNORE);
  expect(matrix[3][5] == 100 * (1 - rank) + 3);
  MPI_Type_free(&column);
}

/* CASE one-buffer-after-the-other
 * options: --check */
static void one_buffer_after_the_other(void) {
  MPI_Request requests[2];
  fill();
  for (int i = 0; i < 5; ++i) {
    MPI_Irecv(other, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(other + 4, 4, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]);
    for (int tag = 0; tag < 2; ++tag) MPI_Send(data, 4, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Irecv(other, 8, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* CASE nobody-sends
 * options: --check */
static void nobody_sends(void) {
  MPI_Request requests[3];
  MPI_Irecv(other, 4, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(other, 4, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Irecv(other, 0, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Sendrecv(other, 0, MPI_INT, rank, 0, other, 4, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

/* CASE no-elements
 * options: --check=error */
static void no_elements(void) {
  void* const none = rank == 0 ? NULL : data;
  MPI_Reduce_scatter_block(none, rank == 0 ? NULL : other, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* CASE in-place
 * ranks: 3
 * options: --check */
static void in_place(void) {
  const int counts[3] = {1, 2, 0}, places[3] = {4, 1, 0};
  int all[6] = {0}, sums[6];
  MPI_Request requests[6];
  fill();
  for (int i = 0; i < 6; ++i) sums[i] = rank + i;
  for (int i = 0; i < counts[rank]; ++i) all[places[rank] + i] = rank;
  MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, MPI_COMM_WORLD,
                  &requests[0]);
  MPI_Ireduce_scatter(MPI_IN_PLACE, sums, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 2, MPI_INT, MPI_COMM_WORLD, &requests[2]);
  MPI_Iscan(MPI_IN_PLACE, data + 8, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[3]);
  MPI_Iexscan(MPI_IN_PLACE, data + 16, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[4]);
  MPI_Igather(rank == 1 ? MPI_IN_PLACE : other, 1, MPI_INT, data + 32, 1, MPI_INT, 1, MPI_COMM_WORLD,
              &requests[5]);
  all[0] = 7; /* belongs to nobody */
  MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
  expect(all[0] == 7 && all[1] == 1 && all[2] == 1 && all[4] == 0);
  if (rank == 0) expect(sums[0] == 3);
  if (rank == 1) expect(sums[0] == 6 && sums[1] == 9);
  expect(data[0] == 2 * rank && data[4] == 200 + 2 * rank);
  expect(data[8] == 100 * (rank * (rank + 1) / 2) + 8 * (rank + 1));
  if (rank > 0) expect(data[16] == 100 * (rank - 1) + 16);
  if (rank == 0) expect(data[16] == 16);
  if (rank == 1) expect(data[32] == -1 && data[33] == 133 && data[34] == -1);
}

/* CASE between-the-blocks
 * ranks: 3
 * options: --check */
static void between_the_blocks(void) {
  const int counts[3] = {1, 1, 1}, places[3] = {9, 0, 5};
  MPI_Datatype every_second;
  MPI_Request requests[2];
  fill();
  MPI_Type_vector(2, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  MPI_Iallgatherv(data, 1, MPI_INT, other, counts, places, MPI_INT, MPI_COMM_WORLD, &requests[0]);
  MPI_Ibcast(data + 8, 1, every_second, 1, MPI_COMM_WORLD, &requests[1]);
  other[1] = data[9] = data[11] = 77;
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  expect(other[9] == 0 && other[0] == 100 && other[5] == 200 && other[1] == 77 && other[2] == -1);
  expect(data[8] == 108 && data[9] == 77 && data[10] == 110 && data[11] == 77);
  MPI_Type_free(&every_second);
}

/* CASE absolute-addresses
 * options: --check */
static void absolute_addresses(void) {
  static char far[1 << 21];
  const int lengths[2] = {4, 4};
  MPI_Aint places[2];
  MPI_Datatype parts;
  MPI_Request request;
  MPI_Get_address(far, &places[0]);
  MPI_Get_address(far + sizeof far - 16, &places[1]);
  MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &parts);
  MPI_Type_commit(&parts);
  if (rank == 0) far[0] = 1, far[sizeof far - 1] = 2;
  for (int i = 0; i < 2; ++i) {
    MPI_Ibcast(MPI_BOTTOM, 1, parts, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(far[0] == 1 && far[sizeof far - 1] == 2);
  }
  MPI_Type_free(&parts);
}

/* CASE persistent-collectives
 * ranks: 3
 * options: --check */
static void persistent_collectives(void) {
  MPI_Request requests[2];
  MPI_Allreduce_init(data, other, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Bcast_init(data + 8, 2, MPI_INT, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* before the first start */
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 64; ++k) data[k] = rank + i, other[k] = -1;
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect(other[3] == 3 * i + 3 && other[4] == -1 && data[8] == 2 + i && data[10] == rank + i);
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
}

/* CASE neighbours
 * ranks: 4
 * options: --check */
static void neighbours(void) {
  const int dims[2] = {2, 2}, periods[2] = {rank == 0 ? 5 : 1, 0}; /* 5 is as true as 1 */
  const int counts[4] = {1, 2, 3, 4}, turned[4] = {2, 1, 4, 3}, places[4] = {0, 10, 20, 30};
  const int before = (rank + 3) % 4, twice[2] = {(rank + 1) % 4, (rank + 1) % 4}, from[2] = {before, before};
  MPI_Comm grid, graph;
  MPI_Request request;
  fill();
  /* Up and down lead to the same rank, which gets two blocks; there is none to the left or to the right of
   * all. */
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Neighbor_alltoallv(data, counts, places, MPI_INT, other, turned, places, MPI_INT, grid);
  expect(other[0] == 100 * (rank ^ 2) + 10 && other[1] == 100 * (rank ^ 2) + 11 && other[2] == -1);
  expect(other[10] == 100 * (rank ^ 2));
  MPI_Ineighbor_allgather(data, 3, MPI_INT, other, 3, MPI_INT, grid, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(other[0] == 100 * (rank ^ 2) && other[5] == 100 * (rank ^ 2) + 2);
  MPI_Comm_free(&grid);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2, twice, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &graph);
  MPI_Neighbor_alltoallv(data, counts, places, MPI_INT, other, counts, places, MPI_INT, graph);
  expect(other[0] == 100 * before && other[11] == 100 * before + 11);
  MPI_Comm_free(&graph);
}

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}
static void most(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i)
    if (((int*)in)[i] > ((int*)inout)[i]) ((int*)inout)[i] = ((int*)in)[i];
}

/* CASE own-operations
 * options: --check */
static void own_operations(void) {
  MPI_Op sum, largest;
  int result;
  if (rank == 0) MPI_Op_create(add, 1, &sum);
  MPI_Op_create(most, 1, &largest);
  if (rank == 1) MPI_Op_create(add, 1, &sum);
  MPI_Allreduce(&rank, &result, 1, MPI_INT, sum, MPI_COMM_WORLD);
  expect(result == 1);
  MPI_Reduce(&rank, &result, 1, MPI_INT, largest, 1, MPI_COMM_WORLD);
  expect(result == 1);
  MPI_Op_free(&sum);
  MPI_Op_free(&largest);
}

/* CASE attached-and-filled
 * options: --check */
static void attached_and_filled(void) {
  static char attached[3 * kLarge];
  static char large[kLarge];
  void* had;
  int bytes;
  for (int i = 0; i < 2; ++i) {
    MPI_Buffer_attach(attached, sizeof attached);
    memset(attached, i, sizeof attached); /* no message was sent */
    MPI_Bsend(large, kLarge, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Bsend(data, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
    MPI_Recv(large, kLarge, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(other, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&had, &bytes);
    expect(had == attached && bytes == (int)sizeof attached);
    memset(attached, 9, sizeof attached);
  }
}

/* CASE partitions-of-other-sizes
 * options: --check */
static void partitions_of_other_sizes(void) {
  MPI_Request request;
  fill();
  if (rank == 0)
    MPI_Psend_init(data, 4, 2, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  else
    MPI_Precv_init(other, 2, 4, MPI_INT32_T, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 0; i < 3; ++i) {
    MPI_Start(&request);
    for (int k = 3; k >= 0 && rank == 0; --k) {
      data[2 * k] = i;
      MPI_Pready(k, request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1) expect(other[6] == i && other[7] == 7);
  }
  MPI_Request_free(&request);
}

/* CASE never-waited-for
 * options: --check */
static void never_waited_for(void) {
  MPI_Request request;
  MPI_Send_init(data, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
}

/* The last `bytes` of a mapping. */
static char* before_unmapped(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* room = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(room + page, page);
  return room + page - bytes;
}

/* CASE count-of-more-than-the-array
 * options: --check */
/* The messages fit into the array. */
static void count_of_more_than_the_array(void) {
  char* const array = before_unmapped(16);
  const int counts[2] = {1000, INT_MAX};
  MPI_Datatype every_second;
  MPI_Request request;
  MPI_Type_vector(1000, 1, 2, MPI_CHAR, &every_second);
  MPI_Type_commit(&every_second);
  fill();
  for (int i = 0; i < 2; ++i) {
    for (int call = 0; call < 4; ++call) MPI_Send(data, 16, MPI_CHAR, rank, call, MPI_COMM_WORLD);
    MPI_Send(data, 8, MPI_CHAR, rank, 4, MPI_COMM_WORLD);
    MPI_Recv(array, counts[i], MPI_CHAR, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(array, counts[i], MPI_CHAR, rank, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv_init(array, counts[i], MPI_CHAR, rank, 2, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    MPI_Isendrecv(NULL, 0, MPI_CHAR, rank, 9, array, counts[i], MPI_CHAR, rank, 3, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(NULL, 0, MPI_CHAR, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(memcmp(array, data, 16) == 0);
    MPI_Irecv(array, 1, every_second, rank, 4, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(array[14] == ((char*)data)[7]);
  }
  MPI_Type_free(&every_second);
}

/* CASE written-behind-the-message
 * options: --check */
static void written_behind_the_message(void) {
  MPI_Request requests[2];
  MPI_Irecv(other, 64, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(&matrix[0][0], 64, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Start(&requests[1]);
  for (int i = 32; i < 64; ++i) other[i] = matrix[i / 8][i % 8] = i;
  for (int tag = 0; tag < 2; ++tag) MPI_Send(data, 32, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[1]);
}

/* CASE parents-communicator
 * options: --check=error
 * modes: fibers threads processes per2 */
/* The child keeps the communicator that it has not made. */
static void parents_communicator(void) {
  char* arguments[] = {"parents-communicator", NULL};
  MPI_Comm parent, children;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    MPI_Barrier(parent);
    return;
  }
  MPI_Comm_spawn(program_invocation_name, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                 MPI_ERRCODES_IGNORE);
  MPI_Barrier(children);
  MPI_Comm_free(&children);
}

int main(int argc, char** argv) {
  static const struct Case cases[] = {
      {"columns", columns},
      {"one-buffer-after-the-other", one_buffer_after_the_other},
      {"nobody-sends", nobody_sends},
      {"no-elements", no_elements},
      {"in-place", in_place},
      {"between-the-blocks", between_the_blocks},
      {"absolute-addresses", absolute_addresses},
      {"persistent-collectives", persistent_collectives},
      {"neighbours", neighbours},
      {"own-operations", own_operations},
      {"attached-and-filled", attached_and_filled},
      {"partitions-of-other-sizes", partitions_of_other_sizes},
      {"never-waited-for", never_waited_for},
      {"count-of-more-than-the-array", count_of_more_than_the_array},
      {"written-behind-the-message", written_behind_the_message},
      {"parents-communicator", parents_communicator},
      {NULL, NULL},
  };
  return run_case(argc, argv, cases, NULL);
}
