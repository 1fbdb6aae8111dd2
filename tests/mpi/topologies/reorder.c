/* Topologies whose ranks the library may number as it likes: everyone has a place, what is said of places is
   true of those who have them, and no more crosses from host to host than without (MPI-5.0 section 8.5). */
#include "check.h"

static int size, rank;
static int* host_of; /* by rank in MPI_COMM_WORLD */

static void find_hosts(void) {
  MPI_Comm host;
  int first = -1;
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host));
  CHECK_OK(MPI_Allreduce(&rank, &first, 1, MPI_INT, MPI_MIN, host));
  CHECK_OK(MPI_Comm_free(&host));
  host_of = malloc((size_t)size * sizeof(int));
  CHECK_OK(MPI_Allgather(&first, 1, MPI_INT, host_of, 1, MPI_INT, MPI_COMM_WORLD));
}

/* Who has each place of `comm`: ranks in MPI_COMM_WORLD, each once. */
static int* world_ranks(MPI_Comm comm) {
  int places;
  CHECK_OK(MPI_Comm_size(comm, &places));
  int* const who = malloc((size_t)places * sizeof(int));
  int* const times = calloc((size_t)size, sizeof(int));
  CHECK_OK(MPI_Allgather(&rank, 1, MPI_INT, who, 1, MPI_INT, comm));
  for (int place = 0; place < places; ++place) CHECK_EQ(++times[who[place]], 1);
  free(times);
  return who;
}

/* What of all links of the caller and the others crosses hosts. `who` is null: nobody is reordered. */
static long crossing(MPI_Comm comm, int place, int neighbours, const int* others, const int* weights,
                     const int* who) {
  long mine = 0, all = 0;
  for (int i = 0; i < neighbours; ++i) {
    if (others[i] == MPI_PROC_NULL) continue;
    const int here = who == NULL ? place : who[place], there = who == NULL ? others[i] : who[others[i]];
    if (host_of[here] != host_of[there]) mine += weights == NULL ? 1 : weights[i];
  }
  CHECK_OK(MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, comm));
  return all;
}

static void grid(int dimensions, const int* sizes, const int* periods) {
  MPI_Comm cart;
  int mapped = -7, place = -1, coords[4], upper[4];
  CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, dimensions, sizes, periods, &mapped));
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, dimensions, sizes, periods, 1, &cart));
  CHECK_EQ(cart == MPI_COMM_NULL, mapped == MPI_UNDEFINED);
  if (cart == MPI_COMM_NULL) return;
  CHECK_OK(MPI_Comm_rank(cart, &place));
  CHECK_EQ(place, mapped);
  CHECK_OK(MPI_Cart_coords(cart, place, dimensions, coords));
  for (int d = 0; d < dimensions; ++d) {
    int below, got = -1, moved[4];
    CHECK_OK(MPI_Cart_shift(cart, d, 1, &below, &upper[d]));
    CHECK_OK(
        MPI_Sendrecv(&place, 1, MPI_INT, upper[d], d, &got, 1, MPI_INT, below, d, cart, MPI_STATUS_IGNORE));
    CHECK_EQ(got, below == MPI_PROC_NULL ? -1 : below);
    if (upper[d] == MPI_PROC_NULL) continue;
    CHECK_OK(MPI_Cart_coords(cart, upper[d], dimensions, moved));
    CHECK_EQ(moved[d], (coords[d] + 1) % sizes[d]);
  }
  int* const who = world_ranks(cart);
  CHECK_EQ(who[place], rank);
  CHECK(crossing(cart, place, dimensions, upper, NULL, who) <=
        crossing(cart, place, dimensions, upper, NULL, NULL));
  free(who);
  CHECK_OK(MPI_Comm_free(&cart));
}

static void grids(void) {
  const int no[4] = {0, 0, 0, 0}, some[4] = {1, 0, 1, 0};
  for (int dimensions = 1; dimensions <= 4; ++dimensions)
    for (int unused = 0; unused < 2 && unused < size; ++unused) {
      int sizes[4] = {0, 0, 0, 0};
      CHECK_OK(MPI_Dims_create(size - unused, dimensions, sizes));
      grid(dimensions, sizes, no);
      grid(dimensions, sizes, some);
    }
}

/* Edges of a graph: everyone has a strong link to those whose number has the same rest, and a weak one to the
   next. Listed in falling order. */
static int edges_of(int node, int nodes, int* others, int* weights) {
  const int rest = nodes > 4 ? 3 : 2;
  int count = 0;
  for (int other = nodes - 1; other >= 0; --other) {
    const int next = other == (node + 1) % nodes || node == (other + 1) % nodes;
    if (other == node || (other % rest != node % rest && !next)) continue;
    others[count] = other;
    weights[count++] = next ? 1 : 10 + node + other;
  }
  return count;
}

/* The neighbours of `graph` are those of the graph above; `in_order`: in the same order, too. */
static void compare(MPI_Comm graph, int in_order) {
  int place, in = -1, out = -1, weighted = -1;
  int *others = malloc((size_t)size * sizeof(int)), *weights = malloc((size_t)size * sizeof(int));
  int* got = malloc(4 * (size_t)size * sizeof(int));
  int *sources = got, *from = got + size, *destinations = got + 2 * size, *to = got + 3 * size;
  CHECK_OK(MPI_Comm_rank(graph, &place));
  const int count = edges_of(place, size, others, weights);
  CHECK_OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
  CHECK_EQ(in, count);
  CHECK_EQ(out, count);
  CHECK_OK(MPI_Dist_graph_neighbors(graph, size, sources, from, size, destinations, to));
  for (int i = 0; i < count; ++i) {
    int at = i;
    if (!in_order)
      for (at = 0; at < count && sources[at] != others[i];) ++at;
    CHECK(at < count && sources[at] == others[i] && from[at] == weights[i]);
    CHECK(at < count && destinations[at] == others[i] && to[at] == weights[i]);
  }
  int *sent = malloc((size_t)size * sizeof(int)), *received = malloc((size_t)size * sizeof(int));
  for (int i = 0; i < count; ++i) sent[i] = place * size + destinations[i];
  CHECK_OK(MPI_Neighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, graph));
  for (int i = 0; i < count; ++i) CHECK_EQ(received[i], sources[i] * size + place);
  int* const who = world_ranks(graph);
  CHECK(crossing(graph, place, count, others, weights, who) <=
        crossing(graph, place, count, others, weights, NULL));
  free(who);
  free(sent);
  free(received);
  free(got);
  free(others);
  free(weights);
}

static void dist_graphs(void) {
  int *others = malloc((size_t)size * sizeof(int)), *weights = malloc((size_t)size * sizeof(int));
  const int count = edges_of(rank, size, others, weights);
  MPI_Comm graph;
  CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, count, others, weights, count, others, weights,
                                          MPI_INFO_NULL, 1, &graph));
  compare(graph, 1);
  CHECK_OK(MPI_Comm_free(&graph));
  CHECK_OK(
      MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &count, others, weights, MPI_INFO_NULL, 1, &graph));
  compare(graph, 0);
  CHECK_OK(MPI_Comm_free(&graph));
  /* All edges named by the last rank. */
  int *nodes = malloc((size_t)size * sizeof(int)), *degrees = malloc((size_t)size * sizeof(int));
  int* all = malloc(2 * (size_t)size * (size_t)size * sizeof(int));
  int *all_weights = all + size * size, edges = 0;
  for (int node = 0; node < size; ++node) {
    nodes[node] = node;
    degrees[node] = edges_of(node, size, all + edges, all_weights + edges);
    edges += degrees[node];
  }
  CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, rank == size - 1 ? size : 0, nodes, degrees, all,
                                 all_weights, MPI_INFO_NULL, 1, &graph));
  compare(graph, 0);
  CHECK_OK(MPI_Comm_free(&graph));
  free(nodes);
  free(degrees);
  free(all);
  free(others);
  free(weights);
}

static void graphs(void) {
  for (int nodes = size; nodes >= 1 && nodes >= size - 1; --nodes) {
    int *index = malloc((size_t)nodes * sizeof(int)), *edges = malloc((size_t)(nodes * nodes) * sizeof(int));
    int *weights = malloc((size_t)size * sizeof(int)), total = 0, place = -1, mapped = -7;
    for (int node = 0; node < nodes; ++node)
      index[node] = total += edges_of(node, nodes, edges + total, weights);
    MPI_Comm graph;
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, 1, &graph));
    CHECK_OK(MPI_Graph_map(MPI_COMM_WORLD, nodes, index, edges, &mapped));
    CHECK_EQ(graph == MPI_COMM_NULL, mapped == MPI_UNDEFINED);
    if (graph != MPI_COMM_NULL) {
      int got = -1;
      CHECK_OK(MPI_Comm_rank(graph, &place));
      CHECK_EQ(place, mapped);
      CHECK_OK(MPI_Graph_neighbors_count(graph, place, &got));
      const int first = place == 0 ? 0 : index[place - 1], count = index[place] - first;
      CHECK_EQ(got, count);
      int* const who = world_ranks(graph);
      CHECK(crossing(graph, place, count, edges + first, NULL, who) <=
            crossing(graph, place, count, edges + first, NULL, NULL));
      free(who);
      CHECK_OK(MPI_Comm_free(&graph));
    }
    free(index);
    free(edges);
    free(weights);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  find_hosts();
  grids();
  dist_graphs();
  graphs();
  free(host_of);
  MPI_Finalize();
  return check_result();
}
