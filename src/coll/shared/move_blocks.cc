// Collectives whose blocks may differ in size: they are moved from where one rank has them to where another
// one wants them. Each receiver is told if a block that came to it has not the size that it expects.
#include <algorithm>

#include "coll/algorithms/pieces.h"
#include "coll/check/mismatch_errors.h"
#include "coll/shared/shared_state.h"

namespace clump::coll {

/// `from`, of `source`, is what comes to `to` of this rank.
void SharedCollective::check_block(ArgumentSlot& me, int source, const Layout& to, const Layout& from) {
  if (to.bytes() == from.bytes() || me.is_settled()) [[likely]]
    return;
  me.settle(base::fail(MPI_ERR_TRUNCATE, "rank {} sent {} bytes where rank {} expects {}: {}", source,
                       from.bytes(), me.rank, to.bytes(), kAdvice));
}

/// That the ranks of a group move. Counted once, and only if a long block asks for it.
Count SharedCollective::block_bytes(LocalGroup& group) const {
  if (const Count known = group.block_bytes.load(std::memory_order_relaxed); known != LocalGroup::kNotCounted)
    return known;
  Count bytes = 0;
  for (const ArgumentSlot* member : group.members) {
    const auto& [out, in] = *member->buffers->both;
    const Collective collective = member->call.collective();
    const bool is_gather = collective == Collective::kGatherv;
    if (is_gather || collective == Collective::kScatterv) {
      bytes += (is_gather ? out : in)[member->call.root()].bytes();
      continue;
    }
    const int blocks = collective == Collective::kNeighbours ? member->buffers->neighbourhood->blocks : size_;
    for (int block = 0; block < blocks; ++block) bytes += in[block].bytes();
  }
  group.block_bytes.store(bytes, std::memory_order_relaxed);
  return bytes;
}

// A rank fetches its incoming blocks. In a gather each rank copies its block to the root instead, because the
// others would have no work.
void SharedCollective::move_blocks(ArgumentSlot& me) {
  const Blocks &out = me.buffers->both->out, &in = me.buffers->both->in;
  const int root = me.call.root();
  const auto given_by = [&](int source) { return buffers_[source].both->out[me.rank]; };
  const auto take = [&](int source) {
    const Layout to = in[source], from = given_by(source);
    fetch(me, to, from);
    check_block(me, source, to, from);
  };
  switch (me.call.collective()) {
    case Collective::kGatherv:
      fetch(me, buffers_[root].both->in[me.rank], out[root]);
      for (int source = 0; me.rank == root && source < size_; ++source)
        check_block(me, source, in[source], given_by(source));
      return;
    case Collective::kScatterv:
      return take(root);
    default:
      for (int i = 0, peer = me.rank; i < size_; ++i, peer = wrap(peer + 1, size_))
        out == in ? swap_block(me, peer) : take(peer);
  }
}

// All ranks call alltoallv in place, or none does; but of one without data this cannot be told.
void SharedCollective::swap_block(ArgumentSlot& me, int peer) {
  const Exchange& theirs = *buffers_[peer].both;
  const Layout mine = me.buffers->both->in[peer], other = theirs.in[me.rank];
  check_block(me, peer, mine, theirs.out[me.rank]);
  if (theirs.out != theirs.in && mine.bytes() > 0) {
    me.settle(
        base::fail(MPI_ERR_BUFFER, "rank {} passes MPI_IN_PLACE where rank {} does not", me.rank, peer));
  } else if (swaps_with(me.rank, peer)) {
    swap(mine, other, std::min(mine.bytes(), other.bytes()));
  }
}

}  // namespace clump::coll
