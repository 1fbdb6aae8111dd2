// A buffer in equal parts (MPI-5.0 chapter 4), and what a receiver knows about its parts, in whatever way
// they arrive.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/ref.h"
#include "base/status.h"
#include "core/request.h"
#include "datatype/datatype.h"
#include "p2p/label.h"

namespace clump::p2p {

/// The number of a round, from 1 on. A round is an operation from its start to its completion.
using Round = std::uint64_t;

struct PartitionShape {
  int count = 0;
  Count bytes_each = 0;
  Label label;  ///< under --check; otherwise it has no call
  Count bytes() const { return count * bytes_each; }
};

/// The buffer of one side.
struct Partitions : PartitionShape {
  datatype::Layout whole;

  Partitions() = default;
  Partitions(void* buffer, int partitions, Count elements_each, const datatype::Datatype& type)
      : PartitionShape{partitions, elements_each * type.size(), {}},
        whole{buffer, partitions * elements_each, &type} {}
};

/// The error for a partition that is marked as ready a second time.
base::Status marked_before(int partition);

/// The receiver's side of an operation that is matched with its sender.
class IncomingPartitions : public base::RefCounted {
 public:
  /// Starts a round of the receiver. Before any of its data can arrive.
  virtual void open(Round round) = 0;
  /// Whether a partition of the receiver that gets bytes is complete in this round, which the receiver has
  /// opened. Any thread.
  bool has_arrived(Round round, int partition) const;

 protected:
  /// Connects the receiver with what is sent. Once, before open().
  void attach(core::Request& receiver, const Partitions& to, const PartitionShape& from);
  /// Fills in the result of the receiver's operation.
  void tell_result(const PartitionShape& from) const;
  /// MPI_ERR_TYPE if both sides are labelled, and do not mean the same types.
  base::Status compare(const PartitionShape& from) const;
  /// Counts the packed bytes [begin, end) as arrived.
  void add_arrived(Count begin, Count end);

  core::Request* receiver_ = nullptr;
  Partitions to_;
  Count total_ = 0;  // bytes that are copied: the receiver's buffer may be smaller

 private:
  std::unique_ptr<std::atomic<Count>[]> arrived_;  // for each partition, in bytes, all rounds together
};

}  // namespace clump::p2p
