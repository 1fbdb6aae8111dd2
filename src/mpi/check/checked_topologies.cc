// Under --check: what goes to which neighbour, and what comes from there (MPI-5.0 sections 8.6 to 8.8), and
// what the ranks that make a topology have to agree about (section 8.5). Arguments are those of the bodies
// (neighbourhoods.cc, topologies.cc, graphs.cc).
#include <fmt/ranges.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi/bodies.h"
#include "mpi/check/checked_calls.h"

namespace clump::mpi::checked {

namespace {

using base::Status;
using coll::Blocks;
using coll::Check;
using core::Comm;
using core::Rank;
using datatype::Datatype;
using datatype::Layout;

/// Each block of `out` goes to a neighbour, or all of it to each of them.
enum class Sends : std::uint8_t { kBlocks, kAllToEach };

Status exchange(Comm& comm, const Called& called, Check::Call made, Sends how, const Blocks& out,
                const Blocks& in) {
  for (const core::Neighbour& one : comm.topology->destinations().in_order) {
    made.to.push_back({one.rank, out[one.block]});
    if (how == Sends::kBlocks || made.sends.empty()) made.sends.push_back(out[one.block]);
  }
  for (const core::Neighbour& one : comm.topology->sources().in_order) {
    made.from.push_back({one.rank, in[one.block]});
    made.receives.push_back(in[one.block]);
  }
  return check(comm, called, std::move(made));
}

Blocks equal_blocks(const void* buffer, Count count, const Datatype& type) {
  return {const_cast<void*>(buffer), count, &type};
}

int sources_of(const Comm& comm) { return comm.topology->sources().blocks; }
int destinations_of(const Comm& comm) { return comm.topology->destinations().blocks; }

/// Numbers that all ranks have to pass, and the words for them: "dims 2 3, reorder 0".
class Alike {
 public:
  void add(const char* name, std::span<const int> values) {
    words_ += fmt::format("{}{} {}", words_.empty() ? "" : ", ", name, fmt::join(values, " "));
    add(values.size());
    for (const int value : values) add(static_cast<std::uint64_t>(value));
  }
  void add_logical(const char* name, std::span<const int> values) {
    std::vector<int> logical;
    for (const int value : values) logical.push_back(value != 0 ? 1 : 0);
    add(name, logical);
  }
  void write(Check::Call& call) const {
    call.arguments = hash_ | 1;
    call.words = words_;
  }

 private:
  void add(std::uint64_t value) { hash_ = (hash_ ^ value) * 0x9e3779b97f4a7c15 ^ hash_ >> 29; }
  std::string words_;
  std::uint64_t hash_ = 1;
};

std::span<const int> some(const int values[], int count) {
  return values == nullptr || count <= 0 ? std::span<const int>()
                                         : std::span<const int>(values, static_cast<std::size_t>(count));
}

Status agree(Comm& comm, const Called& called, const Alike& alike) {
  Check::Call made = call(called);
  alike.write(made);
  return check(comm, called, std::move(made));
}

/// An edge between two ranks. Those that do not exist are for the body to refuse.
void add_edges(std::vector<Check::Call::Link>& links, std::span<const int> peers, const Comm& comm) {
  for (const int peer : peers)
    if (peer >= 0 && peer < comm.size()) links.push_back({peer, {nullptr, 1, datatype::predefined(MPI_INT)}});
}

}  // namespace

Status neighbor_allgather(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype,
                          void* recvbuf, Count recvcount, const Datatype& recvtype, Comm& comm,
                          const Called& called) {
  return exchange(comm, called, call(called), Sends::kAllToEach, Blocks(layout(sendbuf, sendcount, sendtype)),
                  equal_blocks(recvbuf, recvcount, recvtype));
}

Status neighbor_allgatherv(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype,
                           void* recvbuf, Counts recvcounts, Counts displs, const Datatype& recvtype,
                           Comm& comm, const Called& called) {
  Check::Call made = call(called);
  made.arrays = {array("recvcounts", recvcounts, sources_of(comm)),
                 array("displs", displs, sources_of(comm))};
  return exchange(comm, called, std::move(made), Sends::kAllToEach,
                  Blocks(layout(sendbuf, sendcount, sendtype)),
                  blocks(recvbuf, recvcounts, displs, recvtype));
}

Status neighbor_alltoall(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
                         Count recvcount, const Datatype& recvtype, Comm& comm, const Called& called) {
  return exchange(comm, called, call(called), Sends::kBlocks, equal_blocks(sendbuf, sendcount, sendtype),
                  equal_blocks(recvbuf, recvcount, recvtype));
}

Status neighbor_alltoallv(Rank&, const void* sendbuf, Counts sendcounts, Counts sdispls,
                          const Datatype& sendtype, void* recvbuf, Counts recvcounts, Counts rdispls,
                          const Datatype& recvtype, Comm& comm, const Called& called) {
  Check::Call made = call(called);
  made.arrays = {array("sendcounts", sendcounts, destinations_of(comm)),
                 array("sdispls", sdispls, destinations_of(comm)),
                 array("recvcounts", recvcounts, sources_of(comm)),
                 array("rdispls", rdispls, sources_of(comm))};
  return exchange(comm, called, std::move(made), Sends::kBlocks,
                  blocks(sendbuf, sendcounts, sdispls, sendtype),
                  blocks(recvbuf, recvcounts, rdispls, recvtype));
}

Status neighbor_alltoallw(Rank& self, const void* sendbuf, Counts sendcounts, const MPI_Aint sdispls[],
                          const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts,
                          const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], Comm& comm,
                          const Called& called) {
  const int out = destinations_of(comm), in = sources_of(comm);
  Check::Call made = call(called);
  made.arrays = {array("sendcounts", sendcounts, out),  array("sdispls", Counts(sdispls), out),
                 array("sendtypes", sendtypes, out),    array("recvcounts", recvcounts, in),
                 array("rdispls", Counts(rdispls), in), array("recvtypes", recvtypes, in)};
  const std::vector<const Datatype*> sent = resolve(self, sendtypes, out),
                                     received = resolve(self, recvtypes, in);
  return exchange(comm, called, std::move(made), Sends::kBlocks,
                  typed_blocks(sendbuf, sendcounts, sdispls, sent.data()),
                  typed_blocks(recvbuf, recvcounts, rdispls, received.data()));
}

Status cart_create(Rank&, Comm& comm_old, int ndims, const int dims[], const int periods[], int reorder,
                   MPI_Comm*, const Called& called) {
  Alike alike;
  alike.add("dims", some(dims, ndims));
  alike.add_logical("periods", some(periods, ndims));
  alike.add_logical("reorder", {&reorder, 1});
  return agree(comm_old, called, alike);
}

Status cart_sub(Rank&, Comm& comm, const int remain_dims[], MPI_Comm*, const Called& called) {
  Alike alike;
  int dimensions = 0;
  // Without a grid there is nothing to compare, and the body says so.
  if (comm.topology && comm.topology->kind() == MPI_CART)
    CLUMP_TRY(mpi::cartdim_get(comm.owner, comm, &dimensions));
  alike.add_logical("remain_dims", some(remain_dims, dimensions));
  return agree(comm, called, alike);
}

Status graph_create(Rank&, Comm& comm_old, int nnodes, const int index[], const int edges[], int reorder,
                    MPI_Comm*, const Called& called) {
  Alike alike;
  const std::span<const int> nodes = some(index, nnodes);
  alike.add("index", nodes);
  alike.add("edges", some(edges, nodes.empty() ? 0 : nodes.back()));
  alike.add_logical("reorder", {&reorder, 1});
  return agree(comm_old, called, alike);
}

Status dist_graph_create_adjacent(Rank&, Comm& comm_old, int indegree, const int sources[],
                                  const int sourceweights[], int outdegree, const int destinations[],
                                  const int[], core::Info*, int reorder, MPI_Comm*, const Called& called) {
  Alike alike;
  const int weighted = sourceweights != MPI_UNWEIGHTED;
  alike.add("weights", {&weighted, 1});
  alike.add_logical("reorder", {&reorder, 1});
  Check::Call made = call(called);
  alike.write(made);
  made.are_edges = true;
  add_edges(made.to, some(destinations, outdegree), comm_old);
  add_edges(made.from, some(sources, indegree), comm_old);
  return check(comm_old, called, std::move(made));
}

Status dist_graph_create(Rank&, Comm& comm_old, int, const int[], const int[], const int[],
                         const int weights[], core::Info*, int reorder, MPI_Comm*, const Called& called) {
  Alike alike;
  const int weighted = weights != MPI_UNWEIGHTED;
  alike.add("weights", {&weighted, 1});
  alike.add_logical("reorder", {&reorder, 1});
  return agree(comm_old, called, alike);
}

}  // namespace clump::mpi::checked
