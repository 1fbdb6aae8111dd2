#include "p2p/partitions.h"

#include <algorithm>

namespace clump::p2p {

base::Status marked_before(int partition) {
  return base::fail(MPI_ERR_ARG,
                    "partition {} was marked as ready before: once in each round, from MPI_Start to "
                    "MPI_Wait, is right",
                    partition);
}

void IncomingPartitions::attach(core::Request& receiver, const Partitions& to, const PartitionShape& from) {
  receiver_ = &receiver;
  to_ = to;
  total_ = std::min(from.bytes(), to.bytes());
  arrived_ = std::make_unique<std::atomic<Count>[]>(static_cast<std::size_t>(to.count));
}

void IncomingPartitions::tell_result(const PartitionShape& from) const {
  receiver_->result.bytes = total_;
  if (total_ == from.bytes()) {
    receiver_->result.error = compare(from).code();
    return;
  }
  const auto status =
      base::fail(MPI_ERR_TRUNCATE,
                 "the partitioned send has {} partitions of {} bytes, the receive only {} of {}: both sides "
                 "need as many bytes in all",
                 from.count, from.bytes_each, to_.count, to_.bytes_each);
  receiver_->result.error = status.code();
}

base::Status IncomingPartitions::compare(const PartitionShape& from) const {
  const bool are_labelled = from.label.call[0] != '\0' && to_.label.call[0] != '\0';
  if (!are_labelled || may_go_into(from.label.content, to_.whole)) return {};
  const core::World& world = receiver_->comm->owner.world;
  const auto words = [&](const PartitionShape& shape) {
    return shape.label.words(world, fmt::format(" in {} partitions", shape.count));
  };
  return base::fail(MPI_ERR_TYPE,
                    "the partitioned receive does not take what it is sent\n  sent: {}\n  received: "
                    "{}\n  {}",
                    words(from), words(to_), kSameTypes);
}

void IncomingPartitions::add_arrived(Count begin, Count end) {
  if (begin == end) return;
  Count partition = begin / to_.bytes_each;
  for (Count at = begin; at < end; ++partition) {
    const Count stop = std::min((partition + 1) * to_.bytes_each, end);
    // release: pairs with has_arrived().
    arrived_[partition].fetch_add(stop - at, std::memory_order_release);
    at = stop;
  }
}

bool IncomingPartitions::has_arrived(Round round, int partition) const {
  const Count expected = std::clamp<Count>(total_ - partition * to_.bytes_each, 0, to_.bytes_each);
  // acquire: pairs with add_arrived(). A partition that gets no bytes is complete only when the operation is.
  return expected > 0 &&
         arrived_[partition].load(std::memory_order_acquire) == static_cast<Count>(round) * expected;
}

}  // namespace clump::p2p
