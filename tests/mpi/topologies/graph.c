/* Graph communicators: what was given comes back, who is left out, wrong arguments (MPI-5.0 sections 8.5.3
   and 8.5.5). */
#include "check.h"

static int size, rank;

/* A ring with a loop at every node and the edge to the right twice. */
static void make_ring(int nodes, int* index, int* edges) {
  for (int node = 0; node < nodes; ++node) {
    int* own = edges + 5 * node;
    const int right = (node + 1) % nodes, left = (node + nodes - 1) % nodes;
    own[0] = right;
    own[1] = left;
    own[2] = node;
    own[3] = right;
    own[4] = left;
    index[node] = 5 * (node + 1);
  }
}

static void compare(MPI_Comm graph, int nodes, const int* index, const int* edges) {
  int status = -1, n = -1, m = -1;
  CHECK_OK(MPI_Topo_test(graph, &status));
  CHECK_EQ(status, MPI_GRAPH);
  CHECK_OK(MPI_Comm_size(graph, &n));
  CHECK_EQ(n, nodes);
  CHECK_OK(MPI_Graphdims_get(graph, &n, &m));
  CHECK_EQ(n, nodes);
  CHECK_EQ(m, index[nodes - 1]);

  int* got = malloc((size_t)(n + m) * sizeof(int));
  CHECK_OK(MPI_Graph_get(graph, n, m, got, got + n));
  for (int i = 0; i < n; ++i) CHECK_EQ(got[i], index[i]);
  for (int i = 0; i < m; ++i) CHECK_EQ(got[n + i], edges[i]);
  for (int node = 0; node < nodes; ++node) {
    const int first = node == 0 ? 0 : index[node - 1];
    int count = -1;
    CHECK_OK(MPI_Graph_neighbors_count(graph, node, &count));
    CHECK_EQ(count, index[node] - first);
    CHECK_OK(MPI_Graph_neighbors(graph, node, count, got));
    for (int i = 0; i < count; ++i) CHECK_EQ(got[i], edges[first + i]);
  }
  free(got);
}

static void ring(void) {
  int *index = malloc((size_t)size * sizeof(int)), *edges = malloc((size_t)size * 5 * sizeof(int));
  for (int nodes = 1; nodes <= size; nodes += nodes < 3 ? 1 : size - nodes > 0 ? size - nodes : 1) {
    MPI_Comm graph, copy;
    int place = -7;
    make_ring(nodes, index, edges);
    for (int reorder = 0; reorder < 2; ++reorder) {
      CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, reorder, &graph));
      if (reorder == 0) CHECK_EQ(graph != MPI_COMM_NULL, rank < nodes);
      if (graph == MPI_COMM_NULL) continue;
      compare(graph, nodes, index, edges);
      CHECK_OK(MPI_Comm_dup(graph, &copy));
      CHECK_OK(MPI_Comm_free(&graph));
      compare(copy, nodes, index, edges);
      CHECK_OK(MPI_Comm_free(&copy));
    }
    CHECK_OK(MPI_Graph_map(MPI_COMM_WORLD, nodes, index, edges, &place));
    CHECK(place == MPI_UNDEFINED || (place >= 0 && place < nodes));
    int placed = place != MPI_UNDEFINED, all = 0;
    CHECK_OK(MPI_Allreduce(&placed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(all, nodes);
  }
  free(index);
  free(edges);
}

/* Nodes without edges, and no nodes at all. */
static void empty(void) {
  int* index = calloc((size_t)size, sizeof(int));
  int nodes = -1, edges = -1, count = -1;
  MPI_Comm graph;
  CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, NULL, 0, &graph));
  CHECK_OK(MPI_Graphdims_get(graph, &nodes, &edges));
  CHECK(nodes == size && edges == 0);
  CHECK_OK(MPI_Graph_neighbors_count(graph, rank, &count));
  CHECK_EQ(count, 0);
  CHECK_OK(MPI_Graph_neighbors(graph, rank, 0, NULL));
  CHECK_OK(MPI_Comm_free(&graph));
  CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &graph));
  CHECK_EQ(graph, MPI_COMM_NULL);
  free(index);
}

static void wrong_arguments(void) {
  MPI_Comm made = MPI_COMM_NULL, graph;
  int* index = malloc((size_t)(size + 1) * sizeof(int));
  int edge = 0, value = -1, more = -1;
  for (int i = 0; i <= size; ++i) index[i] = 1;
  CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, size + 1, index, &edge, 0, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, -1, index, &edge, 0, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, size, NULL, &edge, 0, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, size, index, NULL, 0, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_create(MPI_COMM_NULL, size, index, &edge, 0, &made), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Graph_map(MPI_COMM_WORLD, size + 1, index, &edge, &value), MPI_ERR_ARG);
  edge = size;
  CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, size, index, &edge, 0, &made), MPI_ERR_ARG);
  edge = 0;
  index[0] = -1;
  CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, size, index, &edge, 0, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graphdims_get(MPI_COMM_WORLD, &value, &more), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Graph_neighbors_count(MPI_COMM_WORLD, 0, &value), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Graph_neighbors(MPI_COMM_WORLD, 0, 1, &value), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Graph_get(MPI_COMM_WORLD, 1, 1, &value, &more), MPI_ERR_TOPOLOGY);

  index[0] = 1;
  CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, &edge, 0, &graph));
  CHECK_CLASS(MPI_Cartdim_get(graph, &value), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Graph_neighbors_count(graph, size, &value), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Graph_neighbors(graph, -1, 1, &value), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Graph_neighbors(graph, 0, 0, &value), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_get(graph, size - 1, 1, index, &edge), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_get(graph, size, 0, index, &edge), MPI_ERR_ARG);
  CHECK_OK(MPI_Comm_free(&graph));
  free(index);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  ring();
  empty();
  wrong_arguments();
  MPI_Finalize();
  return check_result();
}
