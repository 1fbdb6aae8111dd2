// Partitions that go to another process: each partition of the sender is a message in the communicator's
// collective context, sent as soon as it is marked.
//
// When the two sides are matched (partitioned.cc), the sender has taken as many tags as it has partitions,
// and tells the receiver the first of them. The receiver posts a receive for each tag at the start of a
// round. Messages with one tag do not overtake each other, so rounds cannot be mixed up, although the sender
// may be several rounds ahead.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "core/request.h"
#include "p2p/p2p.h"
#include "p2p/partitions.h"

namespace clump::p2p {

/// What the sender tells the receiver.
struct PartitionTerms {
  PartitionShape shape;         ///< the sender's
  std::uint32_t first_tag = 0;  ///< from Comm::next_partition_tags()

  int tag(int partition) const;
};

/// The sender's side.
class OutgoingPartitions {
 public:
  /// Sends the terms to `introduction`.
  OutgoingPartitions(core::Request& sender, const Address& to, const Address& introduction,
                     const Partitions& from);

  /// Marks the sender's partitions [first, last) as ready. Any number of threads. An error if one of them was
  /// ready before.
  base::Status mark(Round round, int first, int last);
  /// How many of them are marked.
  int marked(Round round) const;

 private:
  class Message;
  void send(int first, int last);
  void sent(int partitions);

  core::Request& sender_;
  const Address to_;  // its tag is the user's
  const Partitions from_;
  const PartitionTerms terms_;
  const std::unique_ptr<std::atomic<Round>[]> marks_;  // for each partition: the last round in which it was
                                                       // ready
  alignas(64) std::atomic<std::uint64_t> sent_{0};  // partitions whose buffers are the sender's again, in all
                                                    // rounds
};

/// The receiver's side.
class PartitionInbox final : public IncomingPartitions {
 public:
  PartitionInbox(core::Request& receiver, const Address& from, const Partitions& to,
                 const PartitionTerms& terms);
  ~PartitionInbox() override;

  void open(Round round) override;

 private:
  class Message;
  void arrived(Count begin, Count end);

  const Address from_;  // its tag is the user's
  const PartitionTerms terms_;
  const std::unique_ptr<Message[]> messages_;  // one for each partition of the sender
  alignas(64) std::atomic<int> missing_{0};    // messages of this round that have not arrived
};

}  // namespace clump::p2p
