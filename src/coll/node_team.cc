#include "coll/node_team.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "coll/pieces.h"
#include "core/rank.h"

namespace clump::coll {

struct NodeTeam::Place {
  std::byte allocator[net::Commons::kOwn];
  alignas(64) std::atomic<std::uint32_t> arrived;
  alignas(64) std::atomic<std::uint32_t> round;  // the last one that is complete
  alignas(64) std::atomic<std::uint32_t> users;
  // For each of the two sets a slot for each rank.
  std::byte* slots() { return reinterpret_cast<std::byte*>(this + 1); }
};

std::size_t NodeTeam::bytes_for(int ranks) {
  return sizeof(Place) + 2 * static_cast<std::size_t>(ranks) * kRoom;
}

base::Ref<NodeTeam> NodeTeam::found(core::Comm& comm) {
  net::Commons* const commons = comm.owner.world.commons.get();
  if (commons == nullptr || comm.is_inter()) return {};
  // By messages, because there is nothing else yet.
  std::int64_t at = -1;
  if (comm.rank == 0) {
    at = commons->allocate(bytes_for(comm.size()));
    if (at >= 0)
      reinterpret_cast<Place*>(commons->at(at))
          ->users.store(static_cast<std::uint32_t>(comm.size()), std::memory_order_relaxed);
  }
  static const datatype::Datatype* const byte = datatype::predefined(MPI_BYTE);
  Schedule s(comm);
  coll::broadcast(s, {&at, sizeof at, byte}, 0);
  if (!s.run().ok() || at < 0) return {};
  return base::Ref<NodeTeam>(new NodeTeam(comm, at));
}

NodeTeam::NodeTeam(const core::Comm& comm, std::int64_t at)
    : core::Team(Kind::kNode),
      commons_(*comm.owner.world.commons),
      self_(comm.owner.number),
      rank_(comm.rank),
      size_(comm.size()),
      at_(at),
      place_(*reinterpret_cast<Place*>(commons_.at(at))),
      round_(place_.round.load(std::memory_order_relaxed)) {
  for (int rank = 0; rank < size_; ++rank) ports_.push_back(commons_.port_of(comm.group->world_rank(rank)));
  std::ranges::sort(ports_);
  ports_.erase(std::unique(ports_.begin(), ports_.end()), ports_.end());
}

NodeTeam::~NodeTeam() {
  // acq_rel: the last one to leave comes after all that the others did here.
  if (place_.users.fetch_sub(1, std::memory_order_acq_rel) == 1) commons_.release(at_, bytes_for(size_));
}

template <typename Last>
void NodeTeam::meet(Last last) {
  const std::uint32_t before = round_++;
  // acq_rel: the last one sees what all have given.
  if (place_.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<std::uint32_t>(size_)) {
    place_.arrived.store(0, std::memory_order_relaxed);  // nobody arrives again before the round is complete
    last();
    place_.round.store(round_, std::memory_order_release);  // release: pairs with who waits for it
    commons_.ring(ports_);
  } else {
    commons_.wait(self_, place_.round, before);
  }
}

std::byte* NodeTeam::slot(int rank) {
  return place_.slots() + static_cast<std::size_t>(set_) * static_cast<std::size_t>(size_) * kRoom +
         static_cast<std::size_t>(rank) * stride_;
}

void NodeTeam::give(int rank, const Layout& from) {
  const Count bytes = from.bytes();
  datatype::pack({slot(rank), static_cast<std::size_t>(bytes)}, from, 0);
}

void NodeTeam::get(int rank, Count offset, const Layout& to) {
  datatype::unpack(to, 0, {slot(rank) + offset, static_cast<std::size_t>(to.bytes())});
}

void NodeTeam::barrier() {
  begin(0);
  meet([] {});
}

void NodeTeam::broadcast(const Layout& buffer, int root) {
  begin(buffer.bytes());
  if (rank_ == root) give(root, buffer);
  meet([] {});
  if (rank_ != root) get(root, 0, buffer);
}

void NodeTeam::gather(const Layout& mine, const Layout& all, int root) {
  begin(mine.bytes());
  // What is in place at the root is where it belongs.
  if (rank_ != root) give(rank_, mine);
  meet([] {});
  if (rank_ != root) return;
  for (int rank = 0; rank < size_; ++rank)
    if (rank != root) get(rank, 0, piece(all, size_, rank));
  if (!is_in_place(piece(all, size_, root), mine))
    datatype::copy(piece(all, size_, root), mine, 0, mine.bytes());
}

void NodeTeam::scatter(const Layout& all, const Layout& mine, int root) {
  begin(mine.bytes());
  if (rank_ == root) {
    for (int rank = 0; rank < size_; ++rank)
      if (rank != root) give(rank, piece(all, size_, rank));
    if (!is_in_place(piece(all, size_, root), mine))
      datatype::copy(mine, piece(all, size_, root), 0, mine.bytes());
  }
  meet([] {});
  if (rank_ != root) get(rank_, 0, mine);
}

void NodeTeam::allgather(const Layout& mine, const Layout& all) {
  begin(mine.bytes());
  give(rank_, mine);
  meet([] {});
  for (int rank = 0; rank < size_; ++rank) get(rank, 0, piece(all, size_, rank));
}

void NodeTeam::alltoall(const Layout& out, const Layout& in) {
  begin(out.bytes());
  give(rank_, out);
  meet([] {});
  const Count block = out.bytes() / size_;
  for (int rank = 0; rank < size_; ++rank) get(rank, rank_ * block, piece(in, size_, rank));
}

void NodeTeam::combine(const Reduction& reduction, const Layout& in) {
  for (int rank = 1; rank < size_; ++rank)
    reduction.op->apply(slot(rank - 1), slot(rank), in.count, *in.type, reduction.handle);
}

void NodeTeam::reduce(const Reduction& reduction, const Layout& in, const Layout& out, int root) {
  begin(in.bytes());
  give(rank_, in);
  meet([&] { combine(reduction, in); });
  if (rank_ == root) get(size_ - 1, 0, out);
}

void NodeTeam::allreduce(const Reduction& reduction, const Layout& in, const Layout& out) {
  begin(in.bytes());
  give(rank_, in);
  meet([&] { combine(reduction, in); });
  get(size_ - 1, 0, out);
}

}  // namespace clump::coll
