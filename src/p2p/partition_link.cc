#include "p2p/partition_link.h"

#include <algorithm>

#include "datatype/move.h"
#include "net/joint_work.h"

namespace clump::p2p {

namespace {

/// Copies packed bytes, from the same offset in both.
void copy_packed(const datatype::Layout& to, const datatype::Layout& from, Count offset, Count bytes) {
  constexpr Count kShort = 8 * 1024;  // too short for other threads to help
  if (bytes <= kShort && to.type->is_dense() && from.type->is_dense())
    return datatype::move_short(reinterpret_cast<std::intptr_t>(to.base) + offset,
                                reinterpret_cast<std::intptr_t>(from.base) + offset, bytes);
  net::joint_copy(to, from, offset, bytes);
}

}  // namespace

PartitionLink::PartitionLink(core::Request& sender, const Partitions& from)
    : sender_(sender),
      from_(from),
      self_(this),
      marks_(std::make_unique<std::atomic<std::uint32_t>[]>(static_cast<std::size_t>(from.count))) {}

// The message is synchronous, so that it stays in its place until the receiver has asked for it. So the
// receiver's end_abandoned(), which may have much to copy, runs with no lock of the matcher held.
void PartitionLink::introduce(net::Channel& channel, net::Route route, net::Envelope to) {
  envelope = to;
  synchronous = true;
  bytes = sizeof self_;
  payload = {&self_, bytes, datatype::predefined(MPI_BYTE)};
  static_cast<void>(base::Ref<PartitionLink>(this).release_to_owner());  // to attach()
  channel.send(route, *this);
}

void PartitionLink::released() { introduced_.store(true, std::memory_order_relaxed); }

void PartitionLink::attach(core::Request& receiver, const Partitions& to) {
  IncomingPartitions::attach(receiver, to, from_);
}

base::Status PartitionLink::mark(Round round, int first, int last) {
  int end = first;
  // acquire: pairs with open(): the receiver's buffer may be written.
  if (open_.load(std::memory_order_acquire) == round) [[likely]] {
    while (end < last && set_mark(end, round, taken(round))) ++end;
    if (end > first) move(round, first, end);
  } else {
    // The thread that completes the operation may free this object before this thread has finished.
    const base::Ref<PartitionLink> alive(this);
    while (end < last && set_mark(end, round, ready(round))) ++end;
    // seq_cst, as are the marks: either open() sees the marks, or this thread sees that the round is open.
    if (open_.load(std::memory_order_seq_cst) == round) move_ready(round, first, end);
  }
  if (end == last) return {};
  return marked_before(end);
}

/// Sets a mark; false if the partition already has a mark of this round.
bool PartitionLink::set_mark(int partition, Round round, std::uint32_t mark) {
  // release: the thread that claims the partition reads the sender's buffer. seq_cst: see mark().
  const std::uint32_t before = marks_[partition].exchange(mark, std::memory_order_seq_cst);
  return before != ready(round) && before != taken(round);
}

/// Claims a partition that is marked as ready. True: the caller has to move it.
bool PartitionLink::claim(int partition, Round round) {
  std::uint32_t expected = ready(round);
  // seq_cst: see mark(). acquire: pairs with set_mark().
  return marks_[partition].load(std::memory_order_seq_cst) == expected &&
         marks_[partition].compare_exchange_strong(expected, taken(round), std::memory_order_acquire,
                                                   std::memory_order_relaxed);
}

int PartitionLink::marked(Round round) const {
  int sum = 0;
  for (int i = 0; i < from_.count; ++i) {
    const std::uint32_t mark = marks_[i].load(std::memory_order_relaxed);
    sum += static_cast<int>(mark == ready(round) || mark == taken(round));
  }
  return sum;
}

void PartitionLink::open(Round round) {
  // The receiver may be complete, and freed, before all marks were looked at.
  const base::Ref<PartitionLink> alive(this);
  core::Request* const receiver = receiver_;
  if (receiver != nullptr) tell_result(from_);
  open_.store(round, std::memory_order_seq_cst);  // see mark()
  move_ready(round, 0, from_.count);
}

/// Moves the ready ones of the partitions, in pieces as large as possible. The caller holds a Ref.
void PartitionLink::move_ready(Round round, int first, int last) {
  for (int begin = first; begin < last; ++begin) {
    int end = begin;
    while (end < last && claim(end, round)) ++end;
    if (end == begin) continue;
    move(round, begin, end);
    begin = end;  // the partition at `end` was looked at
  }
}

/// Copies the sender's partitions [first, last) to the receiver. The caller has set the marks. The link and
/// both requests may be freed afterwards.
void PartitionLink::move(Round round, int first, int last) {
  const Count begin = std::min(first * from_.bytes_each, total_);
  const Count end = std::min(last * from_.bytes_each, total_);
  if (begin < end) {
    copy_packed(to_.whole, from_.whole, begin, end - begin);
    add_arrived(begin, end);
  }
  const Round added = static_cast<Round>(last - first), all = round * from_.count;
  // After this addition, the thread that adds the rest may complete the operation and free this object.
  // release: what was copied here; acquire: the thread that adds the rest knows that all bytes are there.
  if (moved_.fetch_add(added, std::memory_order_acq_rel) + added == all) finish();
}

void PartitionLink::finish() {
  core::Request& sender = sender_;
  if (receiver_ != nullptr) receiver_->complete();
  sender.complete();  // until then the sender's request holds this object
}

}  // namespace clump::p2p
