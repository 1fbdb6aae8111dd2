// What a rank says to a team, or for a pending collective, that it calls: for the collectives whose blocks are of
// one size.
#pragma once

#include "coll/shared/shared_collective.h"
#include "coll/algorithms/pieces.h"

namespace clump::coll {

/// Count of one of the blocks that a buffer has for each rank.
inline Count block_bytes(const Layout& all, int ranks) { return all.count / ranks * all.type->size(); }

inline SharedCollective::Call call_of_broadcast(const Layout& buffer, int root) {
  return {.collective = Collective::kBroadcast,
          .root = root,
          .bytes = buffer.bytes(),
          .from = buffer,
          .to = buffer};
}

inline SharedCollective::Call call_of_gather(const core::Comm& comm, const Layout& mine, const Layout& all, int root) {
  return {.collective = Collective::kGather,
          .root = root,
          .bytes = mine.bytes(),
          .from = mine,
          .to = all,
          .odd = comm.rank == root && block_bytes(all, comm.size()) != mine.bytes()};
}

inline SharedCollective::Call call_of_scatter(const core::Comm& comm, const Layout& all, const Layout& mine,
                                     int root) {
  return {.collective = Collective::kScatter,
          .root = root,
          .bytes = mine.bytes(),
          .from = all,
          .to = mine,
          .odd = comm.rank == root && block_bytes(all, comm.size()) != mine.bytes()};
}

inline SharedCollective::Call call_of_allgather(const core::Comm& comm, const Layout& mine, const Layout& all) {
  return {.collective = Collective::kAllgather,
          .bytes = mine.bytes(),
          .from = mine,
          .to = all,
          .odd = block_bytes(all, comm.size()) != mine.bytes()};
}

inline SharedCollective::Call call_of_alltoall(const core::Comm& comm, const Layout& out, const Layout& in) {
  const Count bytes = block_bytes(out, comm.size());
  return {.collective = Collective::kAlltoall,
          .bytes = bytes,
          .from = out,
          .to = in,
          .in_place = is_in_place(out, in),
          .odd = block_bytes(in, comm.size()) != bytes};
}

inline SharedCollective::Call call_of_reduce(const Reduction& reduction, const Layout& in, const Layout& out,
                                    int root) {
  return {.collective = Collective::kReduce,
          .root = root,
          .bytes = in.bytes(),
          .from = in,
          .to = out,
          .reduction = &reduction};
}

/// `collective` is an allreduce or a scan.
inline SharedCollective::Call call_of_reduction(Collective collective, const Reduction& reduction, const Layout& in,
                                       const Layout& out) {
  return {.collective = collective, .bytes = in.bytes(), .from = in, .to = out, .reduction = &reduction};
}

inline SharedCollective::Call call_of_exscan(const Reduction& reduction, const Layout& in, const Layout& out) {
  return {.collective = Collective::kScan,
          .bytes = in.bytes(),
          .from = in,
          .to = out,
          .exclusive = true,
          .reduction = &reduction};
}

/// Of the operands of a reduce-scatter: where the caller's begin, and how many there are.
struct Extent {
  Count first = 0, whole = 0;
};
inline Extent extent_of(const core::Comm& comm, const Numbers& counts) {
  Extent extent;
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank == comm.rank) extent.first = extent.whole;
    extent.whole += counts[rank];
  }
  return extent;
}

/// `in` is all blocks; the caller's begins with element `first`. Nobody may write to `in` meanwhile.
inline SharedCollective::Call call_of_reduce_scatter(const Reduction& reduction, const Layout& in, const Layout& out,
                                            Count first) {
  return {.collective = Collective::kReduceScatter,
          .bytes = in.bytes(),
          .from = in,
          .to = out,
          .first = first,
          .reduction = &reduction};
}

}  // namespace clump::coll
