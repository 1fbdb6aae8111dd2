// A buffer in equal parts (MPI-5.0 chapter 4), and what a receiver knows of its own, however they come.
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

/// A round is an operation from its start to its completion. Counted from 1 on.
using Round = std::uint64_t;

struct PartitionShape {
  int count = 0;
  Count bytes_each = 0;
  Label label;  ///< under --check; otherwise it names no call
  Count bytes() const { return count * bytes_each; }
};

/// One side's buffer.
struct Partitions : PartitionShape {
  datatype::Layout whole;

  Partitions() = default;
  Partitions(void* buffer, int partitions, Count elements_each, const datatype::Datatype& type)
      : PartitionShape{partitions, elements_each * type.size(), {}},
        whole{buffer, partitions * elements_each, &type} {}
};

/// Why a partition cannot be marked as ready once more.
base::Status marked_before(int partition);

/// The receiver's side of an operation whose sender it has found.
class IncomingPartitions : public base::RefCounted {
 public:
  /// The receiver has started a round. Before anything of it can arrive.
  virtual void open(Round round) = 0;
  /// Whether a partition of the receiver that gets anything is complete in this round, which it has opened.
  /// Any thread.
  bool has_arrived(Round round, int partition) const;

 protected:
  /// Once, before open().
  void attach(core::Request& receiver, const Partitions& to, const PartitionShape& from);
  /// What the receiver's operation tells when it is complete.
  void tell_result(const PartitionShape& from) const;
  /// MPI_ERR_TYPE if both sides are labelled, and do not mean the same types.
  base::Status compare(const PartitionShape& from) const;
  /// The packed bytes [begin, end) are there.
  void add_arrived(Count begin, Count end);

  core::Request* receiver_ = nullptr;
  Partitions to_;
  Count total_ = 0;  // bytes that are copied: the receiver may have less room

 private:
  std::unique_ptr<std::atomic<Count>[]> arrived_;  // of each partition, in bytes, all rounds together
};

}  // namespace clump::p2p
