// Graph topologies and distributed graphs (MPI-5.0 sections 8.5.3 to 8.5.5).
#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coll/schedule/deliver.h"
#include "core/rank.h"
#include "mpi/bodies.h"
#include "mpi/entry/entry_checks.h"
#include "mpi/hints.h"
#include "mpi/new_comm.h"
#include "mpi/placements.h"
#include "mpi/topologies.h"
#include "topo/topologies.h"

namespace clump::mpi {

namespace {

using core::Comm;
using topo::DistGraph;
using topo::Edges;
using topo::Graph;

base::Status find_graph(const Comm& comm, const Graph*& graph) {
  return find_topology(comm, "graph", "MPI_Graph_create", graph);
}

base::Status find_dist_graph(const Comm& comm, const DistGraph*& graph) {
  return find_topology(comm, "distributed graph", "MPI_Dist_graph_create", graph);
}

/// The arguments of MPI_Graph_create, which must fit into `available` ranks.
base::Status check_graph(std::span<const int> index, const int edges[], int available) {
  const int nodes = static_cast<int>(index.size());
  if (nodes > available)
    return base::fail(MPI_ERR_ARG, "nnodes is {}, but comm has {} ranks", nodes, available);
  int end = 0;
  for (int node = 0; node < nodes; ++node) {
    if (index[node] < end)
      return base::fail(MPI_ERR_ARG,
                        "index[{}] is {}; it counts the edges of nodes 0 to {}, so it must be at least {}",
                        node, index[node], node, end);
    end = index[node];
  }
  CLUMP_TRY(check::array({"edges", edges}, end));
  for (int i = 0; i < end; ++i)
    if (edges[i] < 0 || edges[i] >= nodes)
      return base::fail(MPI_ERR_ARG, "edges[{}] is {}, but the nodes are 0 to {}", i, edges[i], nodes - 1);
  return {};
}

int edge_count(std::span<const int> index) { return index.empty() ? 0 : index.back(); }

/// Everyone knows all of the graph; who decides where it goes is rank 0.
base::Status list_links(const Comm& comm, std::span<const int> index, std::span<const int> edges,
                        std::vector<topo::Link>& links) {
  if (comm.rank != 0) return {};
  for (int node = 0; node < static_cast<int>(index.size()); ++node)
    for (const int other : Graph::neighbours_of(index, edges, node)) links.push_back({node, other});
  return {};
}

base::Status check_nodes(int nnodes) {
  return nnodes < 0 ? base::fail(MPI_ERR_ARG, "nnodes is {}; it must be 0 or more", nnodes) : base::Status();
}

base::Status check_ranks(const char* name, std::span<const int> ranks, const Comm& comm) {
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i] < 0 || ranks[i] >= comm.size())
      return base::fail(MPI_ERR_RANK, "{}[{}] is {}, but comm_old has {} ranks", name, i, ranks[i],
                        comm.size());
  return {};
}

/// An array of weights as a distributed graph gets it: `has_weights` is false for MPI_UNWEIGHTED. For no
/// edges a null pointer is as good as MPI_WEIGHTS_EMPTY.
base::Status read_weights(const char* name, const int* given, int edges, bool& has_weights,
                          std::span<const int>& weights) {
  has_weights = given != MPI_UNWEIGHTED;
  if (!has_weights || edges == 0) return {};
  if (given == MPI_WEIGHTS_EMPTY || given == nullptr)
    return base::fail(MPI_ERR_ARG, "({} = {}): there are {} edges to be weighted", name,
                      given == nullptr ? "NULL" : "MPI_WEIGHTS_EMPTY", edges);
  weights = {given, static_cast<std::size_t>(edges)};
  for (int i = 0; i < edges; ++i)
    if (weights[i] < 0)
      return base::fail(MPI_ERR_ARG, "{}[{}] is {}; weights must not be negative", name, i, weights[i]);
  return {};
}

/// The ranks that get the nodes of a graph. Collective, if they may be reordered.
base::Status place_nodes(Comm& comm, std::span<const int> index, const int edges[], bool reorder,
                         base::Ref<const core::Group>& group, std::string& why_not) {
  const int nodes = static_cast<int>(index.size());
  const std::span<const int> all(edges, static_cast<std::size_t>(edge_count(index)));
  std::vector<int> ranks;
  if (reorder)
    CLUMP_TRY(place_graph(
        comm, nodes, [&](auto& links) { return list_links(comm, index, all, links); }, ranks, why_not));
  group = ranks.empty() ? comm.group->first(nodes) : comm.group->part(ranks);
  return {};
}

/// The edges that leave the caller, to ranks of the job, where `group` has all places.
std::vector<Reach> reached_by(std::span<const int> destinations, std::span<const int> weights,
                              const core::Group& group) {
  std::vector<Reach> reached;
  for (std::size_t i = 0; i < destinations.size(); ++i)
    reached.push_back({group.world_rank(destinations[i]), weights.empty() ? 1 : weights[i]});
  return reached;
}

std::string described(const char* what, int places, bool weighted) {
  return fmt::format("{} of {} places{}", what, places, weighted ? ", by weight" : "");
}

/// A part of a distributed graph as its ranks give it.
struct GraphPart {
  Edges in, out;
  bool weighted = false;
};

/// All edges to rank 0. Collective.
base::Status collect_edges(Comm& comm, const GraphPart& mine, std::vector<topo::Link>& links) {
  std::vector<coll::SparseRecord> records;
  for (std::size_t i = 0; i < mine.out.ranks.size(); ++i)
    records.push_back({0, {comm.rank, mine.out.ranks[i], mine.weighted ? mine.out.weights[i] : 1}});
  CLUMP_TRY(coll::deliver(comm, records));
  for (const coll::SparseRecord& record : records)
    links.push_back({record.content[0], record.content[1], record.content[2]});
  return {};
}

/// Each part goes to the rank that gets its place. Edges stay in the order in which they were given.
base::Status move_parts(Comm& comm, std::span<const int> ranks, GraphPart& part) {
  std::vector<coll::SparseRecord> records;
  const int to = ranks[static_cast<std::size_t>(comm.rank)];
  for (Edges* const side : {&part.in, &part.out})
    for (std::size_t i = 0; i < side->ranks.size(); ++i) {
      const int number = 2 * static_cast<int>(i) + (side == &part.out ? 1 : 0);
      records.push_back({to, {number, side->ranks[i], part.weighted ? side->weights[i] : 0}});
    }
  CLUMP_TRY(coll::deliver(comm, records));
  std::ranges::sort(records, {}, [](const coll::SparseRecord& record) { return record.content[0]; });
  part.in = part.out = {};
  for (const coll::SparseRecord& record : records) {
    Edges& side = record.content[0] % 2 != 0 ? part.out : part.in;
    side.ranks.push_back(record.content[1]);
    if (part.weighted) side.weights.push_back(record.content[2]);
  }
  return {};
}

/// The communicator, once this rank's part of the graph is known. Collective.
base::Status make_dist_graph(Comm& comm_old, GraphPart part, const core::Info* info, bool reorder,
                             MPI_Comm* handle) {
  CLUMP_TRY(check_hints(info));
  std::vector<int> ranks;
  Placed placed{.what = described("distributed graph", comm_old.size(), part.weighted), .links = "edges"};
  const bool told = reorder && is_told(comm_old);
  if (told) placed.without = reached_by(part.out.ranks, part.out.weights, *comm_old.group);
  if (reorder)
    CLUMP_TRY(place_graph(
        comm_old, comm_old.size(), [&](auto& links) { return collect_edges(comm_old, part, links); }, ranks,
        placed.why_not));
  if (!ranks.empty()) CLUMP_TRY(move_parts(comm_old, ranks, part));
  base::Ref<Comm> made;
  CLUMP_TRY(make_places(comm_old, coll::Caller::kDistGraphCreate,
                        ranks.empty() ? comm_old.group : comm_old.group->part(ranks), made));
  if (told) {
    placed.reached = reached_by(part.out.ranks, part.out.weights, *made->group);
    CLUMP_TRY(tell(*made, comm_old, placed));
  }
  made->topology = base::make_ref<const DistGraph>(std::move(part.in), std::move(part.out), part.weighted);
  give_hints(*made, info);
  *handle = comm_old.owner.add(std::move(made));
  return {};
}

/// What an edge looks like to one of its ends.
enum class End { kSource, kDestination };

/// Tells both ends of each edge, whoever named it.
std::vector<coll::SparseRecord> records_of(std::span<const int> sources, const int degrees[],
                                           std::span<const int> destinations, std::span<const int> weights) {
  std::vector<coll::SparseRecord> records;
  records.reserve(2 * destinations.size());
  std::size_t edge = 0;
  for (std::size_t i = 0; i < sources.size(); ++i)
    for (int k = 0; k < degrees[i]; ++k, ++edge) {
      const int weight = weights.empty() ? 0 : weights[edge];
      records.push_back({sources[i], {static_cast<int>(End::kSource), destinations[edge], weight}});
      records.push_back({destinations[edge], {static_cast<int>(End::kDestination), sources[i], weight}});
    }
  return records;
}

/// The edges of which the caller is that end; where two lead to the same rank, both ends list them in the
/// same order.
Edges edges_at(End end, std::span<const coll::SparseRecord> records, bool weighted) {
  std::vector<std::pair<int, int>> found;  // rank at the other end, weight
  for (const coll::SparseRecord& record : records)
    if (record.content[0] == static_cast<int>(end)) found.emplace_back(record.content[1], record.content[2]);
  std::sort(found.begin(), found.end());
  Edges edges;
  for (const auto& [rank, weight] : found) {
    edges.ranks.push_back(rank);
    if (weighted) edges.weights.push_back(weight);
  }
  return edges;
}

/// The first neighbours that fit, with their weights where both sides have any.
void write_neighbours(const core::Neighbours& neighbours, std::span<const int> weights, int room, int ranks[],
                      int weights_out[]) {
  const int count = std::min(room, neighbours.blocks);
  for (int i = 0; i < count; ++i) ranks[i] = neighbours.in_order[i].rank;
  const bool wanted =
      weights_out != nullptr && weights_out != MPI_UNWEIGHTED && weights_out != MPI_WEIGHTS_EMPTY;
  if (wanted && !weights.empty()) std::copy_n(weights.begin(), count, weights_out);
}

}  // namespace

base::Status graph_create(core::Rank& self, Comm& comm_old, int nnodes, const int index[], const int edges[],
                          int reorder, MPI_Comm* comm_graph) {
  CLUMP_TRY(check_nodes(nnodes));
  const std::span<const int> ends(index, static_cast<std::size_t>(nnodes));
  CLUMP_TRY(check_graph(ends, edges, comm_old.size()));
  *comm_graph = MPI_COMM_NULL;
  if (nnodes == 0) return {};
  const std::span<const int> all(edges, static_cast<std::size_t>(edge_count(ends)));
  Placed placed{.what = described("graph", nnodes, false), .links = "edges"};
  base::Ref<const core::Group> group;
  CLUMP_TRY(place_nodes(comm_old, ends, edges, reorder != 0, group, placed.why_not));
  base::Ref<Comm> made;
  CLUMP_TRY(make_places(comm_old, coll::Caller::kGraphCreate, std::move(group), made));
  if (!made) return {};
  if (reorder != 0 && is_told(comm_old)) {
    placed.without = reached_by(Graph::neighbours_of(ends, all, comm_old.rank), {}, *comm_old.group);
    placed.reached = reached_by(Graph::neighbours_of(ends, all, made->rank), {}, *made->group);
    CLUMP_TRY(tell(*made, comm_old, placed));
  }
  made->topology = base::make_ref<const Graph>(std::vector<int>(ends.begin(), ends.end()),
                                               std::vector<int>(all.begin(), all.end()), made->rank);
  *comm_graph = self.add(std::move(made));
  return {};
}

base::Status graph_map(core::Rank& self, Comm& comm, int nnodes, const int index[], const int edges[],
                       int* newrank) {
  const std::span<const int> ends(index, static_cast<std::size_t>(nnodes));
  CLUMP_TRY(check_graph(ends, edges, comm.size()));
  base::Ref<const core::Group> group;
  std::string why_not;
  CLUMP_TRY(place_nodes(comm, ends, edges, true, group, why_not));
  *newrank = group->rank_of(self.number);
  return {};
}

base::Status graphdims_get(core::Rank&, Comm& comm, int* nnodes, int* nedges) {
  const Graph* graph = nullptr;
  CLUMP_TRY(find_graph(comm, graph));
  *nnodes = static_cast<int>(graph->index().size());
  *nedges = static_cast<int>(graph->edges().size());
  return {};
}

base::Status graph_get(core::Rank&, Comm& comm, int maxindex, int maxedges, int index[], int edges[]) {
  const Graph* graph = nullptr;
  CLUMP_TRY(find_graph(comm, graph));
  CLUMP_TRY(check_room("maxindex", maxindex, graph->index().size(), "nodes"));
  CLUMP_TRY(check_room("maxedges", maxedges, graph->edges().size(), "edges"));
  std::copy(graph->index().begin(), graph->index().end(), index);
  std::copy(graph->edges().begin(), graph->edges().end(), edges);
  return {};
}

base::Status graph_neighbors_count(core::Rank&, Comm& comm, int rank, int* nneighbors) {
  const Graph* graph = nullptr;
  CLUMP_TRY(find_graph(comm, graph));
  *nneighbors = static_cast<int>(graph->neighbours_of(rank).size());
  return {};
}

base::Status graph_neighbors(core::Rank&, Comm& comm, int rank, int maxneighbors, int neighbors[]) {
  const Graph* graph = nullptr;
  CLUMP_TRY(find_graph(comm, graph));
  const std::span<const int> found = graph->neighbours_of(rank);
  CLUMP_TRY(check_room("maxneighbors", maxneighbors, found.size(), "neighbours"));
  std::copy(found.begin(), found.end(), neighbors);
  return {};
}

base::Status dist_graph_create_adjacent(core::Rank&, Comm& comm_old, int indegree, const int sources[],
                                        const int sourceweights[], int outdegree, const int destinations[],
                                        const int destweights[], core::Info* info, int reorder,
                                        MPI_Comm* comm_dist_graph) {
  const std::span<const int> in(sources, static_cast<std::size_t>(indegree));
  const std::span<const int> out(destinations, static_cast<std::size_t>(outdegree));
  CLUMP_TRY(check_ranks("sources", in, comm_old));
  CLUMP_TRY(check_ranks("destinations", out, comm_old));
  bool in_weighted = false, out_weighted = false;
  std::span<const int> in_weights, out_weights;
  CLUMP_TRY(read_weights("sourceweights", sourceweights, indegree, in_weighted, in_weights));
  CLUMP_TRY(read_weights("destweights", destweights, outdegree, out_weighted, out_weights));
  if (in_weighted != out_weighted)
    return base::fail(
        MPI_ERR_ARG, "{} is MPI_UNWEIGHTED, but {} is not; a graph has weights everywhere or nowhere",
        in_weighted ? "destweights" : "sourceweights", in_weighted ? "sourceweights" : "destweights");
  const auto edges = [](std::span<const int> ranks, std::span<const int> weights) {
    return Edges{{ranks.begin(), ranks.end()}, {weights.begin(), weights.end()}};
  };
  return make_dist_graph(comm_old, {edges(in, in_weights), edges(out, out_weights), in_weighted}, info,
                         reorder != 0, comm_dist_graph);
}

base::Status dist_graph_create(core::Rank&, Comm& comm_old, int n, const int sources[], const int degrees[],
                               const int destinations[], const int weights[], core::Info* info, int reorder,
                               MPI_Comm* comm_dist_graph) {
  const std::span<const int> from(sources, static_cast<std::size_t>(n));
  CLUMP_TRY(check_ranks("sources", from, comm_old));
  int edges = 0;
  for (int i = 0; i < n; ++i) {
    if (degrees[i] < 0)
      return base::fail(MPI_ERR_ARG, "degrees[{}] is {}; it must be 0 or more", i, degrees[i]);
    if (__builtin_add_overflow(edges, degrees[i], &edges))
      return base::fail(MPI_ERR_ARG, "degrees add up to more than an int holds");
  }
  CLUMP_TRY(check::array({"destinations", destinations}, edges));
  const std::span<const int> to(destinations, static_cast<std::size_t>(edges));
  CLUMP_TRY(check_ranks("destinations", to, comm_old));
  bool weighted = false;
  std::span<const int> given;
  CLUMP_TRY(read_weights("weights", weights, edges, weighted, given));

  std::vector<coll::SparseRecord> records = records_of(from, degrees, to, given);
  CLUMP_TRY(coll::deliver(comm_old, records));
  return make_dist_graph(
      comm_old,
      {edges_at(End::kDestination, records, weighted), edges_at(End::kSource, records, weighted), weighted},
      info, reorder != 0, comm_dist_graph);
}

base::Status dist_graph_neighbors_count(core::Rank&, Comm& comm, int* indegree, int* outdegree,
                                        int* weighted) {
  const DistGraph* graph = nullptr;
  CLUMP_TRY(find_dist_graph(comm, graph));
  *indegree = graph->sources().blocks;
  *outdegree = graph->destinations().blocks;
  *weighted = graph->weighted() ? 1 : 0;
  return {};
}

base::Status dist_graph_neighbors(core::Rank&, Comm& comm, int maxindegree, int sources[],
                                  int sourceweights[], int maxoutdegree, int destinations[],
                                  int destweights[]) {
  const DistGraph* graph = nullptr;
  CLUMP_TRY(find_dist_graph(comm, graph));
  write_neighbours(graph->sources(), graph->source_weights(), maxindegree, sources, sourceweights);
  write_neighbours(graph->destinations(), graph->destination_weights(), maxoutdegree, destinations,
                   destweights);
  return {};
}

}  // namespace clump::mpi
