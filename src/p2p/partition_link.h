// What the two sides of a partitioned operation share (MPI-5.0 chapter 4) in one process, made by the sender
// when it initialises its side. The receiver gets to know of it by a message (partitioned.cc).
//
// A partition is copied once, from user buffer to user buffer, as soon as the sender has marked it and the
// receiver has started: by the thread that marks it, or, if that came first, by the one that starts the
// receive. There is no lock: each partition of the sender has a mark, which says how far it is, and each
// partition of the receiver a count of the bytes that it has. Both go on from round to round (a round is an
// operation from its start to its completion) and are never reset: the two sides can be one round apart, not
// more, because a round is complete on both sides when the last partition was copied.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "core/request.h"
#include "net/channel.h"
#include "p2p/partitions.h"

namespace clump::p2p {

/// It is itself the message that introduces it to the receiver, whose payload is its own address.
class PartitionLink final : public IncomingPartitions, public net::SendRequest {
 public:
  PartitionLink(core::Request& sender, const Partitions& from);

  /// Sends the receiver a reference to this. Once.
  void introduce(net::Channel& channel, net::Route route, net::Envelope envelope);
  bool introduced() const { return introduced_.load(std::memory_order_relaxed); }
  /// The reference in the message is the receiver's from here on. Once, before open().
  void attach(core::Request& receiver, const Partitions& to);

  /// The sender's partitions [first, last) are ready. Any number of threads. An error if one was before.
  base::Status mark(Round round, int first, int last);
  /// How many of the sender's are.
  int marked(Round round) const;
  /// By the receiver, or by nobody if the message goes to MPI_PROC_NULL.
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
  std::atomic<Round> open_{0};  // the last one that the receiver has started
  // Each partition of the sender: ready() or taken() of the round in which it was marked last.
  const std::unique_ptr<std::atomic<std::uint32_t>[]> marks_;
  alignas(64) std::atomic<Round> moved_{0};  // the sender's partitions that were copied, in all rounds
};

}  // namespace clump::p2p
