// Partitioned communication (MPI-5.0 chapter 4).
#include "p2p/partitioned.h"

#include <span>

#include "core/rank.h"
#include "fiber/polling.h"
#include "mpi/bodies.h"
#include "mpi/entry/entry.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Comm;
using core::Rank;
using core::Request;
using datatype::Datatype;
using p2p::Address;
using p2p::Partitions;

Status check_partitions(int partitions, Count count, const Datatype& type) {
  if (partitions < 1)
    return base::fail(MPI_ERR_ARG, "(partitions = {}): a message has at least one partition", partitions);
  Count elements = 0, bytes = 0;
  if (__builtin_mul_overflow(Count{partitions}, count, &elements) ||
      __builtin_mul_overflow(elements, type.size(), &bytes))
    return base::fail(MPI_ERR_COUNT, "(count = {}): {} partitions of so many {} are more than memory holds",
                      count, partitions, type.description());
  return {};
}

/// One side's buffer, with its label where calls are watched.
Partitions describe(const Rank& self, void* buffer, int partitions, Count count, const Datatype& type) {
  Partitions made(buffer, partitions, count, type);
  if (self.sites != nullptr && core::Site::current != nullptr)
    made.label = p2p::Label(self.world, *core::Site::current, made.whole);
  return made;
}

/// A request of one side; an error is raised on its communicator.
template <typename Side, Request::Kind kKind>
class Found {
 public:
  Found(Rank& self, const char* call, MPI_Request handle)
      : self_(self), call_(call), request_(handle == MPI_REQUEST_NULL ? nullptr : self.request(handle)) {}

  bool is_of_kind() const { return request_ != nullptr && request_->kind == kKind; }
  bool is_active() const { return request_->state == Request::State::kActive; }
  Side& side() const { return static_cast<Side&>(*request_); }

  Status check_partition(int partition) const {
    if (static_cast<unsigned>(partition) < static_cast<unsigned>(side().partitions())) return {};
    return base::fail(MPI_ERR_ARG, "(partition = {}): the request has {} partitions, numbered from 0",
                      partition, side().partitions());
  }
  Status raise(Status status) const {
    if (status.ok()) return {};
    core::Comm* const comm = request_ == nullptr ? nullptr : request_->comm.get();
    return Status::from_code(mpi::raise(self_, comm, call_, status));
  }

 private:
  Rank& self_;
  const char* const call_;
  Request* const request_;
};

using Receiver = Found<p2p::PartitionedReceive, Request::Kind::kPartitionedReceive>;

/// What the MPI_Pready family marks partitions of.
class Sender : public Found<p2p::PartitionedSend, Request::Kind::kPartitionedSend> {
 public:
  using Found::Found;

  Status check() const {
    if (!is_of_kind())
      return base::fail(MPI_ERR_REQUEST, "request is no partitioned send: MPI_Psend_init makes them");
    if (!is_active()) return base::fail(MPI_ERR_REQUEST, "request is not active: call MPI_Start first");
    return {};
  }
  Status mark(std::span<const int> partitions) const {
    CLUMP_TRY(check());
    for (const int partition : partitions) CLUMP_TRY(check_partition(partition));
    // Neighbours at once. Once the last one is marked, the request may be gone.
    for (std::size_t i = 0; i < partitions.size();) {
      const int first = partitions[i];
      int last = first;
      while (i < partitions.size() && partitions[i] == last) ++i, ++last;
      CLUMP_TRY(side().mark(first, last));
    }
    return {};
  }
};

}  // namespace

Status psend_init(Rank& self, const void* buf, int partitions, MPI_Count count, const Datatype& datatype,
                  int dest, int tag, Comm& comm, core::Info*, MPI_Request* request) {
  CLUMP_TRY(check_partitions(partitions, count, datatype));
  *request = self.add(std::make_unique<p2p::PartitionedSend>(
      Address{comm, dest, tag}, describe(self, const_cast<void*>(buf), partitions, count, datatype)));
  return {};
}

Status precv_init(Rank& self, void* buf, int partitions, MPI_Count count, const Datatype& datatype,
                  int source, int tag, Comm& comm, core::Info*, MPI_Request* request) {
  CLUMP_TRY(check_partitions(partitions, count, datatype));
  *request = self.add(std::make_unique<p2p::PartitionedReceive>(
      Address{comm, source, tag}, describe(self, buf, partitions, count, datatype)));
  return {};
}

Status pready(Rank& self, int partition, MPI_Request request) {
  const Sender sender(self, "MPI_Pready", request);
  return sender.raise(sender.mark({&partition, 1}));
}

Status pready_range(Rank& self, int partition_low, int partition_high, MPI_Request request) {
  const Sender sender(self, "MPI_Pready_range", request);
  const auto mark = [&]() -> Status {
    CLUMP_TRY(sender.check());
    CLUMP_TRY(sender.check_partition(partition_low));
    CLUMP_TRY(sender.check_partition(partition_high));
    if (partition_high < partition_low)
      return base::fail(MPI_ERR_ARG, "(partition_high = {}): this is below partition_low, which is {}",
                        partition_high, partition_low);
    return sender.side().mark(partition_low, partition_high + 1);
  };
  return sender.raise(mark());
}

Status pready_list(Rank& self, int length, const int array_of_partitions[], MPI_Request request) {
  const Sender sender(self, "MPI_Pready_list", request);
  return sender.raise(sender.mark({array_of_partitions, static_cast<std::size_t>(length)}));
}

Status parrived(Rank& self, MPI_Request request, int partition, int* flag) {
  const Receiver receiver(self, "MPI_Parrived", request);
  *flag = 1;
  if (request == MPI_REQUEST_NULL) return {};
  if (!receiver.is_of_kind())
    return receiver.raise(
        base::fail(MPI_ERR_REQUEST, "request is no partitioned receive: MPI_Precv_init makes them"));
  CLUMP_TRY(receiver.raise(receiver.check_partition(partition)));
  if (receiver.side().has_arrived(partition)) return {};
  p2p::poll(self);
  if (receiver.side().has_arrived(partition)) return {};
  *flag = 0;
  fiber::yield_after_empty_poll();
  return {};
}

}  // namespace clump::mpi
