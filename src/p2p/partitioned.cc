#include "p2p/partitioned.h"

#include <climits>

#include "p2p/persistent.h"

namespace clump::p2p {

namespace {

/// Tags of the collective context are not negative, and nobody uses wildcards in it.
Address introduction_address(const Address& address) {
  return {address.comm, address.peer, address.tag | INT_MIN, true};
}

base::Status refuse_cancel() {
  return base::fail(MPI_ERR_REQUEST, "a partitioned operation cannot be cancelled: complete it (MPI_Wait)");
}

}  // namespace

PartitionedSend::PartitionedSend(const Address& to, const Partitions& partitions)
    : Request(Kind::kPartitionedSend),
      link_(base::make_ref<PartitionLink>(*this, partitions)),
      partitions_(partitions.count),
      world_(to.comm.owner.world) {
  keep(*this, to, partitions.whole);
  if (to.peer == MPI_PROC_NULL) return;
  const Address address = introduction_address(to);
  route_ = route_of(address);
  link_->introduce(channel_to(world_, route_), route_,
                   {address.key().context, address.comm.rank, address.tag});
}

base::Status PartitionedSend::start() {
  activate(*this);
  ++round_;
  if (partitions_ == 0)
    complete();
  else if (route_.destination == MPI_PROC_NULL)
    link_->open(round_);
  return {};
}

base::Status PartitionedSend::cancel() { return refuse_cancel(); }

// The introduction may lie where only those look who work for the destination (SendOperation::before_wait()).
void PartitionedSend::before_wait() {
  if (route_.destination != MPI_PROC_NULL && !link_->introduced())
    channel_to(world_, route_).poll(route_.destination);
}

/// The receive of a link, which outlives its request: freed or not, it takes its turn in the matching.
class PartitionedReceive::Introduction final : public base::RefCounted, public ReceiveOperation {
 public:
  explicit Introduction(PartitionedReceive& request) : request_(&request) {}

  void ask(const Address& from) {
    static_cast<void>(completion.abandon());  // nobody waits: it ends in end_abandoned()
    static_cast<void>(base::Ref<Introduction>(this).release_to_owner());  // to end_abandoned()
    begin(introduction_address(from), {&message_, sizeof message_, datatype::predefined(MPI_BYTE)});
  }

  /// The request is active, in this round.
  void started(PartitionLink::Round round) {
    std::unique_lock lock(mutex_);
    round_ = round;
    const base::Ref<PartitionLink> link = link_;
    lock.unlock();
    if (link) link->open(round);
  }

  void forget_request() {
    const std::lock_guard lock(mutex_);
    request_ = nullptr;
  }

  /// Null before it has arrived. Any thread.
  const PartitionLink* link() const {
    return known_link_.load(std::memory_order_acquire);  // acquire: pairs with end_abandoned()
  }

 private:
  void end_abandoned() override {
    const auto self = base::Ref<Introduction>::adopt(this);
    const auto link = base::Ref<PartitionLink>::adopt(message_);
    std::unique_lock lock(mutex_);
    if (request_ == nullptr) return;
    link->attach(*request_, request_->partitions_);
    link_ = link;
    known_link_.store(link.get(), std::memory_order_release);  // release: pairs with link()
    const PartitionLink::Round round = round_;
    lock.unlock();
    if (round != 0) link->open(round);
  }

  PartitionLink* message_ = nullptr;
  std::mutex mutex_;
  PartitionedReceive* request_;     // null: freed
  PartitionLink::Round round_ = 0;  // the last one that was started
  base::Ref<PartitionLink> link_;
  std::atomic<const PartitionLink*> known_link_{nullptr};
};

PartitionedReceive::PartitionedReceive(const Address& from, const Partitions& partitions)
    : Request(Kind::kPartitionedReceive),
      partitions_(partitions),
      source_(from.peer),
      tag_(from.peer == MPI_PROC_NULL ? MPI_ANY_TAG : from.tag) {
  keep(*this, from, partitions.whole);
  if (from.peer == MPI_PROC_NULL) return;
  introduction_ = base::make_ref<Introduction>(*this);
  introduction_->ask(from);
}

PartitionedReceive::~PartitionedReceive() {
  if (introduction_) introduction_->forget_request();
}

base::Status PartitionedReceive::start() {
  activate(*this);
  result.source = source_;
  result.tag = tag_;
  ++round_;
  if (introduction_)
    introduction_->started(round_);
  else
    complete();
  return {};
}

base::Status PartitionedReceive::cancel() { return refuse_cancel(); }

void PartitionedReceive::before_wait() {
  if (introduction_ && introduction_->link() == nullptr) introduction_->before_wait();
}

bool PartitionedReceive::has_arrived(int partition) const {
  if (state != State::kActive || completion.done()) return true;
  const PartitionLink* const link = introduction_->link();
  return link != nullptr && link->has_arrived(round_, partition);
}

}  // namespace clump::p2p
