/* The ring of Rabenseifner 2003 (000), section 3.3: nodes stand in a ring, and the ranks with the same place
 * on their nodes send to the next node and receive from the one before. One to all ranks of each node
 * communicate, while the others wait in a barrier. With pure MPI each rank also exchanges a message of the
 * same size with its neighbours on its node. */
#include "lab.h"

static long per_node = 0, least = 1024, most = 4L << 20;
static double seconds = 0.05;
static const struct LabOption kOptions[] = {
    {"per-node", "ranks that make up a node; 0: those that share memory", &per_node, NULL, NULL},
    {"least", "bytes that a node sends, from here", &least, NULL, NULL},
    {"most", "to here, four times as many each time", &most, NULL, NULL},
    {"seconds", "how long each measurement takes", NULL, &seconds, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static struct LabNodes nodes;
static char *send_across, *receive_across, *send_here, *receive_here;

struct Case {
  int active;         /* ranks of each node that communicate */
  int across, inside; /* whether between nodes, and within them */
  int bytes;          /* of a message */
};

/* Both neighbours of a ring of two are the same rank; the standard's order of messages keeps them apart. */
static void exchange(MPI_Comm ring, int size, int place, char* to, char* from, int bytes) {
  MPI_Sendrecv(to, bytes, MPI_CHAR, (place + 1) % size, 0, from, bytes, MPI_CHAR, (place + size - 1) % size,
               0, ring, MPI_STATUS_IGNORE);
}

static void step(void* given) {
  const struct Case* what = given;
  if (nodes.place >= what->active) return;
  if (what->across) exchange(nodes.across, nodes.nodes, nodes.node, send_across, receive_across, what->bytes);
  if (what->inside) exchange(nodes.here, nodes.per_node, nodes.place, send_here, receive_here, what->bytes);
}

/* Seconds of a step. The idle ranks wait in a barrier, as the paper's emulation of a master thread has it, so
 * the active ones decide together when a batch is long enough. */
static double time_of(struct Case* what, MPI_Comm active) {
  double result = 0;
  if (active != MPI_COMM_NULL) {
    step(what);
    for (long times = 1;; times *= 2) {
      MPI_Barrier(active);
      const double begin = MPI_Wtime();
      for (long i = 0; i < times; ++i) step(what);
      double took = MPI_Wtime() - begin, longest;
      MPI_Allreduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, active);
      result = longest / (double)times;
      if (longest >= seconds) break;
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(&result, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return result;
}

static void run(const char* pattern, int active, int across, int inside, long node_bytes) {
  struct Case what = {active, across, inside, (int)(node_bytes / active)};
  MPI_Comm together;
  MPI_Comm_split(MPI_COMM_WORLD, nodes.place < active ? 0 : MPI_UNDEFINED, lab_rank, &together);
  const double took = time_of(&what, together);
  if (together != MPI_COMM_NULL) MPI_Comm_free(&together);
  if (lab_rank == 0)
    printf(
        "{\"measure\": \"ring\", \"pattern\": \"%s\", \"active\": %d, \"per_node\": %d, \"nodes\": %d, "
        "\"node_bytes\": %ld, \"seconds\": %.6g}\n",
        pattern, active, nodes.per_node, nodes.nodes, node_bytes, took);
  fflush(stdout);
}

int main(int argc, char** argv) {
  lab_start(&argc, &argv, MPI_THREAD_SINGLE,
            "ring: bandwidth between nodes by how many of their ranks communicate", kOptions);
  if (per_node < 0 || least < 1 || most < least || most > 1L << 30)
    lab_fail("--per-node, --least or --most is out of range");
  if (per_node > 0 && lab_size % per_node != 0) lab_fail("--per-node does not divide the number of ranks");
  nodes = lab_nodes(per_node);
  if (nodes.nodes < 2) lab_fail("the ring needs two nodes: give --per-node, or start ranks on more hosts");
  send_across = lab_buffer((size_t)most);
  receive_across = lab_buffer((size_t)most);
  send_here = lab_buffer((size_t)most);
  receive_here = lab_buffer((size_t)most);
  for (long bytes = least; bytes <= most; bytes *= 4) {
    for (int active = 1; active <= nodes.per_node; ++active) run("across", active, 1, 0, bytes);
    if (nodes.per_node > 1) {
      run("inside", nodes.per_node, 0, 1, bytes);
      run("both", nodes.per_node, 1, 1, bytes);
    }
  }
  free(send_across);
  free(receive_across);
  free(send_here);
  free(receive_here);
  MPI_Comm_free(&nodes.here);
  MPI_Comm_free(&nodes.across);
  MPI_Finalize();
  return 0;
}
