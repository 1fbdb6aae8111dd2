/* Distributed graphs: random edges, given by those at their ends or by anybody, against all edges as every
   rank knows them; weights; graphs without edges; wrong arguments (MPI-5.0 section 8.5.4). */
#include "../../seed_of_ranks.h"
#include "check.h"

static int size, rank;
static unsigned state;

/* The same numbers on all ranks. */
static int random_below(int bound) {
  state = state * 1664525u + 1013904223u;
  return (int)((state >> 10) % (unsigned)bound);
}

typedef struct {
  int source, destination, weight, giver;
} Edge;

static Edge* make_edges(int count) {
  Edge* edges = malloc((size_t)(count + 1) * sizeof(Edge));
  for (int i = 0; i < count; ++i) {
    edges[i].source = random_below(size);
    /* Many loops, and many edges between the same ranks. */
    edges[i].destination = random_below(5) == 0 ? edges[i].source : random_below(size);
    edges[i].weight = random_below(7);
    edges[i].giver = random_below(size);
  }
  return edges;
}

static int by_rank_then_weight(const void* left, const void* right) {
  const int *a = left, *b = right;
  return a[0] != b[0] ? (a[0] < b[0] ? -1 : 1) : (a[1] > b[1]) - (a[1] < b[1]);
}

/* Pairs of the other end and the weight of the edges from (or to) this rank, sorted. */
static int* expected_pairs(const Edge* edges, int count, int outgoing, int weighted, int* found) {
  int* pairs = malloc((size_t)(count + 1) * 2 * sizeof(int));
  *found = 0;
  for (int i = 0; i < count; ++i) {
    if ((outgoing ? edges[i].source : edges[i].destination) != rank) continue;
    pairs[2 * *found] = outgoing ? edges[i].destination : edges[i].source;
    pairs[2 * *found + 1] = weighted ? edges[i].weight : -5;
    ++*found;
  }
  qsort(pairs, (size_t)*found, 2 * sizeof(int), by_rank_then_weight);
  return pairs;
}

static void compare_side(const int* expected, int count, const int* ranks, const int* weights, int in_order) {
  int* pairs = malloc((size_t)(count + 1) * 2 * sizeof(int));
  for (int i = 0; i < count; ++i) {
    pairs[2 * i] = ranks[i];
    pairs[2 * i + 1] = weights[i];
  }
  if (!in_order) qsort(pairs, (size_t)count, 2 * sizeof(int), by_rank_then_weight);
  for (int i = 0; i < 2 * count; ++i) CHECK_EQ(pairs[i], expected[i]);
  free(pairs);
}

/* What a graph says of this rank's edges. `in_order`: they were given in the order of the expected ones. */
static void compare(MPI_Comm graph, const Edge* edges, int count, int weighted, int in_order) {
  int indegree = -1, outdegree = -1, has_weights = -1, status = -1, expected_in, expected_out;
  int* in = expected_pairs(edges, count, 0, weighted, &expected_in);
  int* out = expected_pairs(edges, count, 1, weighted, &expected_out);
  CHECK_OK(MPI_Topo_test(graph, &status));
  CHECK_EQ(status, MPI_DIST_GRAPH);
  CHECK_OK(MPI_Dist_graph_neighbors_count(graph, &indegree, &outdegree, &has_weights));
  CHECK_EQ(indegree, expected_in);
  CHECK_EQ(outdegree, expected_out);
  CHECK_EQ(has_weights != 0, weighted);
  if (indegree == expected_in && outdegree == expected_out) {
    int* got = malloc((size_t)(2 * indegree + 2 * outdegree + 1) * sizeof(int));
    int *in_weights = got + indegree, *destinations = in_weights + indegree,
        *out_weights = destinations + outdegree;
    for (int i = 0; i < 2 * indegree + 2 * outdegree; ++i) got[i] = -5;
    CHECK_OK(MPI_Dist_graph_neighbors(graph, indegree, got, weighted ? in_weights : MPI_UNWEIGHTED, outdegree,
                                      destinations, weighted ? out_weights : MPI_UNWEIGHTED));
    compare_side(in, indegree, got, in_weights, in_order);
    compare_side(out, outdegree, destinations, out_weights, in_order);

    /* Only as many as there is room for, and the same ones. */
    const int first = indegree > 0 ? got[0] : -5, room = indegree > 0;
    got[0] = -5;
    CHECK_OK(MPI_Dist_graph_neighbors(graph, room, got, in_weights, 0, NULL, NULL));
    CHECK_EQ(got[0], first);
    free(got);
  }
  free(in);
  free(out);
}

static MPI_Comm by_anybody(const Edge* edges, int count, int weighted) {
  int *sources = malloc((size_t)(count + 1) * sizeof(int)),
      *degrees = malloc((size_t)(count + 1) * sizeof(int));
  int *destinations = malloc((size_t)(count + 1) * sizeof(int)),
      *weights = malloc((size_t)(count + 1) * sizeof(int));
  int n = 0, given = 0;
  for (int i = 0; i < count; ++i) {
    if (edges[i].giver != rank) continue;
    if (n == 0 || sources[n - 1] != edges[i].source) {
      sources[n] = edges[i].source;
      degrees[n++] = 0;
    }
    ++degrees[n - 1];
    weights[given] = edges[i].weight;
    destinations[given++] = edges[i].destination;
  }
  const int* passed = !weighted ? MPI_UNWEIGHTED : given == 0 ? MPI_WEIGHTS_EMPTY : weights;
  MPI_Comm graph = MPI_COMM_NULL;
  CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, destinations, passed, MPI_INFO_NULL, 0,
                                 &graph));
  free(sources);
  free(degrees);
  free(destinations);
  free(weights);
  return graph;
}

static MPI_Comm by_their_ends(const Edge* edges, int count, int weighted) {
  int indegree, outdegree;
  int* in = expected_pairs(edges, count, 0, 1, &indegree);
  int* out = expected_pairs(edges, count, 1, 1, &outdegree);
  int* lists = malloc((size_t)(2 * indegree + 2 * outdegree + 1) * sizeof(int));
  int *in_weights = lists + indegree, *destinations = in_weights + indegree,
      *out_weights = destinations + outdegree;
  for (int i = 0; i < indegree; ++i) {
    lists[i] = in[2 * i];
    in_weights[i] = in[2 * i + 1];
  }
  for (int i = 0; i < outdegree; ++i) {
    destinations[i] = out[2 * i];
    out_weights[i] = out[2 * i + 1];
  }
  MPI_Comm graph = MPI_COMM_NULL;
  CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, indegree, lists,
                                          !weighted       ? MPI_UNWEIGHTED
                                          : indegree == 0 ? MPI_WEIGHTS_EMPTY
                                                          : in_weights,
                                          outdegree, destinations,
                                          !weighted        ? MPI_UNWEIGHTED
                                          : outdegree == 0 ? MPI_WEIGHTS_EMPTY
                                                           : out_weights,
                                          MPI_INFO_NULL, 0, &graph));
  free(in);
  free(out);
  free(lists);
  return graph;
}

static void random_graphs(void) {
  const unsigned first = (unsigned)seed_of_ranks(1);
  for (unsigned seed = first; seed < first + 24; ++seed) {
    state = seed;
    const int weighted = random_below(2);
    const int count = seed % 6 == 0 ? 0 : random_below(3 + size * random_below(12));
    Edge* edges = make_edges(count);
    MPI_Comm graph = by_anybody(edges, count, weighted), copy;
    compare(graph, edges, count, weighted, 0);
    CHECK_OK(MPI_Comm_dup(graph, &copy));
    CHECK_OK(MPI_Comm_free(&graph));
    compare(copy, edges, count, weighted, 0);
    CHECK_OK(MPI_Comm_free(&copy));

    /* Edges that a rank names itself stay in their order. */
    graph = by_their_ends(edges, count, weighted);
    compare(graph, edges, count, weighted, 1);
    CHECK_OK(MPI_Comm_free(&graph));
    free(edges);
  }
}

/* One rank names all edges of a star, the others none. */
static void named_by_one(void) {
  int source = 0, degree = size, indegree = -1, outdegree = -1, weighted = -1, from = -1;
  int* all = malloc((size_t)size * sizeof(int));
  for (int i = 0; i < size; ++i) all[i] = i;
  MPI_Comm graph;
  MPI_Info info;
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, rank == size - 1, &source, &degree, all, MPI_UNWEIGHTED,
                                 info, 0, &graph));
  CHECK_OK(MPI_Info_free(&info));
  CHECK_OK(MPI_Dist_graph_neighbors_count(graph, &indegree, &outdegree, &weighted));
  CHECK_EQ(indegree, 1);
  CHECK_EQ(outdegree, rank == 0 ? size : 0);
  CHECK_EQ(weighted, 0);
  CHECK_OK(MPI_Dist_graph_neighbors(graph, 1, &from, MPI_UNWEIGHTED, size, all, MPI_UNWEIGHTED));
  CHECK_EQ(from, 0);
  CHECK_OK(MPI_Comm_free(&graph));
  CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 1,
                                 &graph));
  CHECK_OK(MPI_Dist_graph_neighbors_count(graph, &indegree, &outdegree, &weighted));
  CHECK(indegree == 0 && outdegree == 0 && weighted != 0);
  CHECK_OK(MPI_Dist_graph_neighbors(graph, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY));
  CHECK_OK(MPI_Comm_free(&graph));
  free(all);
}

/* Nobody compares the two ends of an edge: graphs that are only looked at, as mpi4py's tests do, may lack
 * one. */
static void one_end_named(void) {
  const int from[2] = {rank, (rank + 1) % size};
  int indegree = -1, outdegree = -1, weighted = -1;
  MPI_Comm graph;
  CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                          MPI_INFO_NULL, 0, &graph));
  CHECK_OK(MPI_Dist_graph_neighbors_count(graph, &indegree, &outdegree, &weighted));
  CHECK_EQ(indegree, 2);
  CHECK_EQ(outdegree, 0);
  CHECK_EQ(weighted, 0);
  CHECK_OK(MPI_Comm_free(&graph));
}

static void wrong_arguments(void) {
  MPI_Comm made = MPI_COMM_NULL;
  const int none = size, negative = -1, self = rank, one = 1, huge[2] = {2147483647, 2147483647},
            zeros[2] = {0, 0};
  int value = -1, other = -1, weighted = -1;
#define ADJACENT(in, from, from_weights, out, to, to_weights)                                                \
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, from, from_weights, out, to, to_weights, MPI_INFO_NULL, \
                                 0, &made)
  CHECK_CLASS(ADJACENT(1, &none, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED), MPI_ERR_RANK);
  CHECK_CLASS(ADJACENT(0, NULL, MPI_UNWEIGHTED, 1, &negative, MPI_UNWEIGHTED), MPI_ERR_RANK);
  CHECK_CLASS(ADJACENT(-1, &self, MPI_UNWEIGHTED, 1, &self, MPI_UNWEIGHTED), MPI_ERR_ARG);
  CHECK_CLASS(ADJACENT(1, NULL, MPI_UNWEIGHTED, 1, &self, MPI_UNWEIGHTED), MPI_ERR_ARG);
  CHECK_CLASS(ADJACENT(1, &self, MPI_UNWEIGHTED, 1, &self, &one), MPI_ERR_ARG);
  CHECK_CLASS(ADJACENT(1, &self, &negative, 1, &self, &one), MPI_ERR_ARG);
  CHECK_CLASS(ADJACENT(1, &self, MPI_WEIGHTS_EMPTY, 1, &self, &one), MPI_ERR_ARG);
  CHECK_CLASS(ADJACENT(1, &self, NULL, 1, &self, &one), MPI_ERR_ARG);
#undef ADJACENT
#define CREATE(n, from, degrees, to, weights) \
  MPI_Dist_graph_create(MPI_COMM_WORLD, n, from, degrees, to, weights, MPI_INFO_NULL, 0, &made)
  CHECK_CLASS(CREATE(-1, &self, &one, &self, MPI_UNWEIGHTED), MPI_ERR_ARG);
  CHECK_CLASS(CREATE(1, NULL, &one, &self, MPI_UNWEIGHTED), MPI_ERR_ARG);
  CHECK_CLASS(CREATE(1, &self, NULL, &self, MPI_UNWEIGHTED), MPI_ERR_ARG);
  CHECK_CLASS(CREATE(1, &self, &negative, &self, MPI_UNWEIGHTED), MPI_ERR_ARG);
  CHECK_CLASS(CREATE(2, zeros, huge, &self, MPI_UNWEIGHTED), MPI_ERR_ARG);
  CHECK_CLASS(CREATE(1, &self, &one, NULL, MPI_UNWEIGHTED), MPI_ERR_ARG);
  CHECK_CLASS(CREATE(1, &none, &one, &self, MPI_UNWEIGHTED), MPI_ERR_RANK);
  CHECK_CLASS(CREATE(1, &self, &one, &none, MPI_UNWEIGHTED), MPI_ERR_RANK);
  CHECK_CLASS(CREATE(1, &self, &one, &self, &negative), MPI_ERR_ARG);
  CHECK_CLASS(CREATE(1, &self, &one, &self, MPI_WEIGHTS_EMPTY), MPI_ERR_ARG);
#undef CREATE
  CHECK_CLASS(
      MPI_Dist_graph_create(MPI_COMM_NULL, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
      MPI_ERR_COMM);
  CHECK_CLASS(MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &value, &other, &weighted), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Dist_graph_neighbors(MPI_COMM_WORLD, 1, &value, &weighted, 1, &other, &weighted),
              MPI_ERR_TOPOLOGY);
  CHECK_EQ(made, MPI_COMM_NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  random_graphs();
  named_by_one();
  one_end_named();
  wrong_arguments();
  MPI_Finalize();
  return check_result();
}
