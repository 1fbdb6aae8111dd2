// What the two sides of a partitioned operation share (MPI-5.0 chapter 4), made by the sender when it
// initialises its side. The receiver gets to know of it by a message (partitioned.cc).
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

#include "base/ref.h"
#include "base/status.h"
#include "core/request.h"
#include "net/channel.h"

namespace clump::p2p {

/// One side's buffer, in equal parts.
struct Partitions {
  datatype::Layout whole;
  int count;
  Count bytes_each;

  Partitions() = default;
  Partitions(void* buffer, int partitions, Count elements_each, const datatype::Datatype& type)
      : whole{buffer, partitions * elements_each, &type},
        count(partitions),
        bytes_each(elements_each * type.size()) {}
  Count bytes() const { return count * bytes_each; }
};

/// It is itself the message that introduces it to the receiver, whose payload is its own address.
class PartitionLink final : public base::RefCounted, public net::Outgoing {
 public:
  /// Rounds are counted from 1 on.
  using Round = std::uint64_t;

  PartitionLink(core::Request& sender, const Partitions& from);

  /// Sends the receiver a reference to this. Once.
  void introduce(net::Channel& channel, net::Route route, net::Envelope envelope);
  bool introduced() const { return introduced_.load(std::memory_order_relaxed); }
  /// The reference in the message is the receiver's from here on. Once, before open().
  void attach(core::Request& receiver, const Partitions& to);

  /// The sender's partitions [first, last) are ready. Any number of threads. An error if one was before.
  base::Status mark(Round round, int first, int last);
  /// The receiver's side of this round, or nobody's if the message goes to MPI_PROC_NULL, has started.
  void open(Round round);
  /// Whether a partition of the receiver is complete in this round, which it has opened. Any thread.
  bool has_arrived(Round round, int partition) const;

  void released() override;

 private:
  static std::uint32_t ready(Round round) { return static_cast<std::uint32_t>(round << 1); }
  static std::uint32_t taken(Round round) { return ready(round) | 1u; }
  bool set_mark(int partition, Round round, std::uint32_t mark);
  bool claim(int partition, Round round);
  void move_ready(Round round, int first, int last);
  void move(Round round, int first, int last);
  Count expected(int partition) const;
  void finish();

  core::Request& sender_;
  core::Request* receiver_ = nullptr;
  const Partitions from_;
  Partitions to_{};
  Count total_ = 0;  // bytes that are copied: the receiver may have less room
  PartitionLink* self_;
  std::atomic<bool> introduced_{false};
  std::atomic<Round> open_{0};  // the last one that the receiver has started
  // Each partition of the sender: ready() or taken() of the round in which it was marked last.
  const std::unique_ptr<std::atomic<std::uint32_t>[]> marks_;
  std::unique_ptr<std::atomic<Count>[]> arrived_;  // of the receiver, in bytes, all rounds together
  alignas(64) std::atomic<Round> moved_{0};        // the sender's partitions that were copied, in all rounds
};

}  // namespace clump::p2p
