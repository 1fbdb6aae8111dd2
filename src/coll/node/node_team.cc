#include "coll/node/node_team.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "coll/algorithms/pieces.h"
#include "coll/check/mismatch_errors.h"
#include "core/awaited.h"
#include "core/rank.h"

namespace clump::coll {

struct NodeTeam::Place {
  std::byte allocator[net::SharedAllocator::kOwn];
  alignas(64) std::atomic<std::uint32_t> arrived;
  alignas(64) std::atomic<std::uint32_t> round;  // the last one that is complete
  alignas(64) std::atomic<std::uint32_t> gone;   // ranks that will not come again
  std::atomic<bool> differ[2];                   // of each set: not all have called the same
  // Behind it, for each of the two sets: the signature and the slot of each rank.
  std::byte* rest() { return reinterpret_cast<std::byte*>(this + 1); }
};

std::size_t NodeTeam::bytes_for(int ranks) {
  return sizeof(Place) + 2 * static_cast<std::size_t>(ranks) * (sizeof(Signature) + kRoom);
}

base::Ref<NodeTeam> NodeTeam::found(core::Comm& comm) {
  net::SharedAllocator* const shared_allocator = comm.owner.world.shared_allocator.get();
  if (shared_allocator == nullptr || comm.is_inter()) return {};
  for (int rank = 0; rank < comm.size(); ++rank)
    if (shared_allocator->port_of(comm.group->world_rank(rank)) < 0) return {};  // it is on another node
  // One call may make several communicators with one context; no rank is in two of them.
  const std::uint64_t key = std::uint64_t{static_cast<std::uint32_t>(comm.context)} << 32 |
                            static_cast<std::uint32_t>(comm.group->world_rank(0));
  const std::int64_t at = shared_allocator->share(key, comm.size(), {bytes_for(comm.size()), sizeof(Place)});
  if (at < 0) return {};
  return base::Ref<NodeTeam>(new NodeTeam(comm, at));
}

NodeTeam::NodeTeam(const core::Comm& comm, std::int64_t at)
    : core::Team(Kind::kNode),
      shared_allocator_(*comm.owner.world.shared_allocator),
      self_(comm.owner.number),
      rank_(comm.rank),
      size_(comm.size()),
      at_(at),
      place_(*reinterpret_cast<Place*>(shared_allocator_.at(at))),
      round_(place_.round.load(std::memory_order_relaxed)) {
  for (int rank = 0; rank < size_; ++rank)
    ports_.push_back(shared_allocator_.port_of(comm.group->world_rank(rank)));
  std::ranges::sort(ports_);
  ports_.erase(std::unique(ports_.begin(), ports_.end()), ports_.end());
}

// Counts the ranks that have left, not those that are in the place: all ranks of a communicator find the
// place, but if they never meet there, one may leave before another one comes.
NodeTeam::~NodeTeam() {
  // acq_rel: the last one to leave comes after all that the others did here.
  if (place_.gone.fetch_add(1, std::memory_order_acq_rel) + 1 != static_cast<std::uint32_t>(size_)) return;
  shared_allocator_.release(at_, bytes_for(size_));
}

/// No rank still reads the signature and the slot that this call writes: see the head of the header.
void NodeTeam::begin(Collective collective, int root, Count bytes) {
  set_ ^= 1;
  stride_ = static_cast<std::size_t>(bytes + 63) / 64 * 64;
  signature(rank_) = {collective, caller_, 0, static_cast<std::uint16_t>(bytes), root, 0};
}

bool NodeTeam::begin_both(Collective collective, int root, Count bytes, Count expected) {
  begin(collective, root, bytes);
  if (expected == bytes) [[likely]]
    return true;
  signature(rank_).mismatched = 1;
  signature(rank_).other = expected;
  return false;
}

template <typename Last>
base::Status NodeTeam::meet(Last last) {
  const std::uint32_t before = round_++;
  // acq_rel: the last one sees what all have given.
  if (place_.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<std::uint32_t>(size_)) {
    place_.arrived.store(0, std::memory_order_relaxed);  // no rank arrives again before the round is complete
    bool differ = false;
    for (int rank = 0; rank < size_; ++rank) differ = differ || !signature(rank).agrees(signature(rank_));
    place_.differ[set_].store(differ, std::memory_order_relaxed);  // by release of the round
    if (!differ) last();
    place_.round.store(round_, std::memory_order_release);  // release: pairs with the wait of the other ranks
    shared_allocator_.ring(ports_);
  } else {
    const core::Waiting told(*this);
    shared_allocator_.wait(self_, place_.round, before);
  }
  return place_.differ[set_].load(std::memory_order_relaxed) ? complain() : base::Status();
}

/// As teams do (shared/mismatch.cc), but no rank gets any data.
base::Status NodeTeam::complain() {
  const Signature& mine = signature(rank_);
  for (int rank = 0; rank < size_; ++rank) {
    const Signature& other = signature(rank);
    if (other.collective != mine.collective || other.caller != mine.caller)
      return different_calls(rank_, name_of(mine.collective, mine.caller), rank,
                             name_of(other.collective, other.caller));
    if (other.root != mine.root) return different_roots(rank_, mine.root, rank, other.root);
    CLUMP_TRY(compare_blocks(rank));
  }
  return {};
}

/// The first block that is not of the size that its receiver expects, between the caller and `rank`; or what
/// is wrong with what `rank` passes.
base::Status NodeTeam::compare_blocks(int rank) {
  const Signature &mine = signature(rank_), &theirs = signature(rank);
  if (theirs.bytes != mine.bytes)
    return base::fail(MPI_ERR_TRUNCATE, "rank {} passes blocks of {} bytes where rank {} passes {}: {}", rank,
                      theirs.bytes, rank_, mine.bytes, kAdvice);
  if (theirs.mismatched == 0) return {};
  // `bytes` is the size that a rank sends to each of the others, but a scatter's root has it in `other`.
  const Count ranks = mine.collective == Collective::kAlltoall ? size_ : 1;
  const bool scatters = mine.collective == Collective::kScatter;
  const Count one = mine.bytes / ranks, other = theirs.other / ranks;
  return base::fail(MPI_ERR_TRUNCATE, "rank {} sent {} bytes where rank {} expects {}: {}",
                    scatters ? rank : rank_, scatters ? other : one, scatters ? rank_ : rank,
                    scatters ? one : other, kAdvice);
}

NodeTeam::Signature& NodeTeam::signature(int rank) {
  return reinterpret_cast<Signature*>(
      place_.rest())[set_ * static_cast<std::size_t>(size_) + static_cast<std::size_t>(rank)];
}

std::byte* NodeTeam::slot(int rank) {
  const auto ranks = static_cast<std::size_t>(size_);
  return place_.rest() + 2 * ranks * sizeof(Signature) + set_ * ranks * kRoom +
         static_cast<std::size_t>(rank) * stride_;
}

void NodeTeam::give(int rank, const Layout& from) {
  const Count bytes = from.bytes();
  datatype::pack({slot(rank), static_cast<std::size_t>(bytes)}, from, 0);
}

void NodeTeam::get(int rank, Count offset, const Layout& to) {
  datatype::unpack(to, 0, {slot(rank) + offset, static_cast<std::size_t>(to.bytes())});
}

base::Status NodeTeam::run(const Call& call) {
  caller_ = call.caller;
  switch (call.collective) {
    case Collective::kBroadcast:
      return broadcast(call.send, call.root);
    case Collective::kGather:
      return gather(call.send, call.recv, call.root);
    case Collective::kScatter:
      return scatter(call.send, call.recv, call.root);
    case Collective::kAllgather:
      return allgather(call.send, call.recv);
    case Collective::kAlltoall:
      return alltoall(call.send, call.recv);
    case Collective::kReduce:
      return reduce(*call.reduction, call.send, call.recv, call.root);
    case Collective::kAllreduce:
      return allreduce(*call.reduction, call.send, call.recv);
    default:  // no other collective has a rule for it
      return barrier();
  }
}

base::Status NodeTeam::barrier() {
  begin(Collective::kBarrier, 0, 0);
  CLUMP_TRY(meet([] {}));
  return {};
}

base::Status NodeTeam::broadcast(const Layout& buffer, int root) {
  begin(Collective::kBroadcast, root, buffer.bytes());
  if (rank_ == root) give(root, buffer);
  CLUMP_TRY(meet([] {}));
  if (rank_ != root) get(root, 0, buffer);
  return {};
}

base::Status NodeTeam::gather(const Layout& mine, const Layout& all, int root) {
  begin_both(Collective::kGather, root, mine.bytes(), rank_ == root ? block_bytes(all, size_) : mine.bytes());
  // The root's own block is read from `mine`, or is in place.
  if (rank_ != root) give(rank_, mine);
  CLUMP_TRY(meet([] {}));
  if (rank_ != root) return {};
  for (int rank = 0; rank < size_; ++rank)
    if (rank != root) get(rank, 0, piece(all, size_, rank));
  if (!is_in_place(piece(all, size_, root), mine))
    datatype::copy(piece(all, size_, root), mine, 0, mine.bytes());
  return {};
}

base::Status NodeTeam::scatter(const Layout& all, const Layout& mine, int root) {
  const bool fits = begin_both(Collective::kScatter, root, mine.bytes(),
                               rank_ == root ? block_bytes(all, size_) : mine.bytes());
  if (rank_ == root && fits) {
    for (int rank = 0; rank < size_; ++rank)
      if (rank != root) give(rank, piece(all, size_, rank));
    if (!is_in_place(piece(all, size_, root), mine))
      datatype::copy(mine, piece(all, size_, root), 0, mine.bytes());
  }
  CLUMP_TRY(meet([] {}));
  if (rank_ != root) get(rank_, 0, mine);
  return {};
}

base::Status NodeTeam::allgather(const Layout& mine, const Layout& all) {
  begin_both(Collective::kAllgather, 0, mine.bytes(), block_bytes(all, size_));
  give(rank_, mine);
  CLUMP_TRY(meet([] {}));
  for (int rank = 0; rank < size_; ++rank) get(rank, 0, piece(all, size_, rank));
  return {};
}

base::Status NodeTeam::alltoall(const Layout& out, const Layout& in) {
  begin_both(Collective::kAlltoall, 0, out.bytes(), in.bytes());
  give(rank_, out);
  CLUMP_TRY(meet([] {}));
  const Count block = out.bytes() / size_;
  for (int rank = 0; rank < size_; ++rank) get(rank, rank_ * block, piece(in, size_, rank));
  return {};
}

void NodeTeam::combine(const Reduction& reduction, const Layout& in) {
  for (int rank = size_ - 2; rank >= 0; --rank)
    reduction.op->apply(slot(rank), slot(size_ - 1), in.count, *in.type, reduction.handle);
}

base::Status NodeTeam::reduce(const Reduction& reduction, const Layout& in, const Layout& out, int root) {
  begin(Collective::kReduce, root, in.bytes());
  give(rank_, in);
  CLUMP_TRY(meet([&] { combine(reduction, in); }));
  if (rank_ == root) get(size_ - 1, 0, out);
  return {};
}

base::Status NodeTeam::allreduce(const Reduction& reduction, const Layout& in, const Layout& out) {
  begin(Collective::kAllreduce, 0, in.bytes());
  give(rank_, in);
  CLUMP_TRY(meet([&] { combine(reduction, in); }));
  get(size_ - 1, 0, out);
  return {};
}

}  // namespace clump::coll
