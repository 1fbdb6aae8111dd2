/* Programs whose ranks do not agree about a topology, about what goes between neighbours or in partitions, or about
 * an operation of their own. What is expected has a line for itself,
 * however long. */
// clang-format off
#include "corpus.h"

static int data[16] = {1, 2, 3, 4}, other[16];
static float reals[16];

static MPI_Comm ring(void) {
  const int cyclic = 1;
  MPI_Comm made;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &cyclic, 0, &made);
  return made;
}

/* CASE types-of-neighbours
 * ranks: 3
 * options: --check
 * code: 3
 * says: MPI_Neighbor_allgather: rank 0 and rank 1 do not mean the same types of data
 * says:   rank 0: MPI_Neighbor_allgather(1 x MPI_INT to rank 1, 1 x MPI_INT from rank 1) at ...@a
 * says:   rank 1: MPI_Neighbor_allgather(1 x MPI_FLOAT to rank 0, 1 x MPI_FLOAT from rank 0) at ...@b */
static void types_of_neighbours(void) {
  MPI_Comm comm = ring();
  if (rank != 1)
    MPI_Neighbor_allgather(data, 1, MPI_INT, other, 1, MPI_INT, comm); /* @a */
  else
    MPI_Neighbor_allgather(reals, 1, MPI_FLOAT, reals + 4, 1, MPI_FLOAT, comm); /* @b */
  MPI_Comm_free(&comm);
}

/* CASE amounts-of-neighbours
 * options: --check
 * code: 15
 * says: MPI_Wait: rank 0 and rank 1 do not mean the same amount of data
 * says:   rank 0: MPI_Ineighbor_alltoall(2 x MPI_INT and 1 more block to rank 1, 1 x MPI_INT and 1 more block from rank 1) at ...@a */
static void amounts_of_neighbours(void) {
  MPI_Comm comm = ring();
  MPI_Request request;
  MPI_Ineighbor_alltoall(data, rank == 0 ? 2 : 1, MPI_INT, other, 1, MPI_INT, comm, &request); /* @a */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm);
}

/* CASE result-of-neighbours
 * options: --check
 * code: 1
 * says: MPI_Wait: the receive buffer has changed while it was MPI's
 * says:   1 x MPI_INT of MPI_Ineighbor_allgather were given to MPI_Ineighbor_allgather at ...@a */
static void result_of_neighbours(void) {
  MPI_Comm comm = ring();
  MPI_Request request;
  MPI_Ineighbor_allgather(data, 1, MPI_INT, other, 1, MPI_INT, comm, &request); /* @a */
  other[1] = 5;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm);
}

/* CASE dimensions
 * ranks: 4
 * options: --check
 * code: 13
 * says: MPI_Cart_create: rank 0 and rank 2 pass different arguments
 * says:   rank 0: MPI_Cart_create(dims 2 2, periods 0 0, reorder 0) at ...@a
 * says:   rank 2: MPI_Cart_create(dims 4 1, periods 0 0, reorder 0) at ...@a
 * says:   all ranks have to pass the same here [MPI_ERR_ARG] */
static void dimensions(void) {
  const int dims[] = {rank == 2 ? 4 : 2, rank == 2 ? 1 : 2}, periods[] = {0, 0};
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid); /* @a */
  MPI_Comm_free(&grid);
}

/* CASE remaining-dimensions
 * options: --check
 * code: 13
 * says: MPI_Cart_sub: rank 0 and rank 1 pass different arguments
 * says:   rank 1: MPI_Cart_sub(remain_dims 1) at ...@a */
static void remaining_dimensions(void) {
  const int remain = rank == 0 ? 0 : 7;
  MPI_Comm comm = ring(), part;
  MPI_Cart_sub(comm, &remain, &part); /* @a */
  MPI_Comm_free(&part);
  MPI_Comm_free(&comm);
}

/* CASE edges-of-a-graph
 * options: --check
 * code: 13
 * says: MPI_Graph_create: rank 0 and rank 1 pass different arguments
 * says:   rank 0: MPI_Graph_create(index 1 2, edges 1 0, reorder 0) at ...@a
 * says:   rank 1: MPI_Graph_create(index 1 2, edges 1 1, reorder 0) at ...@a */
static void edges_of_a_graph(void) {
  const int index[] = {1, 2}, edges[] = {1, rank == 0 ? 0 : 1};
  MPI_Comm graph;
  MPI_Graph_create(MPI_COMM_WORLD, 2, index, edges, 0, &graph); /* @a */
  MPI_Comm_free(&graph);
}

/* CASE edge-with-one-end
 * options: --check
 * code: 13
 * says: MPI_Dist_graph_create_adjacent: rank 0 and rank 1 do not name the same edges between them
 * says:   rank 0: MPI_Dist_graph_create_adjacent(1 to rank 1, 1 from rank 1, weights 0, reorder 0) at ...@a
 * says:   rank 1: MPI_Dist_graph_create_adjacent(0 to rank 0, 1 from rank 0, weights 0, reorder 0) at ...@a
 * says:   an edge is named twice: by its source as one that goes there, and by its destination as one that comes from there [MPI_ERR_ARG] */
static void edge_with_one_end(void) {
  const int peer = 1 - rank;
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &peer, MPI_UNWEIGHTED, 1 - rank, &peer, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph); /* @a */
  MPI_Comm_free(&graph);
}

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i]; /* @add */
}
static void multiply(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] *= ((int*)in)[i];
}

/* CASE own-operations
 * options: --check
 * code: 10
 * says: MPI_Allreduce: rank 0 and rank 1 combine with different operations
 * says:   rank 0: MPI_Allreduce(1 x MPI_INT, commutative operation of the program's at ...agreement.c:...) at ...@a
 * says:   all ranks have to pass the same operation [MPI_ERR_OP] */
static void own_operations(void) {
  MPI_Op op;
  MPI_Op_create(rank == 0 ? add : multiply, 1, &op);
  MPI_Allreduce(data, other, 1, MPI_INT, op, MPI_COMM_WORLD); /* @a */
  MPI_Op_free(&op);
}

/* CASE types-of-partitions
 * options: --check
 * code: 3
 * says: MPI_Wait: the partitioned receive does not take what it is sent
 * says:   sent: MPI_Psend_init(4 x MPI_INT in 2 partitions) at ...@a
 * says:   received: MPI_Precv_init(4 x MPI_FLOAT in 4 partitions) at ...@b
 * says:   the basic types have to be the same, in the same order ... [MPI_ERR_TYPE] */
static void types_of_partitions(void) {
  MPI_Request request;
  if (rank == 0) MPI_Psend_init(data, 2, 2, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);    /* @a */
  if (rank == 1) MPI_Precv_init(reals, 4, 1, MPI_FLOAT, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request); /* @b */
  MPI_Start(&request);
  if (rank == 0) MPI_Pready_range(0, 1, request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}

int main(int argc, char** argv) {
  static const struct Case cases[] = {
      {"types-of-neighbours", types_of_neighbours},
      {"amounts-of-neighbours", amounts_of_neighbours},
      {"result-of-neighbours", result_of_neighbours},
      {"dimensions", dimensions},
      {"remaining-dimensions", remaining_dimensions},
      {"edges-of-a-graph", edges_of_a_graph},
      {"edge-with-one-end", edge_with_one_end},
      {"own-operations", own_operations},
      {"types-of-partitions", types_of_partitions},
      {NULL, NULL},
  };
  return run_case(argc, argv, cases, NULL);
}
