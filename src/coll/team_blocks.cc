// The collectives of a team whose blocks may differ in size: leaders move the blocks of the ranks of their
// group, from where one rank has them to where another one wants them. Each receiver is told if a block that
// came to it has not the size that it expects.
#include <algorithm>

#include "coll/disagree.h"
#include "coll/pieces.h"
#include "coll/team_state.h"

namespace clump::coll {

base::Status Team::exchange(int rank, Collective collective, int root, const Blocks& out, const Blocks& in) {
  Slot& me = slots_[rank];
  me.buffers->set(out, in);
  return meet_for_blocks(me, Word(collective, Algorithm::kTeamLeads, root, false, false, me.broadcasts));
}

base::Status Team::meet_for_blocks(Slot& me, Word call) {
  me.call = call;
  me.bytes = 0;  // is not the same on all ranks, and nothing depends on it
  meet(me, nullptr);
  if (!me.settled) [[likely]]
    return {};
  depart(me);
  return base::Status::from_code(me.outcome);
}

/// `from`, of `source`, is what comes to `to` of this rank.
void Team::check_block(Slot& me, int source, const Layout& to, const Layout& from) {
  if (to.bytes() == from.bytes() || me.settled) [[likely]]
    return;
  me.settled = true;
  me.outcome = base::fail(MPI_ERR_TRUNCATE, "rank {} sent {} bytes where rank {} expects {}: {}", source,
                          from.bytes(), me.rank, to.bytes(), kAdvice)
                   .code();
}

/// That the group's leader moves in this meeting. Counted once, and only if a long block asks for it.
Count Team::block_bytes(Group& group) const {
  if (group.block_bytes != Group::kNotCounted) return group.block_bytes;
  group.block_bytes = 0;
  for (const Slot* member : group.members) {
    const auto& [out, in] = *member->buffers->both;
    switch (member->call.collective()) {
      case Collective::kGatherv:
        group.block_bytes += out[member->call.root()].bytes();
        break;
      case Collective::kScatterv:
        group.block_bytes += in[member->call.root()].bytes();
        break;
      case Collective::kNeighbours:
        for (const auto& incoming : member->buffers->neighbourhood->incoming)
          group.block_bytes += in[incoming.to].bytes();
        break;
      default:
        for (int source = 0; source < size_; ++source) group.block_bytes += in[source].bytes();
    }
  }
  return group.block_bytes;
}

// What comes to this rank; but a gather is carried to its root by everyone, as others would only look on.
void Team::move_blocks(Slot& me) {
  const auto& [out, in] = *me.buffers->both;
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
void Team::swap_block(Slot& me, int peer) {
  const Exchange& theirs = *buffers_[peer].both;
  const Layout mine = me.buffers->both->in[peer], other = theirs.in[me.rank];
  check_block(me, peer, mine, theirs.out[me.rank]);
  if (theirs.out != theirs.in && mine.bytes() > 0) {
    me.settled = true;
    me.outcome =
        base::fail(MPI_ERR_BUFFER, "rank {} passes MPI_IN_PLACE where rank {} does not", me.rank, peer)
            .code();
  } else if (swaps_with(me.rank, peer)) {
    swap(mine, other, std::min(mine.bytes(), other.bytes()));
  }
}

}  // namespace clump::coll
