#include "p2p/partition_messages.h"

#include <algorithm>
#include <utility>

namespace clump::p2p {

namespace {

/// The message that brings the receiver the terms. It owns itself: the sender's request may be freed before
/// it has arrived.
class Introduction final : public SendOperation {
 public:
  static void send(const Address& to, const PartitionTerms& terms) {
    auto message = std::make_unique<Introduction>(terms);
    message->begin(to, {&message->terms_, sizeof terms, datatype::predefined(MPI_BYTE)});
    detach(std::move(message));
  }
  explicit Introduction(const PartitionTerms& terms) : terms_(terms) {}

 private:
  PartitionTerms terms_;
};

}  // namespace

// Tags of collectives are smaller, tags of introductions are negative.
int PartitionTerms::tag(int partition) const {
  constexpr std::uint32_t kFirst = 0x40000000;
  return static_cast<int>(kFirst | ((first_tag + static_cast<std::uint32_t>(partition)) & (kFirst - 1)));
}

/// The message of a partition that the channel could not take at once. It deletes itself.
class OutgoingPartitions::Message final : public SendOperation {
 public:
  explicit Message(OutgoingPartitions& owner) : owner_(owner) {
    static_cast<void>(completion.abandon());  // no thread waits: it ends in end_abandoned()
  }

 private:
  void end_abandoned() override {
    OutgoingPartitions& owner = owner_;
    delete this;
    owner.sent(1);
  }
  OutgoingPartitions& owner_;
};

OutgoingPartitions::OutgoingPartitions(core::Request& sender, const Address& to, const Address& introduction,
                                       const Partitions& from)
    : sender_(sender),
      to_(to),
      from_(from),
      terms_{from, to.comm.next_partition_tags(from.count)},
      marks_(std::make_unique<std::atomic<Round>[]>(static_cast<std::size_t>(from.count))) {
  Introduction::send(introduction, terms_);
}

int OutgoingPartitions::marked(Round round) const {
  int sum = 0;
  for (int i = 0; i < from_.count; ++i)
    sum += static_cast<int>(marks_[i].load(std::memory_order_relaxed) == round);
  return sum;
}

base::Status OutgoingPartitions::mark(Round round, int first, int last) {
  int end = first;
  // relaxed: the thread that marks a partition sends it, so no other data depend on the mark.
  while (end < last && marks_[end].exchange(round, std::memory_order_relaxed) != round) ++end;
  if (end > first) send(first, end);
  if (end == last) return {};
  return marked_before(end);
}

/// Sends partitions. The operation may be complete afterwards, and this object freed.
void OutgoingPartitions::send(int first, int last) {
  const Count each = from_.whole.count / from_.count;
  int taken = 0;
  for (int partition = first; partition < last; ++partition) {
    const Address to{to_.comm, to_.peer, terms_.tag(partition), true};
    const datatype::Layout layout = part(from_.whole, partition * each, each);
    if (try_send(to, layout))
      ++taken;
    else
      (new Message(*this))->begin_untaken(to, layout);
  }
  if (taken > 0) sent(taken);
}

void OutgoingPartitions::sent(int partitions) {
  const auto added = static_cast<std::uint64_t>(partitions), all = static_cast<std::uint64_t>(from_.count);
  core::Request& sender = sender_;
  // A round ends with its last partition, before the next round begins. acq_rel: the thread that completes
  // the operation sees that all partitions were sent.
  if ((sent_.fetch_add(added, std::memory_order_acq_rel) + added) % all == 0) sender.complete();
}

/// The receive of one partition of the sender, used again in each round. It writes into the receiver's
/// buffer, unless the partition has parts of elements of a type with gaps: then the bytes come into a buffer
/// here first.
class PartitionInbox::Message final : public ReceiveOperation {
 public:
  /// `begin` and `end`: the partition is the packed bytes [begin, end) of the receiver.
  void prepare(PartitionInbox& owner, Count begin, Count end) {
    owner_ = &owner;
    begin_ = begin;
    end_ = end;
    if (begin == end) return;
    const datatype::Layout& whole = owner.to_.whole;
    const Count size = whole.type->size();
    if (whole.type->is_dense())
      room_ = {static_cast<std::byte*>(whole.base) + begin, end - begin, datatype::predefined(MPI_BYTE)};
    else if (begin % size == 0 && end % size == 0)
      room_ = part(whole, begin / size, (end - begin) / size);
    else {
      packed_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(end - begin));
      room_ = {packed_.get(), end - begin, datatype::predefined(MPI_BYTE)};
    }
  }

  void receive(const Address& from) {
    result = {};
    completion.reset();
    static_cast<void>(completion.abandon());  // no thread waits: it ends in end_abandoned()
    begin(from, room_);
  }

 private:
  void end_abandoned() override {
    if (packed_ != nullptr)
      datatype::unpack(owner_->to_.whole, begin_, {packed_.get(), static_cast<std::size_t>(end_ - begin_)});
    owner_->arrived(begin_, end_);
  }

  PartitionInbox* owner_ = nullptr;
  Count begin_ = 0, end_ = 0;
  datatype::Layout room_;
  std::unique_ptr<std::byte[]> packed_;
};

PartitionInbox::PartitionInbox(core::Request& receiver, const Address& from, const Partitions& to,
                               const PartitionTerms& terms)
    : from_(from),
      terms_(terms),
      messages_(std::make_unique<Message[]>(static_cast<unsigned>(terms.shape.count))) {
  attach(receiver, to, terms.shape);
  const Count each = terms.shape.bytes_each;
  for (int i = 0; i < terms.shape.count; ++i)
    messages_[i].prepare(*this, std::min(i * each, total_), std::min((i + 1) * each, total_));
}

PartitionInbox::~PartitionInbox() = default;

void PartitionInbox::open(Round) {
  // The receiver may be complete, and freed, before the last receive() has returned.
  const base::Ref<IncomingPartitions> alive(this);
  tell_result(terms_.shape);
  const int count = terms_.shape.count;
  missing_.store(count, std::memory_order_relaxed);  // relaxed: the receives are posted after it, under locks
  for (int i = 0; i < count; ++i) messages_[i].receive({from_.comm, from_.peer, terms_.tag(i), true});
}

/// Counts bytes that have arrived. The receiver may be complete afterwards, and this object freed.
void PartitionInbox::arrived(Count begin, Count end) {
  add_arrived(begin, end);
  core::Request& receiver = *receiver_;
  // release: what was written here; acquire: the thread that completes the receiver knows that all bytes are
  // there.
  if (missing_.fetch_sub(1, std::memory_order_acq_rel) == 1) receiver.complete();
}

}  // namespace clump::p2p
