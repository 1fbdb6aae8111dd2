#include "coll/algorithms/registry.h"

#include <array>

#include "coll/algorithms/algorithms.h"
#include "coll/algorithms/pieces.h"

namespace clump::coll {

namespace {

using enum Collective;
using enum Algorithm;

struct Row {
  Collective collective;
  Algorithm algorithm;
  void (*build)(Schedule& s, const Call& call);
};

// clang-format off
constexpr Row kRows[] = {
    {kBarrier, kTwoStages, [](Schedule& s, const Call&) { barrier_two_stages(s); }},
    {kBarrier, kDirect, [](Schedule& s, const Call&) { barrier_direct(s); }},
    {kBarrier, kDissemination, [](Schedule& s, const Call&) { barrier_dissemination(s); }},

    {kBroadcast, kTwoStages, [](Schedule& s, const Call& c) { broadcast_two_stages(s, c.send, c.root); }},
    {kBroadcast, kBinomial, [](Schedule& s, const Call& c) { broadcast_binomial(s, c.send, c.root); }},
    {kBroadcast, kScatterAllgather, [](Schedule& s, const Call& c) { broadcast_scatter_allgather(s, c.send, c.root); }},

    {kGather, kTwoStages, [](Schedule& s, const Call& c) { gather_two_stages(s, c.send, c.recv, c.root); }},
    {kGather, kBinomial, [](Schedule& s, const Call& c) { gather_binomial(s, c.send, c.recv, c.root); }},
    {kGather, kDirect, [](Schedule& s, const Call& c) { gather_direct(s, c.send, equal_blocks(s, c.recv), c.root); }},
    {kGatherv, kTwoStages, [](Schedule& s, const Call& c) { gatherv_two_stages(s, c.send, *c.recv_blocks, c.root); }},
    {kGatherv, kDirect, [](Schedule& s, const Call& c) { gather_direct(s, c.send, *c.recv_blocks, c.root); }},

    {kScatter, kTwoStages, [](Schedule& s, const Call& c) { scatter_two_stages(s, c.send, c.recv, c.root); }},
    {kScatter, kBinomial, [](Schedule& s, const Call& c) { scatter_binomial(s, c.send, c.recv, c.root); }},
    {kScatter, kDirect, [](Schedule& s, const Call& c) { scatter_direct(s, equal_blocks(s, c.send), c.recv, c.root); }},
    {kScatterv, kTwoStages, [](Schedule& s, const Call& c) { scatterv_two_stages(s, *c.send_blocks, c.recv, c.root); }},
    {kScatterv, kDirect, [](Schedule& s, const Call& c) { scatter_direct(s, *c.send_blocks, c.recv, c.root); }},

    {kAllgather, kTwoStages, [](Schedule& s, const Call& c) { allgather_two_stages(s, c.send, c.recv); }},
    {kAllgather, kGatherBroadcast, [](Schedule& s, const Call& c) { allgather_gather_broadcast(s, c.send, c.recv); }},
    {kAllgather, kBruck, [](Schedule& s, const Call& c) { allgather_bruck(s, c.send, c.recv); }},
    {kAllgather, kRing, [](Schedule& s, const Call& c) { allgather_ring(s, c.send, equal_blocks(s, c.recv)); }},
    {kAllgatherv, kTwoStages, [](Schedule& s, const Call& c) { allgatherv_two_stages(s, c.send, *c.recv_blocks); }},
    {kAllgatherv, kRing, [](Schedule& s, const Call& c) { allgather_ring(s, c.send, *c.recv_blocks); }},

    {kAlltoall, kTwoStages, [](Schedule& s, const Call& c) { alltoall_two_stages(s, c.send, c.recv); }},
    {kAlltoall, kDirect, [](Schedule& s, const Call& c) { alltoall_direct(s, equal_blocks(s, c.send), equal_blocks(s, c.recv)); }},
    {kAlltoallv, kTwoStages, [](Schedule& s, const Call& c) { alltoallv_two_stages(s, *c.send_blocks, *c.recv_blocks); }},
    {kAlltoallv, kDirect, [](Schedule& s, const Call& c) { alltoall_direct(s, *c.send_blocks, *c.recv_blocks); }},

    {kReduce, kTwoStages, [](Schedule& s, const Call& c) { reduce_two_stages(s, c.send, c.recv, c.root); }},
    {kReduce, kDirect, [](Schedule& s, const Call& c) { reduce_direct(s, c.send, c.recv, c.root); }},
    {kReduce, kChain, [](Schedule& s, const Call& c) { reduce_chain(s, c.send, c.recv, c.root); }},
    {kReduce, kRing, [](Schedule& s, const Call& c) { reduce_ring(s, c.send, c.recv, c.root); }},
    {kReduce, kBinomial, [](Schedule& s, const Call& c) { reduce_binomial(s, c.send, c.recv, c.root); }},

    {kAllreduce, kTwoStages, [](Schedule& s, const Call& c) { allreduce_two_stages(s, c.send, c.recv); }},
    {kAllreduce, kReduceBroadcast, [](Schedule& s, const Call& c) { allreduce_reduce_broadcast(s, c.send, c.recv); }},
    {kAllreduce, kRing, [](Schedule& s, const Call& c) { allreduce_ring(s, c.send, c.recv); }},
    {kAllreduce, kRecursiveDoubling, [](Schedule& s, const Call& c) { allreduce_recursive_doubling(s, c.send, c.recv); }},

    {kReduceScatter, kDirect, reduce_scatter_direct},
    {kReduceScatter, kReduceThenScatter, reduce_then_scatter},

    {kScan, kTwoStages, [](Schedule& s, const Call& c) { scan_by(s, c, prefix_two_stages); }},
    {kScan, kChain, [](Schedule& s, const Call& c) { scan_by(s, c, prefix_chain); }},
    {kScan, kPrefixDoubling, [](Schedule& s, const Call& c) { scan_by(s, c, prefix); }},
};
// clang-format on

using Build = void (*)(Schedule& s, const Call& call);
using Table = std::array<std::array<Build, kAlgorithms>, kCollectives>;

// By collective and algorithm; null: there is no such row.
constexpr Table kBuilders = [] {
  Table table{};
  for (const Row& row : kRows)
    table[static_cast<std::size_t>(row.collective)][static_cast<std::size_t>(row.algorithm)] = row.build;
  return table;
}();

Count all_bytes(const Schedule& s, const Blocks& blocks) {
  Count bytes = 0;
  for (int i = 0; i < s.size(); ++i) bytes += blocks[i].bytes();
  return bytes;
}

/// Whether there is no data, on any rank, so that no messages are needed either.
bool moves_nothing(const Schedule& s, const Call& call) {
  if (combines(call.collective)) return call.send.count == 0;
  if (has_equal_blocks(call.collective) || call.collective == kBroadcast) return call.bytes == 0;
  return call.collective == kAllgatherv && all_bytes(s, *call.recv_blocks) == 0;
}

/// One rank alone: what it sends is what it receives. No algorithm is used, so none is counted.
void copy_own(Schedule& s, const Call& call) {
  if (call.collective == kBroadcast || (call.collective == kScan && call.exclusive)) return;
  s.copy(call.recv_blocks != nullptr ? (*call.recv_blocks)[0] : call.recv,
         call.send_blocks != nullptr ? (*call.send_blocks)[0] : call.send);
}

/// An allgather by way of another rank brings all ranks the same, whatever a rank has sent itself.
void compare_own_blocks(Schedule& s, const Call& call) {
  const Count sent = call.send.bytes(), expected = block_bytes(call.recv, s.size());
  if (sent != expected) s.act([&s, sent, expected] { return s.unequal(s.rank(), sent, expected); });
}

Algorithm choose(Schedule& s, const Call& call) {
  if (combines(call.collective)) return s.choose(call.collective, call.send);
  // The bytes of one block are not the same on all ranks.
  if (call.collective == kAllgatherv)
    return s.choose(call.collective, all_bytes(s, *call.recv_blocks) / s.size());
  return s.choose(call.collective, call.bytes);
}

}  // namespace

void write(Schedule& s, const Call& call) {
  if (s.is_inter()) return inter::write(s, call);
  if (moves_nothing(s, call)) return;
  if (call.collective == kNeighbours)
    return exchange_with_neighbours(s, s.topology(), *call.send_blocks, *call.recv_blocks);
  if (call.in_place && call.collective == kAlltoall) return alltoall_in_place(s, equal_blocks(s, call.recv));
  if (call.in_place && call.collective == kAlltoallv) return alltoall_in_place(s, *call.recv_blocks);
  if (s.size() == 1 && call.collective != kBarrier) return copy_own(s, call);
  if (call.collective == kAllgather) compare_own_blocks(s, call);
  const Algorithm algorithm = choose(s, call);
  kBuilders[static_cast<std::size_t>(call.collective)][static_cast<std::size_t>(algorithm)](s, call);
}

}  // namespace clump::coll
