/* Exchanges of pairs of ranks, as LU, MG and CG make them: 003, Table 1. All pairs exchange at the same time.
 * synchronous: one rank of a pair calls MPI_Send and MPI_Recv, the other one MPI_Recv and MPI_Send.
 * asynchronous: both call MPI_Irecv, MPI_Isend and MPI_Waitall. Pairs are across the nodes, of ranks that have
 * the same place on nodes 2k and 2k + 1, and inside a node, of its places 2k and 2k + 1. */
#include "lab.h"

static long per_node = 0, longest = 131072;
static double seconds = 0.05;
static const struct LabOption kOptions[] = {
    {"per-node", "ranks that follow each other and are a node; 0: those that share memory", &per_node, NULL, NULL},
    {"bytes", "of the longest message", &longest, NULL, NULL},
    {"seconds", "how long each measurement takes", NULL, &seconds, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

struct Exchange {
  int other, first, bytes; /* first: whether this rank of the pair sends first */
  char *send, *receive;
};

static void synchronous(void* argument) {
  const struct Exchange* pair = argument;
  if (pair->first) {
    MPI_Send(pair->send, pair->bytes, MPI_BYTE, pair->other, 0, MPI_COMM_WORLD);
    MPI_Recv(pair->receive, pair->bytes, MPI_BYTE, pair->other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(pair->receive, pair->bytes, MPI_BYTE, pair->other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(pair->send, pair->bytes, MPI_BYTE, pair->other, 0, MPI_COMM_WORLD);
  }
}

static void asynchronous(void* argument) {
  const struct Exchange* pair = argument;
  MPI_Request requests[2];
  MPI_Irecv(pair->receive, pair->bytes, MPI_BYTE, pair->other, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(pair->send, pair->bytes, MPI_BYTE, pair->other, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void measure(const char* where, int other, int first, const struct LabNodes* nodes, char* buffers) {
  for (long size = 8; size <= longest; size = size * 8 > longest && size < longest ? longest : size * 8) {
    struct Exchange pair = {other, first, (int)size, buffers, buffers + longest};
    for (int mode = 0; mode < 2; ++mode) {
      const double took = lab_time(seconds, mode == 0 ? synchronous : asynchronous, &pair);
      if (lab_rank == 0)
        printf(
            "{\"measure\": \"exchange\", \"where\": \"%s\", \"mode\": \"%s\", \"nodes\": %d, \"per_node\": %d, "
            "\"bytes\": %ld, \"seconds\": %.6g}\n",
            where, mode == 0 ? "synchronous" : "asynchronous", nodes->nodes, nodes->per_node, size, took);
      fflush(stdout);
    }
  }
}

/* The rank of MPI_COMM_WORLD that has this rank in `group`. */
static int rank_of(MPI_Comm group, int rank) {
  MPI_Group from, world;
  int found;
  MPI_Comm_group(group, &from);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(from, 1, &rank, world, &found);
  MPI_Group_free(&from);
  MPI_Group_free(&world);
  return found;
}

int main(int argc, char** argv) {
  lab_start(&argc, &argv, MPI_THREAD_SINGLE, "exchange: pairs of ranks across nodes and inside them", kOptions);
  if (longest < 8 || longest > 1L << 27) lab_fail("--bytes is 8 to 128 MB");
  if (per_node < 0 || (per_node > 0 && lab_size % per_node != 0))
    lab_fail("--per-node must divide the number of ranks");
  struct LabNodes nodes = lab_nodes(per_node);
  const int across = nodes.nodes > 1 && nodes.nodes % 2 == 0, inside = nodes.per_node > 1 && nodes.per_node % 2 == 0;
  if (!across && !inside) lab_fail("there are no pairs: start an even number of nodes, or of ranks on each");
  char* buffers = lab_buffer(2 * (size_t)longest);
  if (across) measure("across", rank_of(nodes.across, nodes.node ^ 1), nodes.node % 2 == 0, &nodes, buffers);
  if (inside) measure("inside", rank_of(nodes.here, nodes.place ^ 1), nodes.place % 2 == 0, &nodes, buffers);
  free(buffers);
  MPI_Comm_free(&nodes.here);
  MPI_Comm_free(&nodes.across);
  MPI_Finalize();
  return 0;
}
