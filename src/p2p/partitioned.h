// Partitioned communication (MPI-5.0 chapter 4): the requests of MPI_Psend_init and MPI_Precv_init.
//
// The sender's side sends one message when it is initialised, and the receiver's side receives one, with tags
// that nothing else uses: so sides are matched in the order of their initialisation, as all messages are. In
// one process the message brings the receiver a PartitionLink, and from then on nothing is matched any more.
// From another process it brings the terms on which partitions come as messages (partition_messages.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "p2p/p2p.h"
#include "p2p/partition_link.h"
#include "p2p/partition_messages.h"

namespace clump::p2p {

class PartitionedSend final : public core::Request {
 public:
  PartitionedSend(const Address& to, const Partitions& partitions);

  base::Status start() override;
  base::Status cancel() override;
  void before_wait(WaitsFor what) override;
  int awaited() const override { return sending_.peer; }
  Sending sending() const override { return sending_; }
  void tell(std::vector<core::Awaited>& all) const override;
  void ask(bool keep) override;

  int partitions() const { return partitions_; }
  /// Marks the partitions [first, last) as ready (MPI_Pready). Of an active request; any number of threads.
  base::Status mark(int first, int last) {
    if (!fingerprints_.empty()) [[unlikely]]
      note_contents(first, last);
    return link_ ? link_->mark(round_, first, last) : messages_->mark(round_, first, last);
  }

 private:
  base::Ref<PartitionLink> link_;
  std::unique_ptr<OutgoingPartitions> messages_;  ///< used instead of a link if the receiver is in another
                                                  ///< process
  const Address to_;
  void note_contents(int first, int last);
  datatype::Layout partition(int number) const;

  const int partitions_;
  const datatype::Layout whole_;
  const Label label_;
  std::vector<std::uint64_t> fingerprints_;  ///< of each partition when it was marked as ready; empty: not
                                             ///< checked
  const Sending sending_;
  const core::World& world_;
  net::Route route_{MPI_PROC_NULL, MPI_PROC_NULL};  ///< ranks in the job; none if the message goes to
                                                    ///< MPI_PROC_NULL
  Round round_ = 0;
};

class PartitionedReceive final : public core::Request {
 public:
  PartitionedReceive(const Address& from, const Partitions& partitions);
  ~PartitionedReceive() override;

  base::Status start() override;
  base::Status cancel() override;
  void tell(std::vector<core::Awaited>& all) const override;

  int partitions() const { return partitions_.count; }
  /// Whether a partition has arrived (MPI_Parrived). Any number of threads. True for all partitions of a
  /// request that is not active.
  bool has_arrived(int partition) const;

 private:
  class Introduction;
  const Address from_;
  const Partitions partitions_;
  base::Ref<Introduction> introduction_;  ///< null: the source is MPI_PROC_NULL
  Round round_ = 0;
};

}  // namespace clump::p2p
