/* libclump_twostage.so: collectives in two stages, as a layer over the profiling interface (Smith and Bull,
 * 001, section 5). It is put before any MPI library, with LD_PRELOAD or at link time, and needs no change of
 * the program: allreduce, reduce, bcast, barrier and allgather first go through the ranks of a node, then
 * through one rank of each node.
 *
 * Nodes are the ranks that share memory, or, if LAB_PER_NODE says a number, that many ranks of the world that
 * follow each other. A communicator whose ranks are all on one node, or one on each, is left to the library;
 * so are operations that do not commute, and MPI_IN_PLACE where the stages would need another buffer. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

struct Stages {
  int useful;              /* 0: leave this communicator to the library */
  MPI_Comm here, leaders;  /* of my node; of the first ranks of nodes, MPI_COMM_NULL on others */
  int node, nodes, place;  /* which node is mine, how many there are, which rank of it I am */
  int *node_of, *place_of; /* of each rank of the communicator */
  int ordered;             /* whether the ranks of each node follow each other, and as many on each */
};

static int key = MPI_KEYVAL_INVALID;

/* How many communicators are worked on in stages: programs find it with dlsym() to say that this layer is
 * there. */
__attribute__((visibility("default"))) int clump_twostage_communicators = 0;

static int free_stages(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)extra;
  struct Stages* stages = value;
  /* At the end of MPI_COMM_WORLD communicators can no longer be freed by every library; the others have been
   * freed before. */
  int finalized = 0;
  PMPI_Finalized(&finalized);
  if (!finalized && stages->useful) {
    PMPI_Comm_free(&stages->here);
    if (stages->leaders != MPI_COMM_NULL) PMPI_Comm_free(&stages->leaders);
  }
  free(stages->node_of);
  free(stages->place_of);
  free(stages);
  return MPI_SUCCESS;
}

static void split_nodes(MPI_Comm comm, int rank, MPI_Comm* here) {
  const char* per_node = getenv("LAB_PER_NODE");
  if (per_node != NULL && atoi(per_node) > 0) {
    int mine;
    PMPI_Comm_rank(MPI_COMM_WORLD, &mine);
    PMPI_Comm_split(comm, mine / atoi(per_node), rank, here);
  } else {
    PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, here);
  }
}

/* Collective over comm, as the first operation on it is. */
static struct Stages* make_stages(MPI_Comm comm) {
  struct Stages* stages = calloc(1, sizeof *stages);
  int rank, size, here_size;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  split_nodes(comm, rank, &stages->here);
  PMPI_Comm_rank(stages->here, &stages->place);
  PMPI_Comm_size(stages->here, &here_size);
  PMPI_Comm_split(comm, stages->place == 0 ? 0 : MPI_UNDEFINED, rank, &stages->leaders);
  int about[3] = {0, 0, stages->place}; /* node, number of nodes, place */
  if (stages->place == 0) {
    PMPI_Comm_rank(stages->leaders, &about[0]);
    PMPI_Comm_size(stages->leaders, &about[1]);
  }
  PMPI_Bcast(about, 2, MPI_INT, 0, stages->here);
  stages->node = about[0];
  stages->nodes = about[1];
  int* all = malloc(3 * sizeof(int) * (size_t)size);
  PMPI_Allgather(about, 3, MPI_INT, all, 3, MPI_INT, comm);
  stages->node_of = malloc(sizeof(int) * (size_t)size);
  stages->place_of = malloc(sizeof(int) * (size_t)size);
  const int even = size / stages->nodes;
  stages->ordered = size % stages->nodes == 0;
  for (int i = 0; i < size; ++i) {
    stages->node_of[i] = all[3 * i];
    stages->place_of[i] = all[3 * i + 2];
    stages->ordered = stages->ordered && all[3 * i] == i / even && all[3 * i + 2] == i % even;
  }
  free(all);
  stages->useful = stages->nodes > 1 && stages->nodes < size;
  clump_twostage_communicators += stages->useful;
  if (!stages->useful) {
    PMPI_Comm_free(&stages->here);
    if (stages->leaders != MPI_COMM_NULL) PMPI_Comm_free(&stages->leaders);
  }
  return stages;
}

/* NULL: leave it to the library. */
static struct Stages* stages_of(MPI_Comm comm) {
  struct Stages* stages;
  int found, between = 0;
  if (comm == MPI_COMM_NULL) return NULL; /* whose error is the library's */
  if (key == MPI_KEYVAL_INVALID) PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_stages, &key, NULL);
  PMPI_Comm_get_attr(comm, key, &stages, &found);
  if (!found) {
    PMPI_Comm_test_inter(comm, &between);
    if (between) return NULL;
    stages = make_stages(comm);
    PMPI_Comm_set_attr(comm, key, stages);
  }
  return stages->useful ? stages : NULL;
}

static int commutes(MPI_Op op) {
  int answer = 0;
  return PMPI_Op_commutative(op, &answer) == MPI_SUCCESS && answer;
}

/* Room for a reduction's partial result: `count` elements, as MPI sees them from the returned address. */
static void* new_partial(int count, MPI_Datatype type, void** memory) {
  MPI_Aint low, extent, true_low, true_extent;
  PMPI_Type_get_extent(type, &low, &extent);
  PMPI_Type_get_true_extent(type, &true_low, &true_extent);
  *memory = malloc((size_t)(true_extent + extent * (count > 0 ? count - 1 : 0)) + 1);
  return (char*)*memory - true_low;
}

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  struct Stages* stages = commutes(op) ? stages_of(comm) : NULL;
  if (stages == NULL) return PMPI_Allreduce(send, receive, count, type, op, comm);
  const void* from = send == MPI_IN_PLACE ? (stages->place == 0 ? MPI_IN_PLACE : receive) : send;
  int code = PMPI_Reduce(from, receive, count, type, op, 0, stages->here);
  if (code == MPI_SUCCESS && stages->place == 0)
    code = PMPI_Allreduce(MPI_IN_PLACE, receive, count, type, op, stages->leaders);
  return code == MPI_SUCCESS ? PMPI_Bcast(receive, count, type, 0, stages->here) : code;
}

int MPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  struct Stages* stages = commutes(op) ? stages_of(comm) : NULL;
  int rank, size;
  if (stages == NULL) return PMPI_Reduce(send, receive, count, type, op, root, comm);
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  if (root < 0 || root >= size) return PMPI_Reduce(send, receive, count, type, op, root, comm);
  const int at_root = rank == root, lead = stages->place == 0;
  const int root_leads = stages->place_of[root] == 0, on_root_node = stages->node == stages->node_of[root];
  const void* from = send == MPI_IN_PLACE ? receive : send;
  void *memory = NULL, *partial = receive;
  if (lead && !at_root) partial = new_partial(count, type, &memory);
  if (lead && at_root && send == MPI_IN_PLACE) from = MPI_IN_PLACE;
  int code = PMPI_Reduce(from, partial, count, type, op, 0, stages->here);
  if (code == MPI_SUCCESS && lead)
    code = PMPI_Reduce(on_root_node ? MPI_IN_PLACE : partial, partial, count, type, op, stages->node_of[root],
                       stages->leaders);
  /* From the leader of the root's node to the root. */
  if (code == MPI_SUCCESS && !root_leads && on_root_node) {
    if (lead) code = PMPI_Send(partial, count, type, stages->place_of[root], 0, stages->here);
    if (at_root) code = PMPI_Recv(receive, count, type, 0, 0, stages->here, MPI_STATUS_IGNORE);
  }
  free(memory);
  return code;
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  struct Stages* stages = stages_of(comm);
  int rank, size;
  if (stages == NULL) return PMPI_Bcast(buffer, count, type, root, comm);
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  if (root < 0 || root >= size) return PMPI_Bcast(buffer, count, type, root, comm);
  int code = MPI_SUCCESS;
  if (stages->place_of[root] != 0 && stages->node == stages->node_of[root]) {
    if (rank == root) code = PMPI_Send(buffer, count, type, 0, 0, stages->here);
    if (stages->place == 0)
      code = PMPI_Recv(buffer, count, type, stages->place_of[root], 0, stages->here, MPI_STATUS_IGNORE);
  }
  if (code == MPI_SUCCESS && stages->place == 0)
    code = PMPI_Bcast(buffer, count, type, stages->node_of[root], stages->leaders);
  return code == MPI_SUCCESS ? PMPI_Bcast(buffer, count, type, 0, stages->here) : code;
}

int MPI_Barrier(MPI_Comm comm) {
  struct Stages* stages = stages_of(comm);
  if (stages == NULL) return PMPI_Barrier(comm);
  int code = PMPI_Barrier(stages->here);
  if (code == MPI_SUCCESS && stages->place == 0) code = PMPI_Barrier(stages->leaders);
  return code == MPI_SUCCESS ? PMPI_Barrier(stages->here) : code;
}

int MPI_Allgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                  MPI_Datatype type, MPI_Comm comm) {
  struct Stages* stages = stages_of(comm);
  if (stages == NULL || !stages->ordered)
    return PMPI_Allgather(send, send_count, send_type, receive, count, type, comm);
  MPI_Aint low, extent;
  int size, rank, here_size;
  PMPI_Type_get_extent(type, &low, &extent);
  PMPI_Comm_size(comm, &size);
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(stages->here, &here_size);
  char* own_node = (char*)receive + extent * count * (MPI_Aint)(stages->node * here_size);
  const void* from = send;
  if (send == MPI_IN_PLACE) { /* the leader has its block where it belongs, the others send it from there */
    from = stages->place == 0 ? MPI_IN_PLACE : (char*)receive + extent * count * (MPI_Aint)rank;
    send_count = count;
    send_type = type;
  }
  int code = PMPI_Gather(from, send_count, send_type, own_node, count, type, 0, stages->here);
  if (code == MPI_SUCCESS && stages->place == 0)
    code =
        PMPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, receive, count * here_size, type, stages->leaders);
  return code == MPI_SUCCESS ? PMPI_Bcast(receive, count * size, type, 0, stages->here) : code;
}
