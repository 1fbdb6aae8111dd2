#include "p2p/partitioned.h"

#include <atomic>
#include <climits>
#include <mutex>

#include "datatype/fingerprint.h"
#include "p2p/persistent.h"

namespace clump::p2p {

namespace {

/// The address of the introduction: its tag is negative, unlike the tags of collectives, and receives in the
/// collective context have no wildcards.
Address introduction_address(const Address& address) {
  return {address.comm, address.peer, address.tag | INT_MIN, true};
}

bool is_in_other_process(const Address& address) {
  return address.peer != MPI_PROC_NULL &&
         address.comm.owner.world.ranks[static_cast<std::size_t>(route_of(address).destination)] == nullptr;
}

base::Status refuse_cancel() {
  return base::fail(MPI_ERR_REQUEST, "a partitioned operation cannot be cancelled: complete it (MPI_Wait)");
}

}  // namespace

PartitionedSend::PartitionedSend(const Address& to, const Partitions& partitions)
    : Request(Kind::kPartitionedSend),
      to_(to),
      partitions_(partitions.count),
      whole_(partitions.whole),
      label_(partitions.label),
      fingerprints_(label_.call[0] == '\0' ? 0u : static_cast<unsigned>(partitions.count)),
      sending_(p2p::sending(to, partitions.whole)),
      world_(to.comm.owner.world) {
  keep(*this, to, partitions.whole);
  if (is_in_other_process(to)) {
    messages_ = std::make_unique<OutgoingPartitions>(*this, to, introduction_address(to), partitions);
    return;
  }
  link_ = base::make_ref<PartitionLink>(*this, partitions);
  if (to.peer == MPI_PROC_NULL) return;
  const Address address = introduction_address(to);
  route_ = route_of(address);
  link_->introduce(channel_to(world_, route_), route_,
                   {address.key().context, address.comm.rank, address.tag});
}

base::Status PartitionedSend::start() {
  activate(*this);
  ++round_;
  if (link_ && route_.destination == MPI_PROC_NULL) link_->open(round_);
  return {};
}

datatype::Layout PartitionedSend::partition(int number) const {
  const Count each = whole_.count / partitions_;
  return datatype::part(whole_, number * each, each);
}

void PartitionedSend::note_contents(int first, int last) {
  for (int i = first; i < last; ++i)
    fingerprints_[static_cast<std::size_t>(i)] = datatype::fingerprint(partition(i));
}

/// Checks that the program has not written into a partition since it was ready: from then on it is MPI's
/// (MPI-5.0 section 4.2).
void PartitionedSend::ask(bool) {
  if (result.error != MPI_SUCCESS) return;
  for (std::size_t i = 0; i < fingerprints_.size(); ++i) {
    if (datatype::fingerprint(partition(static_cast<int>(i))) == fingerprints_[i]) continue;
    result.error =
        base::fail(MPI_ERR_BUFFER,
                   "partition {} has changed after it was ready\n  it is one of {}\n  and is the program's "
                   "again with {}\n  what is sent must not be written between MPI_Pready and the "
                   "completion of the operation",
                   i, label_.words(world_, fmt::format(" in {} partitions", partitions_)), call_now(world_))
            .code();
    return;
  }
}

base::Status PartitionedSend::cancel() { return refuse_cancel(); }

// The introduction may lie where only threads that work for the destination look
// (SendOperation::before_wait()).
void PartitionedSend::before_wait(WaitsFor /*what*/) {
  if (link_ && route_.destination != MPI_PROC_NULL && !link_->introduced())
    channel_to(world_, route_).poll(route_.destination);
}

void PartitionedSend::tell(std::vector<core::Awaited>& all) const {
  const int marked = link_ ? link_->marked(round_) : messages_->marked(round_);
  all.push_back({.kind = core::Awaited::Kind::kPartitionedSend,
                 .context = to_.key().context,
                 .peer = to_.peer,
                 .tag = to_.tag,
                 .bytes = partitions_ - marked});
}

void PartitionedReceive::tell(std::vector<core::Awaited>& all) const {
  all.push_back({.kind = core::Awaited::Kind::kPartitionedReceive,
                 .context = from_.key().context,
                 .peer = from_.peer,
                 .tag = from_.tag});
}

/// The receive of the introduction, which connects the two sides. It outlives its request: also when that is
/// freed, it takes its turn in the matching.
class PartitionedReceive::Introduction final : public base::RefCounted, public ReceiveOperation {
 public:
  explicit Introduction(PartitionedReceive& request)
      : is_remote_(is_in_other_process(request.from_)), request_(&request) {}

  void ask_sender(const Address& from) {
    static_cast<void>(completion.abandon());  // no thread waits: it ends in end_abandoned()
    static_cast<void>(base::Ref<Introduction>(this).release_to_owner());  // to end_abandoned()
    const datatype::Datatype* const byte = datatype::predefined(MPI_BYTE);
    const datatype::Layout message = is_remote_ ? datatype::Layout{&terms_, sizeof terms_, byte}
                                                : datatype::Layout{&link_, sizeof link_, byte};
    begin(introduction_address(from), message);
  }

  /// Called when the request is started, with its round.
  void started(Round round) {
    std::unique_lock lock(mutex_);
    round_ = round;
    const base::Ref<IncomingPartitions> incoming = incoming_;
    lock.unlock();
    if (incoming) incoming->open(round);
  }

  void forget_request() {
    const std::lock_guard lock(mutex_);
    request_ = nullptr;
  }

  /// What was introduced; null before the introduction has arrived. Any thread.
  const IncomingPartitions* incoming() const {
    return known_.load(std::memory_order_acquire);  // acquire: pairs with end_abandoned()
  }

 private:
  void end_abandoned() override {
    const auto self = base::Ref<Introduction>::adopt(this);
    const auto link = base::Ref<PartitionLink>::adopt(link_);  // null if the sender is in another process
    std::unique_lock lock(mutex_);
    if (request_ == nullptr) return;
    const base::Ref<IncomingPartitions> incoming = meet(link);
    incoming_ = incoming;
    known_.store(incoming.get(), std::memory_order_release);  // release: pairs with incoming()
    const Round round = round_;
    lock.unlock();
    if (round != 0) incoming->open(round);
  }

  base::Ref<IncomingPartitions> meet(const base::Ref<PartitionLink>& link) const {
    if (is_remote_)
      return base::make_ref<PartitionInbox>(*request_, request_->from_, request_->partitions_, terms_);
    link->attach(*request_, request_->partitions_);
    return link;
  }

  // The content of the message.
  const bool is_remote_;
  PartitionLink* link_ = nullptr;
  PartitionTerms terms_;

  std::mutex mutex_;
  PartitionedReceive* request_;  // null: it was freed
  Round round_ = 0;              // the last round that was started
  base::Ref<IncomingPartitions> incoming_;
  std::atomic<const IncomingPartitions*> known_{nullptr};
};

PartitionedReceive::PartitionedReceive(const Address& from, const Partitions& partitions)
    : Request(Kind::kPartitionedReceive), from_(from), partitions_(partitions) {
  keep(*this, from, partitions.whole);
  if (from.peer == MPI_PROC_NULL) return;
  introduction_ = base::make_ref<Introduction>(*this);
  introduction_->ask_sender(from);
}

PartitionedReceive::~PartitionedReceive() {
  if (introduction_) introduction_->forget_request();
}

base::Status PartitionedReceive::start() {
  activate(*this);
  result.source = from_.peer;
  result.tag = from_.peer == MPI_PROC_NULL ? MPI_ANY_TAG : from_.tag;
  ++round_;
  if (introduction_)
    introduction_->started(round_);
  else
    complete();
  return {};
}

base::Status PartitionedReceive::cancel() { return refuse_cancel(); }

bool PartitionedReceive::has_arrived(int partition) const {
  if (state != State::kActive || completion.done()) return true;
  const IncomingPartitions* const incoming = introduction_->incoming();
  return incoming != nullptr && incoming->has_arrived(round_, partition);
}

}  // namespace clump::p2p
