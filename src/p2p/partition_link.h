// The object that the two sides of a partitioned operation share in one process (MPI-5.0 chapter 4). The
// sender makes it when it initialises its side; a message makes it known to the receiver (partitioned.cc).
//
// A partition is copied once, from user buffer to user buffer, as soon as the sender has marked it and the
// receiver has started. The thread that does the later of the two copies: the one that marks the partition,
// or the one that starts the receive. There is no lock: each partition of the sender has a mark, which is its
// state, and each partition of the receiver has a count of the bytes that have arrived. Both increase from
// round to round (a round is an operation from its start to its completion) and are never reset: the two
// sides differ by at most one round, because a round is complete on both sides when the last partition was
// copied.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "core/request.h"
#include "net/channel.h"
#include "p2p/partitions.h"

namespace clump::p2p {

/// The link is itself the message that makes it known to the receiver: the payload is the link's own address.
class PartitionLink final : public IncomingPartitions, public net::SendRequest {
 public:
  PartitionLink(core::Request& sender, const Partitions& from);

  /// Sends the receiver a reference to the link. Once.
  void introduce(net::Channel& channel, net::Route route, net::Envelope envelope);
  bool introduced() const { return introduced_.load(std::memory_order_relaxed); }
  /// Takes over the reference in the message for the receiver. Once, before open().
  void attach(core::Request& receiver, const Partitions& to);

  /// Marks the sender's partitions [first, last) as ready. Any number of threads. An error if one of them was
  /// ready before.
  base::Status mark(Round round, int first, int last);
  /// How many of the sender's partitions are marked.
  int marked(Round round) const;
  /// Called by the receiver when it starts a round, or by the sender if the message goes to MPI_PROC_NULL.
  void open(Round round) override;

  void released() override;

 private:
  static std::uint32_t ready(Round round) { return static_cast<std::uint32_t>(round << 1); }
  static std::uint32_t taken(Round round) { return ready(round) | 1u; }
  bool set_mark(int partition, Round round, std::uint32_t mark);
  bool claim(int partition, Round round);
  void move_ready(Round round, int first, int last);
  void move(Round round, int first, int last);
  void finish();

  core::Request& sender_;
  const Partitions from_;
  PartitionLink* self_;
  std::atomic<bool> introduced_{false};
  std::atomic<Round> open_{0};  // the last round that the receiver has started
  // For each partition of the sender: ready() or taken() of the round in which it was marked last.
  const std::unique_ptr<std::atomic<std::uint32_t>[]> marks_;
  alignas(64) std::atomic<Round> moved_{0};  // how many of the sender's partitions were copied, in all rounds
};

}  // namespace clump::p2p
