/* Neighbourhood collectives on grids and graphs of all shapes, against what each rank's neighbours say that
   they send (MPI-5.0 section 8.6). */
#include "../../seed_of_ranks.h"
#include "collectives/buffers.h"

static int world_size, world_rank;
static unsigned state, first_seed;

/* The same numbers on all ranks. */
static int random_below(int bound) {
  state = state * 1664525u + 1013904223u;
  return (int)((state >> 10) % (unsigned)bound);
}

/* The communicator under test, as its queries describe it. `match[i]` is the block that source i has for this
 * rank. */
static MPI_Comm comm;
static int size, rank, indegree, outdegree;
static int *sources, *destinations, *match;

static void describe_grid(void) {
  int dimensions = 0;
  CHECK_OK(MPI_Cartdim_get(comm, &dimensions));
  indegree = outdegree = 2 * dimensions;
  sources = malloc((size_t)(indegree + 1) * sizeof(int));
  destinations = malloc((size_t)(indegree + 1) * sizeof(int));
  match = malloc((size_t)(indegree + 1) * sizeof(int));
  for (int d = 0; d < dimensions; ++d) {
    CHECK_OK(MPI_Cart_shift(comm, d, 1, &sources[2 * d], &sources[2 * d + 1]));
    for (int i = 2 * d; i < 2 * d + 2; ++i) {
      destinations[i] = sources[i];
      match[i] = i ^ 1; /* what comes from below was sent up */
    }
  }
}

static void describe_graph(int kind) {
  int weighted;
  if (kind == MPI_GRAPH) {
    CHECK_OK(MPI_Graph_neighbors_count(comm, rank, &indegree));
    outdegree = indegree;
  } else {
    CHECK_OK(MPI_Dist_graph_neighbors_count(comm, &indegree, &outdegree, &weighted));
  }
  sources = malloc((size_t)(indegree + 1) * sizeof(int));
  destinations = malloc((size_t)(outdegree + 1) * sizeof(int));
  match = malloc((size_t)(indegree + 1) * sizeof(int));
  if (kind == MPI_GRAPH) {
    CHECK_OK(MPI_Graph_neighbors(comm, rank, indegree, sources));
    CHECK_OK(MPI_Graph_neighbors(comm, rank, indegree, destinations));
  } else {
    CHECK_OK(MPI_Dist_graph_neighbors(comm, indegree, sources, MPI_UNWEIGHTED, outdegree, destinations,
                                      MPI_UNWEIGHTED));
  }

  /* Everybody's destinations; the k-th edge from a rank meets the k-th that it has to this one. */
  int widest = 0;
  CHECK_OK(MPI_Allreduce(&outdegree, &widest, 1, MPI_INT, MPI_MAX, comm));
  int *own = malloc((size_t)(widest + 1) * sizeof(int)),
      *all = malloc((size_t)(widest + 1) * size * sizeof(int));
  for (int i = 0; i <= widest; ++i) own[i] = i < outdegree ? destinations[i] : -1;
  CHECK_OK(MPI_Allgather(own, widest + 1, MPI_INT, all, widest + 1, MPI_INT, comm));
  for (int i = 0; i < indegree; ++i) {
    const int* theirs = all + (size_t)sources[i] * (widest + 1);
    int earlier = 0, block = 0;
    for (int j = 0; j < i; ++j) earlier += sources[j] == sources[i];
    for (; theirs[block] != rank || earlier-- > 0;) ++block;
    match[i] = block;
  }
  free(own);
  free(all);
}

static void describe(MPI_Comm made) {
  int kind = MPI_UNDEFINED;
  comm = made;
  CHECK_OK(MPI_Comm_size(comm, &size));
  CHECK_OK(MPI_Comm_rank(comm, &rank));
  CHECK_OK(MPI_Topo_test(comm, &kind));
  if (kind == MPI_CART)
    describe_grid();
  else
    describe_graph(kind);
}

static void forget(void) {
  free(sources);
  free(destinations);
  free(match);
  CHECK_OK(MPI_Comm_free(&comm));
}

/* How the operation under test is called. */
enum { kBlocking, kNonblocking, kPersistent, kForms };
static int form;

/* Returns when what was called is over; a persistent operation is started more than once. */
static void complete(MPI_Request* request) {
  if (form == kNonblocking) CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
  if (form != kPersistent) return;
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(MPI_Start(request));
    CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
  }
  CHECK_OK(MPI_Request_free(request));
}

static int count_of(int from, int block) { return (from * 5 + block * 3) % 4; }

/* Blocks with a gap of an element between them, the last one first; returns how many elements that is. */
static int place(int blocks, const int* counts, int* displacements) {
  int end = 1;
  for (int i = blocks - 1; i >= 0; --i) {
    displacements[i] = end;
    end += counts[i] + 1;
  }
  return end;
}

static void test_allgather(int kind, int count) {
  const int all = indegree * count;
  int *mine = buffer_new(kind, count), *in = buffer_new(kind, all), *expected = buffer_new(kind, all);
  buffer_put(kind, mine, 0, count, rank, 0);
  for (int i = 0; i < indegree; ++i)
    if (sources[i] != MPI_PROC_NULL) buffer_put(kind, expected, i * count, count, sources[i], 0);
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_OK(form == kBlocking
               ? MPI_Neighbor_allgather(mine, count, buffers_type[kind], in, count, buffers_type[kind], comm)
           : form == kNonblocking
               ? MPI_Ineighbor_allgather(mine, count, buffers_type[kind], in, count, buffers_type[kind], comm,
                                         &request)
               : MPI_Neighbor_allgather_init(mine, count, buffers_type[kind], in, count, buffers_type[kind],
                                             comm, MPI_INFO_NULL, &request));
  complete(&request);
  buffer_compare(kind, all, in, expected, "neighbor_allgather");
  free(mine);
}

static void test_allgatherv(int kind) {
  const int count = count_of(rank, 0);
  int *counts = malloc((size_t)(indegree + 1) * sizeof(int)),
      *places = malloc((size_t)(indegree + 1) * sizeof(int));
  for (int i = 0; i < indegree; ++i) counts[i] = sources[i] == MPI_PROC_NULL ? 3 : count_of(sources[i], 0);
  const int all = place(indegree, counts, places);
  int *mine = buffer_new(kind, count), *in = buffer_new(kind, all), *expected = buffer_new(kind, all);
  buffer_put(kind, mine, 0, count, rank, 0);
  for (int i = 0; i < indegree; ++i)
    if (sources[i] != MPI_PROC_NULL) buffer_put(kind, expected, places[i], counts[i], sources[i], 0);
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_OK(form == kBlocking ? MPI_Neighbor_allgatherv(mine, count, buffers_type[kind], in, counts, places,
                                                       buffers_type[kind], comm)
           : form == kNonblocking
               ? MPI_Ineighbor_allgatherv(mine, count, buffers_type[kind], in, counts, places,
                                          buffers_type[kind], comm, &request)
               : MPI_Neighbor_allgatherv_init(mine, count, buffers_type[kind], in, counts, places,
                                              buffers_type[kind], comm, MPI_INFO_NULL, &request));
  complete(&request);
  buffer_compare(kind, all, in, expected, "neighbor_allgatherv");
  free(mine);
  free(counts);
  free(places);
}

static void test_alltoall(int kind, int count) {
  int *out = buffer_new(kind, outdegree * count), *in = buffer_new(kind, indegree * count);
  int* expected = buffer_new(kind, indegree * count);
  for (int i = 0; i < outdegree; ++i) buffer_put(kind, out, i * count, count, rank, i);
  for (int i = 0; i < indegree; ++i)
    if (sources[i] != MPI_PROC_NULL) buffer_put(kind, expected, i * count, count, sources[i], match[i]);
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_OK(form == kBlocking
               ? MPI_Neighbor_alltoall(out, count, buffers_type[kind], in, count, buffers_type[kind], comm)
           : form == kNonblocking
               ? MPI_Ineighbor_alltoall(out, count, buffers_type[kind], in, count, buffers_type[kind], comm,
                                        &request)
               : MPI_Neighbor_alltoall_init(out, count, buffers_type[kind], in, count, buffers_type[kind],
                                            comm, MPI_INFO_NULL, &request));
  complete(&request);
  buffer_compare(kind, indegree * count, in, expected, "neighbor_alltoall");
  free(out);
}

typedef struct {
  int *out_counts, *in_counts, *out_places, *in_places, out_all, in_all;
  int *out, *in, *expected;
} Variable;

static Variable variable_begin(int kind) {
  Variable v;
  v.out_counts = malloc((size_t)(outdegree + 1) * sizeof(int));
  v.out_places = malloc((size_t)(outdegree + 1) * sizeof(int));
  v.in_counts = malloc((size_t)(indegree + 1) * sizeof(int));
  v.in_places = malloc((size_t)(indegree + 1) * sizeof(int));
  for (int i = 0; i < outdegree; ++i) v.out_counts[i] = count_of(rank, i);
  for (int i = 0; i < indegree; ++i)
    v.in_counts[i] = sources[i] == MPI_PROC_NULL ? 2 : count_of(sources[i], match[i]);
  v.out_all = place(outdegree, v.out_counts, v.out_places);
  v.in_all = place(indegree, v.in_counts, v.in_places);
  v.out = buffer_new(kind, v.out_all);
  v.in = buffer_new(kind, v.in_all);
  v.expected = buffer_new(kind, v.in_all);
  for (int i = 0; i < outdegree; ++i) buffer_put(kind, v.out, v.out_places[i], v.out_counts[i], rank, i);
  for (int i = 0; i < indegree; ++i)
    if (sources[i] != MPI_PROC_NULL)
      buffer_put(kind, v.expected, v.in_places[i], v.in_counts[i], sources[i], match[i]);
  return v;
}

static void variable_end(int kind, Variable* v, const char* what) {
  buffer_compare(kind, v->in_all, v->in, v->expected, what);
  free(v->out);
  free(v->out_counts);
  free(v->out_places);
  free(v->in_counts);
  free(v->in_places);
}

static void test_alltoallv(int kind) {
  Variable v = variable_begin(kind);
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_OK(form == kBlocking
               ? MPI_Neighbor_alltoallv(v.out, v.out_counts, v.out_places, buffers_type[kind], v.in,
                                        v.in_counts, v.in_places, buffers_type[kind], comm)
           : form == kNonblocking
               ? MPI_Ineighbor_alltoallv(v.out, v.out_counts, v.out_places, buffers_type[kind], v.in,
                                         v.in_counts, v.in_places, buffers_type[kind], comm, &request)
               : MPI_Neighbor_alltoallv_init(v.out, v.out_counts, v.out_places, buffers_type[kind], v.in,
                                             v.in_counts, v.in_places, buffers_type[kind], comm,
                                             MPI_INFO_NULL, &request));
  complete(&request);
  variable_end(kind, &v, "neighbor_alltoallv");
}

/* Displacements in bytes, as MPI_Aint, and a type for each block. */
typedef struct {
  MPI_Aint* places;
  MPI_Datatype* types;
} Typed;

static Typed typed_begin(int kind, int blocks, const int* elements) {
  Typed t = {malloc((size_t)(blocks + 1) * sizeof(MPI_Aint)),
             malloc((size_t)(blocks + 1) * sizeof(MPI_Datatype))};
  for (int i = 0; i < blocks; ++i) {
    t.places[i] = (MPI_Aint)elements[i] * buffers_extent[kind] * (MPI_Aint)sizeof(int);
    t.types[i] = buffers_type[kind];
  }
  return t;
}

static void test_alltoallw(int kind) {
  Variable v = variable_begin(kind);
  Typed out = typed_begin(kind, outdegree, v.out_places), in = typed_begin(kind, indegree, v.in_places);
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_OK(form == kBlocking ? MPI_Neighbor_alltoallw(v.out, v.out_counts, out.places, out.types, v.in,
                                                      v.in_counts, in.places, in.types, comm)
           : form == kNonblocking
               ? MPI_Ineighbor_alltoallw(v.out, v.out_counts, out.places, out.types, v.in, v.in_counts,
                                         in.places, in.types, comm, &request)
               : MPI_Neighbor_alltoallw_init(v.out, v.out_counts, out.places, out.types, v.in, v.in_counts,
                                             in.places, in.types, comm, MPI_INFO_NULL, &request));
  complete(&request);
  variable_end(kind, &v, "neighbor_alltoallw");
  free(out.places);
  free(out.types);
  free(in.places);
  free(in.types);
}

/* The forms with MPI_Count and MPI_Aint. */
static void test_large_forms(void) {
  Variable v = variable_begin(kSolid);
  Typed out = typed_begin(kSolid, outdegree, v.out_places), in = typed_begin(kSolid, indegree, v.in_places);
  MPI_Count *out_counts = malloc((size_t)(outdegree + 1) * sizeof(MPI_Count)),
            *in_counts = malloc((size_t)(indegree + 1) * sizeof(MPI_Count));
  for (int i = 0; i < outdegree; ++i) out_counts[i] = v.out_counts[i];
  for (int i = 0; i < indegree; ++i) in_counts[i] = v.in_counts[i];
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_OK(form == kBlocking ? MPI_Neighbor_alltoallw_c(v.out, out_counts, out.places, out.types, v.in,
                                                        in_counts, in.places, in.types, comm)
           : form == kNonblocking
               ? MPI_Ineighbor_alltoallw_c(v.out, out_counts, out.places, out.types, v.in, in_counts,
                                           in.places, in.types, comm, &request)
               : MPI_Neighbor_alltoallw_init_c(v.out, out_counts, out.places, out.types, v.in, in_counts,
                                               in.places, in.types, comm, MPI_INFO_NULL, &request));
  complete(&request);
  variable_end(kSolid, &v, "neighbor_alltoallw_c");
  free(out.places);
  free(out.types);
  free(in.places);
  free(in.types);
  free(out_counts);
  free(in_counts);
}

/* Several at once, completed in another order. */
static void test_at_once(void) {
  enum { kAtOnce = 3 };
  MPI_Request requests[2 * kAtOnce];
  int *mine[kAtOnce], *out[kAtOnce], *in[2 * kAtOnce], *expected[2 * kAtOnce];
  for (int n = 0; n < kAtOnce; ++n) {
    const int count = 1 + 300 * n;
    mine[n] = buffer_new(kSolid, count);
    out[n] = buffer_new(kSolid, outdegree * count);
    buffer_put(kSolid, mine[n], 0, count, rank, n);
    for (int i = 0; i < outdegree; ++i) buffer_put(kSolid, out[n], i * count, count, rank, i + n);
    for (int j = n; j < 2 * kAtOnce; j += kAtOnce) {
      in[j] = buffer_new(kSolid, indegree * count);
      expected[j] = buffer_new(kSolid, indegree * count);
      for (int i = 0; i < indegree; ++i)
        if (sources[i] != MPI_PROC_NULL)
          buffer_put(kSolid, expected[j], i * count, count, sources[i], j < kAtOnce ? n : match[i] + n);
    }
    CHECK_OK(MPI_Ineighbor_allgather(mine[n], count, MPI_INT, in[n], count, MPI_INT, comm, &requests[n]));
    CHECK_OK(MPI_Ineighbor_alltoall(out[n], count, MPI_INT, in[n + kAtOnce], count, MPI_INT, comm,
                                    &requests[n + kAtOnce]));
  }
  for (int j = 2 * kAtOnce - 1; j >= 0; --j) {
    CHECK_OK(MPI_Wait(&requests[j], MPI_STATUS_IGNORE));
    buffer_compare(kSolid, indegree * (1 + 300 * (j % kAtOnce)), in[j], expected[j], "at once");
  }
  for (int n = 0; n < kAtOnce; ++n) {
    free(mine[n]);
    free(out[n]);
  }
}

static void test_everything(MPI_Comm made) {
  if (made == MPI_COMM_NULL) return;
  describe(made);
  for (form = 0; form < kForms; ++form) {
    for (int kind = 0; kind < kKinds; ++kind) {
      for (int count = 0; count <= 700; count = 9 * count + 1) {
        test_allgather(kind, count);
        test_alltoall(kind, count);
      }
      test_allgatherv(kind);
      test_alltoallv(kind);
      test_alltoallw(kind);
    }
    test_large_forms();
  }
  test_at_once();
  forget();
}

/* Grids of up to three dimensions that end or go around; so that size 1 and 2 occur in each place, ones are
 * added. */
static void grids(void) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (int around = 0; around < 1 << dimensions; ++around) {
      int sizes[5] = {0}, periods[5] = {0};
      CHECK_OK(MPI_Dims_create(world_size, dimensions, sizes));
      sizes[dimensions] = 1;
      periods[dimensions] = around & 1;
      for (int d = 0; d < dimensions; ++d) periods[d] = around >> d & 1;
      MPI_Comm grid;
      CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, dimensions + 1, sizes, periods, 0, &grid));
      test_everything(grid);
    }
  const int two[2] = {world_size >= 2 ? 2 : 1, world_size >= 4 ? 2 : 1}, both[2] = {1, 1};
  MPI_Comm grid;
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, two, both, 0, &grid));
  test_everything(grid);
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 0, two, both, 0, &grid));
  test_everything(grid);
}

/* Any pair of ranks as often in one direction as in the other. */
static void graphs(void) {
  for (unsigned drawn = 0; drawn < 3; ++drawn) {
    state = first_seed + drawn;
    int* times = calloc((size_t)world_size * world_size, sizeof(int));
    int *index = malloc((size_t)world_size * sizeof(int)), edges = 0;
    for (int i = 0; i < 3 * world_size; ++i) {
      const int one = random_below(world_size), other = random_below(world_size);
      ++times[one * world_size + other];
      if (one != other) ++times[other * world_size + one];
    }
    int* list = malloc((size_t)world_size * 6 * sizeof(int));
    for (int node = 0; node < world_size; ++node) {
      /* Up and down at random: the neighbours are not sorted, and the same one does not stand together. */
      for (int round = 0, left = 1; left; ++round) {
        left = 0;
        for (int i = 0; i < world_size; ++i) {
          const int other = round % 2 == 0 ? i : world_size - 1 - i;
          int* t = &times[node * world_size + other];
          if (*t > 0) {
            list[edges++] = other;
            left |= --*t > 0;
          }
        }
      }
      index[node] = edges;
    }
    MPI_Comm graph;
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, world_size, index, list, 0, &graph));
    test_everything(graph);
    free(times);
    free(index);
    free(list);
  }
}

static void dist_graphs(void) {
  for (unsigned drawn = 0; drawn < 6; ++drawn) {
    state = first_seed + drawn;
    const int edges = drawn == 0 ? 0 : 4 * world_size;
    int *from = malloc((size_t)(edges + 1) * sizeof(int)), *to = malloc((size_t)(edges + 1) * sizeof(int));
    int *sources_here = malloc((size_t)(edges + 1) * sizeof(int)),
        *targets = malloc((size_t)(edges + 1) * sizeof(int));
    int in = 0, out = 0, one = 1;
    for (int i = 0; i < edges; ++i) {
      from[i] = random_below(world_size);
      to[i] = random_below(4) == 0 ? from[i] : random_below(world_size);
      if (from[i] == world_rank) targets[out++] = to[i];
    }
    for (int i = edges - 1; i >= 0; --i)
      if (to[i] == world_rank) sources_here[in++] = from[i];
    MPI_Comm graph;
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources_here, MPI_UNWEIGHTED, out, targets,
                                            MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
    test_everything(graph);

    /* Rank i names edges i, i + size, ... */
    int* degrees = malloc((size_t)(edges + 1) * sizeof(int));
    int n = 0;
    for (int i = world_rank; i < edges; i += world_size) {
      from[n] = from[i];
      to[n] = to[i];
      degrees[n++] = one;
    }
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, from, degrees, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &graph));
    test_everything(graph);
    free(from);
    free(to);
    free(sources_here);
    free(targets);
    free(degrees);
  }
}

static void wrong_arguments(void) {
  const int around = 1, negative[2] = {1, -1}, one[2] = {1, 1}, places[2] = {0, 1}, two[2] = {2, 2};
  int out[4] = {0}, in[4] = {0};
  const MPI_Aint bytes[2] = {0, sizeof(int)};
  MPI_Datatype type, types[2] = {MPI_INT, MPI_INT};
  MPI_Comm ring;
  CHECK_CLASS(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, one, places, MPI_INT, MPI_COMM_WORLD),
              MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_NULL), MPI_ERR_COMM);
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, &around, 0, &ring));
  CHECK_CLASS(MPI_Neighbor_allgather(out, -1, MPI_INT, in, 1, MPI_INT, ring), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, ring), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Neighbor_alltoall(out, 1, MPI_DATATYPE_NULL, in, 1, MPI_INT, ring), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Neighbor_alltoallv(out, negative, places, MPI_INT, in, one, places, MPI_INT, ring),
              MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Neighbor_alltoallv(out, one, places, MPI_INT, in, negative, places, MPI_INT, ring),
              MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, negative, places, MPI_INT, ring), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Neighbor_alltoallv(out, NULL, places, MPI_INT, in, one, places, MPI_INT, ring),
              MPI_ERR_ARG);
  MPI_Type_contiguous(2, MPI_INT, &type);
  types[1] = type; /* not committed */
  CHECK_CLASS(MPI_Neighbor_alltoallw(out, one, bytes, types, in, one, bytes, types, ring), MPI_ERR_TYPE);
  MPI_Type_free(&type);

  /* The other forms see the same. */
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_CLASS(MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &request),
              MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Ineighbor_allgather(out, 1, MPI_INT, in, -1, MPI_INT, ring, &request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Neighbor_alltoallv_init(out, negative, places, MPI_INT, in, one, places, MPI_INT, ring,
                                          MPI_INFO_NULL, &request),
              MPI_ERR_COUNT);
  CHECK_CLASS(
      MPI_Neighbor_allgather_init(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
      MPI_ERR_TOPOLOGY);
  CHECK_EQ(request, MPI_REQUEST_NULL);

  /* Everyone sends more than is expected, and nobody hangs. */
  CHECK_CLASS(MPI_Neighbor_alltoallv(out, two, places, MPI_INT, in, one, places, MPI_INT, ring),
              MPI_ERR_TRUNCATE);
  CHECK_CLASS(MPI_Neighbor_alltoallv(out, one, places, MPI_INT, in, two, places, MPI_INT, ring),
              MPI_ERR_TRUNCATE);
  CHECK_OK(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring));
  CHECK_OK(MPI_Comm_free(&ring));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  buffers_begin();
  first_seed = (unsigned)seed_of_ranks(1);
  grids();
  graphs();
  dist_graphs();
  wrong_arguments();
  buffers_end();
  MPI_Finalize();
  return check_result();
}
