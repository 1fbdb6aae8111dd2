// Ranks that meet with different calls: each one gets an error for the difference that it can see, and the
// data that it can get.
#include <algorithm>
#include <cstring>

#include "coll/check/mismatch_errors.h"
#include "coll/shared/shared_state.h"

namespace clump::coll {

base::Status SharedCollective::complain(const ArgumentSlot& me) {
  CLUMP_TRY(compare_calls(me));
  return compare_blocks(me);
}

base::Status SharedCollective::compare_calls(const ArgumentSlot& me) {
  const PackedSignature mine = me.call;
  for (int rank = 0; rank < size_; ++rank) {
    const PackedSignature other = slots_[rank].call;
    if (!other.same_broadcasts(mine)) return compare_broadcasts(me, slots_[rank]);
    if (other.collective() != mine.collective() || other.caller() != mine.caller())
      return different_calls(me.rank, mine.name(), rank, other.name());
    if (other.root() != mine.root()) return different_roots(me.rank, mine.root(), rank, other.root());
    if (other.exclusive() != mine.exclusive())
      return base::fail(MPI_ERR_OTHER, "rank {} calls MPI_Exscan where rank {} calls MPI_Scan",
                        mine.exclusive() ? me.rank : rank, mine.exclusive() ? rank : me.rank);
    if (other.in_place() != mine.in_place())
      return base::fail(MPI_ERR_BUFFER, "rank {} passes MPI_IN_PLACE where rank {} does not",
                        mine.in_place() ? me.rank : rank, mine.in_place() ? rank : me.rank);
  }
  return {};
}

// One of the two ranks has not read a broadcast of the ring that the other one has: it has called something
// else instead, and is there.
base::Status SharedCollective::compare_broadcasts(const ArgumentSlot& me, const ArgumentSlot& other) {
  const PackedSignature missed = broadcast(std::min(me.broadcasts, other.broadcasts) + 1);
  const bool i_have = me.broadcasts > other.broadcasts;
  const char* const mine = i_have ? missed.name() : me.call.name();
  const char* const others = i_have ? other.call.name() : missed.name();
  if (std::strcmp(mine, others) != 0) return different_calls(me.rank, mine, other.rank, others);
  return base::fail(MPI_ERR_TRUNCATE, "rank {} and rank {} do not pass the same amount of data to {}: {}",
                    me.rank, other.rank, mine, kAdvice);
}

// All call the same, with sizes that differ.
base::Status SharedCollective::compare_blocks(const ArgumentSlot& me) {
  const Collective collective = me.call.collective();
  const int root = me.call.root();
  const auto block = [&](const Layout& whole, int i) {
    return part(whole, i * (whole.count / size_), whole.count / size_);
  };
  const Buffers& mine = buffers_[me.rank];
  base::Status status;
  // One block on its way from `sender` to the caller: its size, and all of it.
  const auto compare = [&](int sender, Count wanted, Count sent) {
    if (wanted != sent && status.ok())
      status = base::fail(MPI_ERR_TRUNCATE, "rank {} sent {} bytes where rank {} expects {}: {}", sender,
                          sent, me.rank, wanted, kAdvice);
  };
  const auto take = [&](int sender, const Layout& to, const Layout& from) {
    if (to.base != from.base || to.type != from.type)
      datatype::copy(to, from, 0, std::min(to.bytes(), from.bytes()));
    compare(sender, to.bytes(), from.bytes());
  };
  for (int peer = 0; peer < size_; ++peer) {
    const ArgumentSlot& other = slots_[peer];
    const Buffers& theirs = buffers_[peer];
    switch (collective) {
      case Collective::kReduce:
      case Collective::kAllreduce:
      case Collective::kReduceScatter:
      case Collective::kScan:
        if (other.bytes != me.bytes)
          return base::fail(MPI_ERR_TRUNCATE,
                            "rank {} passes operands of {} bytes where rank {} passes {}: {}", peer,
                            other.bytes, me.rank, me.bytes, kAdvice);
        if (other.call != me.call)
          return base::fail(MPI_ERR_TYPE, "rank {} passes another kind of operation or type than rank {}: {}",
                            peer, me.rank, kAdvice);
        break;
      case Collective::kBroadcast:
        if (peer == root && me.rank != root) take(root, mine.to, theirs.from);
        break;
      case Collective::kGather:
        if (me.rank == root) take(peer, block(mine.to, peer), theirs.from);
        break;
      case Collective::kScatter:
        if (peer == root) take(root, mine.to, block(theirs.from, me.rank));
        break;
      case Collective::kAllgather:
        take(peer, block(mine.to, peer), theirs.from);
        break;
      case Collective::kAlltoall:
        if (me.call.in_place())
          compare(peer, me.bytes, other.bytes);
        else
          take(peer, block(mine.to, peer), block(theirs.from, me.rank));
        break;
      case Collective::kGatherv:
        if (me.rank == root) take(peer, mine.both->in[peer], theirs.both->out[root]);
        break;
      case Collective::kScatterv:
        if (peer == root) take(root, mine.both->in[root], theirs.both->out[me.rank]);
        break;
      case Collective::kAllgatherv:
        take(peer, mine.both->in[peer], theirs.both->out[me.rank]);
        break;
      case Collective::kAlltoallv:
        if (me.call.in_place())
          compare(peer, mine.both->in[peer].bytes(), theirs.both->out[me.rank].bytes());
        else
          take(peer, mine.both->in[peer], theirs.both->out[me.rank]);
        break;
      default:
        break;
    }
  }
  return status;
}

}  // namespace clump::coll
