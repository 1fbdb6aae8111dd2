/* Collective operations for mpiexec --check: check CASE. The broken ones have places that check_test.py knows
 * by the words in their comments: "1: case" is where rank 1 calls what others call at "0: case". For 4 ranks.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static int in[64], out[64], ones[4] = {1, 1, 1, 1}, places[4] = {0, 1, 2, 3};
static const MPI_Comm world = MPI_COMM_WORLD;

static void add(void* a, void* b, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) ((int*)b)[i] += ((int*)a)[i];
}

/* Broken. */

static void bcast_root(void) {
  if (rank != 1)
    MPI_Bcast(in, 4, MPI_INT, 0, world); /* 0: bcast_root */
  else
    MPI_Bcast(in, 4, MPI_INT, 1, world); /* 1: bcast_root */
}

static void bcast_amount(void) { MPI_Bcast(in, rank == 2 ? 5 : 4, MPI_INT, 0, world); /* 0: bcast_amount */ }

static void bcast_type(void) { MPI_Bcast(in, 4, rank == 3 ? MPI_FLOAT : MPI_INT, 0, world); }

static void bcast_bytes(void) {
  if (rank == 1)
    MPI_Bcast(in, 16, MPI_BYTE, 0, world);
  else
    MPI_Bcast(in, 4, MPI_INT, 0, world);
}

static void other_call(void) {
  if (rank == 1)
    MPI_Barrier(world); /* 1: other_call */
  else
    MPI_Bcast(in, 4, MPI_INT, 0, world); /* 0: other_call */
}

static void one_waits(void) {
  MPI_Request request;
  if (rank == 3) {
    MPI_Ibcast(in, 4, MPI_INT, 0, world, &request); /* 1: one_waits */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Bcast(in, 4, MPI_INT, 0, world); /* 0: one_waits */
  }
}

static void reduce_op(void) { MPI_Reduce(in, out, 4, MPI_INT, rank == 2 ? MPI_MAX : MPI_SUM, 0, world); }

static void reduce_root(void) { MPI_Reduce(in, out, 4, MPI_INT, MPI_SUM, rank == 0 ? 2 : 3, world); }

static void allreduce_amount(void) { MPI_Allreduce(in, out, rank == 3 ? 3 : 4, MPI_INT, MPI_SUM, world); }

static void allreduce_type(void) {
  MPI_Allreduce(in, out, 4, rank == 1 ? MPI_FLOAT : MPI_INT, MPI_SUM, world);
}

static void own_op(void) {
  MPI_Op op;
  MPI_Op_create(add, rank != 1, &op);
  MPI_Allreduce(in, out, 4, MPI_INT, op, world);
}

static void own_op_or_not(void) {
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  MPI_Allreduce(in, out, 4, MPI_INT, rank == 2 ? op : MPI_SUM, world);
}

static void allreduce_in_place(void) {
  MPI_Allreduce(rank == 0 ? MPI_IN_PLACE : in, out, 4, MPI_INT, MPI_SUM, world);
}

static void gather_amount(void) { MPI_Gather(in, rank == 2 ? 2 : 1, MPI_INT, out, 1, MPI_INT, 0, world); }

static void gatherv_block(void) {
  const int counts[4] = {1, 1, 1, 3};
  MPI_Gatherv(in, 1, MPI_INT, out, counts, places, MPI_INT, 1, world);
}

static void scatter_type(void) { MPI_Scatter(in, 2, MPI_INT, out, 1, MPI_DOUBLE, 3, world); }

static void scatterv_block(void) {
  const int counts[4] = {1, 0, 1, 1};
  MPI_Scatterv(in, counts, places, MPI_INT, out, 1, MPI_INT, 0, world);
}

static void allgather_own(void) { MPI_Allgather(in, rank == 0 ? 2 : 1, MPI_INT, out, 1, MPI_INT, world); }

static void allgatherv_block(void) {
  int counts[4] = {1, 1, 1, 1};
  if (rank == 3) counts[1] = 2;
  MPI_Allgatherv(in, 1, MPI_INT, out, counts, places, MPI_INT, world);
}

static void alltoall_amount(void) {
  const int count = rank == 1 ? 2 : 1;
  MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, world);
}

static void alltoallv_block(void) {
  int counts[4] = {1, 1, 1, 1};
  if (rank == 3) counts[2] = 4;
  MPI_Alltoallv(in, counts, places, MPI_INT, out, ones, places, MPI_INT, world);
}

static void alltoallw_type(void) {
  const int bytes[4] = {0, 4, 8, 12};
  const MPI_Datatype all[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
  MPI_Datatype mine[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
  if (rank == 0) mine[2] = MPI_FLOAT;
  MPI_Alltoallw(in, ones, bytes, mine, out, ones, bytes, all, world);
}

static void reduce_scatter_counts(void) {
  int counts[4] = {1, 1, 1, 1};
  if (rank == 2) counts[0] = 0, counts[1] = 2;
  MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, world);
}

static void scan_or_exscan(void) {
  if (rank == 0)
    MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, world);
  else
    MPI_Exscan(in, out, 1, MPI_INT, MPI_SUM, world);
}

static void one_leaves(void) {
  if (rank != 2) MPI_Barrier(world); /* 0: one_leaves */
}

static void dup_or_split(void) {
  MPI_Comm made;
  if (rank == 1)
    MPI_Comm_split(world, 0, 0, &made); /* 1: dup_or_split */
  else
    MPI_Comm_dup(world, &made); /* 0: dup_or_split */
}

static void ibcast_root(void) {
  MPI_Request requests[2];
  MPI_Ibarrier(world, &requests[0]);
  MPI_Ibcast(in, 4, MPI_INT, rank == 3, world, &requests[1]); /* 0: ibcast_root */
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void persistent_op(void) {
  MPI_Request request;
  MPI_Op op = rank == 1 ? MPI_MIN : MPI_MAX;
  MPI_Allreduce_init(in, out, 1, MPI_INT, op, world, MPI_INFO_NULL, &request); /* 0: persistent_op */
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void neighbours(void) {
  const int dims[1] = {4}, periods[1] = {1};
  MPI_Comm ring;
  MPI_Cart_create(world, 1, dims, periods, 0, &ring);
  if (rank == 2)
    MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, ring);
  else
    MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, ring);
}

/* Ranks 0 and 1, and ranks 2 and 3. */
static MPI_Comm between(void) {
  MPI_Comm half, both;
  MPI_Comm_split(world, rank / 2, 0, &half);
  MPI_Intercomm_create(half, 0, world, rank < 2 ? 2 : 0, 7, &both);
  MPI_Comm_free(&half);
  return both;
}

static int role(int root) {
  return rank / 2 == root / 2 ? rank == root ? MPI_ROOT : MPI_PROC_NULL : root % 2;
}

static void inter_root(void) { MPI_Bcast(in, 1, MPI_INT, rank == 3 ? 1 : role(0), between()); }

static void inter_amount(void) { MPI_Allgather(in, 1, MPI_INT, out, rank == 1 ? 2 : 1, MPI_INT, between()); }

static void turned(void) {
  MPI_Comm comm;
  MPI_Comm_split(world, 0, -rank, &comm);
  MPI_Bcast(in, rank == 0 ? 2 : 1, MPI_INT, 0, comm);
}

/* All ranks get the message, and go on. */
static void returned(void) {
  char text[MPI_MAX_ERROR_STRING];
  int length, class;
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  for (int i = 0; i < 3; ++i) {
    const int code = MPI_Bcast(in, 1, MPI_INT, i == 1 && rank == 3, world); /* 0: returned */
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    if ((class == MPI_SUCCESS) != (i != 1) || (i == 1 && class != MPI_ERR_ROOT)) printf("class %d\n", class);
    if (i == 1) printf("%s\n", text);
  }
  MPI_Allreduce(ones, out, 4, MPI_INT, MPI_SUM, world);
  if (out[3] != size) printf("%d\n", out[3]);
}

static void told(MPI_Comm* comm, int* code, ...) {
  int class;
  MPI_Error_class(*code, &class);
  printf("handler %d %d\n", *comm == world, class == MPI_ERR_OP);
  MPI_Finalize();
  exit(0);
}

static void handled(void) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(told, &handler);
  MPI_Comm_set_errhandler(world, handler);
  MPI_Errhandler_free(&handler);
  MPI_Reduce(in, out, 1, MPI_INT, rank == 0 ? MPI_SUM : MPI_PROD, 0, world);
}

/* Correct. */

static void derived(void) {
  MPI_Datatype four, two, swapped;
  MPI_Type_contiguous(4, MPI_INT, &four);
  MPI_Type_vector(2, 1, 3, MPI_INT, &two);
  MPI_Type_indexed(2, ones, places + 1, MPI_INT, &swapped);
  MPI_Type_commit(&four);
  MPI_Type_commit(&two);
  MPI_Type_commit(&swapped);
  const MPI_Datatype types[4] = {MPI_INT, four, two, swapped};
  const int counts[4] = {4, 1, 2, 2};
  MPI_Bcast(in, counts[rank], types[rank], 2, world);
  MPI_Gather(in, counts[rank], types[rank], out, 4, MPI_INT, 1, world);
  MPI_Allgather(in, counts[rank], types[rank], out, 1, four, world);
  MPI_Scatter(in, 1, four, out, counts[rank], types[rank], 3, world);
  MPI_Type_free(&four);
  MPI_Type_free(&two);
  MPI_Type_free(&swapped);
}

static void packed(void) {
  int place = 0;
  MPI_Pack(in, 4, MPI_INT, out, sizeof out, &place, world);
  MPI_Bcast(rank == 0 ? out : in, rank == 0 ? place : 4, rank == 0 ? MPI_PACKED : MPI_INT, 0, world);
}

static void zero_counts(void) {
  const int counts[4] = {1, 0, 2, 0}, displacements[4] = {0, 1, 1, 3};
  MPI_Gatherv(in, counts[rank], MPI_INT, out, counts, displacements, MPI_INT, 3, world);
  MPI_Scatterv(in, counts, displacements, MPI_INT, out, counts[rank], MPI_INT, 1, world);
  MPI_Allgatherv(in, counts[rank], counts[rank] ? MPI_INT : MPI_DOUBLE, out, counts, displacements, MPI_INT,
                 world);
  MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, world);
  MPI_Allreduce(in, out, 0, MPI_INT, MPI_SUM, world);
  MPI_Bcast(NULL, 0, rank ? MPI_INT : MPI_DOUBLE, 0, world);
}

static void in_place(void) {
  MPI_Gather(rank == 2 ? MPI_IN_PLACE : in, 1, MPI_INT, out, 1, MPI_INT, 2, world);
  MPI_Scatter(in, 1, MPI_INT, rank == 1 ? MPI_IN_PLACE : out, 1, MPI_INT, 1, world);
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : in, out, 2, MPI_INT, MPI_SUM, 0, world);
  MPI_Allreduce(MPI_IN_PLACE, out, 2, MPI_INT, MPI_SUM, world);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 1, MPI_INT, world);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 1, MPI_INT, world);
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, out, ones, places, MPI_INT, world);
  MPI_Scan(rank == 1 ? MPI_IN_PLACE : in, out, 1, MPI_INT, MPI_SUM, world);
}

static void uneven(void) {
  int from[4], to[4], steps[4] = {0, 8, 16, 24};
  for (int i = 0; i < 4; ++i) from[i] = rank + i == 3 ? 0 : rank, to[i] = rank + i == 3 ? 0 : i;
  MPI_Alltoallv(in, from, steps, MPI_INT, out, to, steps, MPI_INT, world);
}

static void nonblocking(void) {
  MPI_Request requests[5];
  for (int i = 0; i < 5; ++i) MPI_Ibcast(in + i, 1, MPI_INT, i % 4, world, &requests[i]);
  MPI_Barrier(world);
  MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
  MPI_Iallreduce(in, out, 4, MPI_INT, MPI_SUM, world, &requests[0]);
  /* What is not synchronised must not be. */
  if (rank == 0) MPI_Send(in, 1, MPI_INT, 1, 3, world);
  if (rank == 1) MPI_Recv(in, 1, MPI_INT, 0, 3, world, MPI_STATUS_IGNORE);
  MPI_Ialltoall(in, 1, MPI_INT, out + 8, 1, MPI_INT, world, &requests[1]);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void late(void) {
  MPI_Request request;
  if (rank == 1) MPI_Recv(in, 1, MPI_INT, 0, 3, world, MPI_STATUS_IGNORE);
  MPI_Ibcast(out, 4, MPI_INT, 0, world, &request);
  if (rank == 0) MPI_Send(in, 1, MPI_INT, 1, 3, world);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void persistent(void) {
  MPI_Request requests[2];
  MPI_Allreduce_init(in, out, 2, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &requests[0]);
  MPI_Bcast_init(in + 8, 2, MPI_INT, 1, world, MPI_INFO_NULL, &requests[1]);
  for (int i = 0; i < 4; ++i) {
    MPI_Startall(2, requests);
    MPI_Barrier(world);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void intercommunicators(void) {
  MPI_Comm both = between(), merged;
  const int count = rank < 2 ? 1 : 2, theirs = rank < 2 ? 2 : 1, counts[2] = {1 + rank / 2, 3 - rank / 2};
  for (int root = 0; root < 4; ++root) {
    MPI_Bcast(in, 1, MPI_INT, role(root), both);
    MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, role(root), both);
    MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, role(root), both);
    MPI_Reduce(in, out, 2, MPI_INT, MPI_SUM, role(root), both);
  }
  MPI_Allgather(in, count, MPI_INT, out, theirs, MPI_INT, both);
  MPI_Alltoall(in, count, MPI_INT, out, theirs, MPI_INT, both);
  MPI_Allreduce(in, out, 3, MPI_INT, MPI_SUM, both);
  MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, both);
  MPI_Barrier(both);
  MPI_Intercomm_merge(both, rank < 2, &merged);
  MPI_Bcast(in, 1, MPI_INT, 3, merged);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&both);
}

static void many_communicators(void) {
  MPI_Comm comms[12];
  for (int i = 0; i < 12; ++i)
    MPI_Comm_split(world, i % 3 == 0 ? rank % 2 : 0, i % 2 ? rank : -rank, &comms[i]);
  for (int i = 0; i < 12; ++i) MPI_Bcast(in, i, MPI_INT, i % 2, comms[i]);
  for (int i = 0; i < 12; ++i) MPI_Allreduce(in, out, i, MPI_INT, i % 3 ? MPI_SUM : MPI_MAX, comms[i]);
  for (int i = 0; i < 12; ++i) MPI_Comm_free(&comms[i]);
  MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static void* use(void* comm) {
  static _Thread_local int mine[8], theirs[8];
  for (int i = 0; i < 20; ++i) {
    MPI_Bcast(mine, 1 + i % 8, MPI_INT, i % 4, *(MPI_Comm*)comm);
    MPI_Allreduce(mine, theirs, 1 + i % 5, MPI_INT, MPI_SUM, *(MPI_Comm*)comm);
  }
  return NULL;
}

static void threads(void) {
  MPI_Comm comms[3];
  pthread_t others[3];
  for (int i = 0; i < 3; ++i) MPI_Comm_dup(world, &comms[i]);
  for (int i = 0; i < 3; ++i) pthread_create(&others[i], NULL, use, &comms[i]);
  for (int i = 0; i < 3; ++i) pthread_join(others[i], NULL);
  for (int i = 0; i < 3; ++i) MPI_Comm_free(&comms[i]);
}

static void topologies(void) {
  const int dims[1] = {4}, periods[1] = {0}, next[1] = {(rank + 1) % 4}, before[1] = {(rank + 3) % 4};
  MPI_Comm line, ring;
  MPI_Cart_create(world, 1, dims, periods, 0, &line);
  MPI_Dist_graph_create_adjacent(world, 1, before, MPI_UNWEIGHTED, 1, next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &ring);
  MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, line);
  MPI_Neighbor_allgather(in, 2, MPI_INT, out, 2, MPI_INT, ring);
  MPI_Comm_free(&line);
  MPI_Comm_free(&ring);
}

static void own_ops(void) {
  MPI_Op sum, other;
  MPI_Op_create(add, 1, &sum);
  MPI_Op_create(add, 0, &other);
  MPI_Allreduce(in, out, 4, MPI_INT, sum, world);
  MPI_Reduce(in, out, 4, MPI_INT, other, 1, world);
  MPI_Reduce_scatter_block(in, out, 2, MPI_INT, sum, world);
  MPI_Exscan(in, out, 2, MPI_INT, MPI_BAND, world);
  MPI_Op_free(&sum);
  MPI_Op_free(&other);
}

static void large_counts(void) {
  if (rank % 2)
    MPI_Bcast_c(in, 4, MPI_INT, 0, world);
  else
    MPI_Bcast(in, 4, MPI_INT, 0, world);
}

#define CASE(name) \
  { #name, name }
static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {
    CASE(bcast_root),
    CASE(bcast_amount),
    CASE(bcast_type),
    CASE(bcast_bytes),
    CASE(other_call),
    CASE(one_waits),
    CASE(reduce_op),
    CASE(reduce_root),
    CASE(allreduce_type),
    CASE(own_op),
    CASE(allreduce_amount),
    CASE(own_op_or_not),
    CASE(gather_amount),
    CASE(gatherv_block),
    CASE(allreduce_in_place),
    CASE(scatter_type),
    CASE(scatterv_block),
    CASE(allgather_own),
    CASE(allgatherv_block),
    CASE(alltoall_amount),
    CASE(alltoallw_type),
    CASE(scan_or_exscan),
    CASE(alltoallv_block),
    CASE(reduce_scatter_counts),
    CASE(one_leaves),
    CASE(dup_or_split),
    CASE(ibcast_root),
    CASE(persistent_op),
    CASE(neighbours),
    CASE(inter_root),
    CASE(inter_amount),
    CASE(turned),
    CASE(returned),
    CASE(handled),
    CASE(derived),
    CASE(packed),
    CASE(zero_counts),
    CASE(in_place),
    CASE(uneven),
    CASE(nonblocking),
    CASE(late),
    CASE(persistent),
    CASE(intercommunicators),
    CASE(many_communicators),
    CASE(threads),
    CASE(topologies),
    CASE(own_ops),
    CASE(large_counts),
};

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    if (argc == 2 && strcmp(cases[i].name, argv[1]) == 0) cases[i].run();
  MPI_Finalize(); /* 1: one_leaves */
  return 0;
}
