#include "p2p/matcher.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>

#include "core/rank.h"
#include "p2p/joint_copy.h"

namespace clump::p2p {

namespace {

// A message of up to this size does not wait for its receive: its bytes are copied and the sender goes on.
// Above, the second copy costs more than the sender gains.
constexpr Count kEagerLimit = 16 * 1024;
// Copied bytes that may wait at one rank; past it, senders wait for their receives instead.
constexpr Count kEagerBound = 16 * 1024 * 1024;
// Small copies are made under the lock and their memory is used again.
constexpr Count kSmall = 256;
constexpr std::size_t kMostSpare = 64;

bool fits(const MatchKey& wanted, const MatchKey& have) {
  return wanted.context == have.context &&
         (wanted.source == MPI_ANY_SOURCE || wanted.source == have.source) &&
         (wanted.tag == MPI_ANY_TAG || wanted.tag == have.tag);
}

bool has_wildcard(const MatchKey& key) { return key.source == MPI_ANY_SOURCE || key.tag == MPI_ANY_TAG; }

MatchKey key_of(const net::Envelope& e) { return {e.context, e.source, e.tag}; }

/// Fills in what the receive tells about the message, and returns how many bytes go into its buffer.
Count accept(ReceiveOperation& receive, const MatchKey& key, Count bytes) {
  const Count capacity = receive.buffer.bytes();
  receive.result.source = key.source;
  receive.result.tag = key.tag;
  receive.result.bytes = std::min(bytes, capacity);
  if (bytes > capacity) [[unlikely]] {
    const auto status =
        base::fail(MPI_ERR_TRUNCATE,
                   "the message of rank {} with tag {} has {} bytes, the receive buffer takes {} "
                   "({} elements of {} bytes)",
                   key.source, key.tag, bytes, capacity, receive.buffer.count,
                   receive.buffer.type == nullptr ? 0 : receive.buffer.type->size());
    receive.result.error = status.code();
  }
  return receive.result.bytes;
}

/// One copy, from the sender's buffer to the receiver's, by the calling thread.
void deliver(net::Outgoing& message, ReceiveOperation& receive) {
  const Count bytes = accept(receive, key_of(message.envelope), message.envelope.bytes);
  if (bytes > 0) joint_copy(receive.buffer, message.payload, bytes);
  message.released();
  receive.complete();
}

}  // namespace

Matcher& matcher_of(const core::Rank& rank) { return static_cast<Matcher&>(*rank.inbox); }

Matcher::~Matcher() {
  while (Unexpected* message = unexpected_.find_if([](const Unexpected&) { return true; })) {
    unexpected_.remove(*message);
    std::free(message);
  }
  for (Unexpected* message : spare_) std::free(message);
}

ReceiveOperation* Matcher::take_posted(const net::Envelope& envelope) {
  const MatchKey key = key_of(envelope);
  ReceiveOperation* exact = exact_.find(key);
  ReceiveOperation* any =
      wildcards_.size() == 0
          ? nullptr
          : wildcards_.find_if([&](const ReceiveOperation& r) { return fits(r.key, key); });
  if (any != nullptr && (exact == nullptr || any->sequence < exact->sequence)) {
    wildcards_.remove(*any);
    return any;
  }
  if (exact != nullptr) exact_.remove(*exact);
  return exact;
}

Unexpected* Matcher::find_unexpected(const MatchKey& key) const {
  if (!has_wildcard(key)) return unexpected_.find(key);
  return unexpected_.find_if([&](const Unexpected& message) { return fits(key, message.key); });
}

Unexpected* Matcher::make_unexpected(const net::Envelope& envelope, Count copied_bytes) {
  Unexpected* message;
  if (copied_bytes <= kSmall && !spare_.empty()) {
    message = new (spare_.back()) Unexpected;
    spare_.pop_back();
  } else {
    void* memory = std::malloc(sizeof(Unexpected) + std::max(copied_bytes, kSmall));
    if (memory == nullptr) throw std::bad_alloc();
    message = new (memory) Unexpected;
  }
  message->key = key_of(envelope);
  message->bytes = envelope.bytes;
  return message;
}

void Matcher::dispose(Unexpected* message) {
  const bool small = message->kept != nullptr || message->bytes <= kSmall;
  if (small && spare_.size() < kMostSpare)
    spare_.push_back(message);
  else
    std::free(message);
}

void Matcher::keep(Unexpected* message) {
  message->sequence = next_sequence_++;
  unexpected_.push(*message);
  std::erase_if(probers_, [&](const Prober& prober) {
    if (!fits(prober.key, message->key)) return false;
    prober.arrived->signal();
    return true;
  });
}

void Matcher::arrive(net::Outgoing& message) {
  const net::Envelope& envelope = message.envelope;
  std::unique_lock lock(mutex_);
  if (ReceiveOperation* receive = take_posted(envelope)) {
    lock.unlock();
    return deliver(message, *receive);
  }
  const bool eager =
      !envelope.synchronous && envelope.bytes <= kEagerLimit && eager_bytes_ + envelope.bytes <= kEagerBound;
  Unexpected* kept = make_unexpected(envelope, eager ? envelope.bytes : 0);
  if (!eager) {
    kept->kept = &message;
    return keep(kept);
  }
  eager_bytes_ += envelope.bytes;
  const auto copy_out = [&] {
    datatype::pack({kept->data(), static_cast<std::size_t>(envelope.bytes)}, message.payload, 0);
  };
  if (envelope.bytes <= kSmall) {
    copy_out();
  } else {
    lock.unlock();
    copy_out();
    lock.lock();
    // A receive may have been posted meanwhile.
    if (ReceiveOperation* receive = take_posted(envelope)) {
      eager_bytes_ -= envelope.bytes;
      dispose(kept);
      lock.unlock();
      return deliver(message, *receive);
    }
  }
  keep(kept);
  lock.unlock();
  message.released();
}

void Matcher::post(ReceiveOperation& receive) {
  std::unique_lock lock(mutex_);
  if (Unexpected* message = find_unexpected(receive.key)) {
    unexpected_.remove(*message);
    lock.unlock();
    return receive_taken(message, receive);
  }
  receive.sequence = next_sequence_++;
  (has_wildcard(receive.key) ? wildcards_ : exact_).push(receive);
}

void Matcher::receive_taken(Unexpected* message, ReceiveOperation& receive) {
  net::Outgoing* kept = message->kept;
  if (kept == nullptr) {
    const Count bytes = accept(receive, message->key, message->bytes);
    if (bytes > 0) datatype::unpack(receive.buffer, 0, {message->data(), static_cast<std::size_t>(bytes)});
  }
  {
    const std::lock_guard lock(mutex_);
    if (kept == nullptr) eager_bytes_ -= message->bytes;
    dispose(message);
  }
  if (kept != nullptr)
    deliver(*kept, receive);
  else
    receive.complete();
}

bool Matcher::retract(ReceiveOperation& receive) {
  const std::lock_guard lock(mutex_);
  if (!receive.queued) return false;
  (has_wildcard(receive.key) ? wildcards_ : exact_).remove(receive);
  return true;
}

bool Matcher::retract(net::Outgoing& message) {
  const std::lock_guard lock(mutex_);
  Unexpected* entry = unexpected_.find_if([&](const Unexpected& u) { return u.kept == &message; });
  if (entry == nullptr) return false;
  unexpected_.remove(*entry);
  dispose(entry);
  return true;
}

bool Matcher::probe(const MatchKey& key, Probed& found) {
  const std::lock_guard lock(mutex_);
  const Unexpected* message = find_unexpected(key);
  if (message == nullptr) return false;
  found = {message->key.source, message->key.tag, message->bytes};
  return true;
}

Unexpected* Matcher::take(const MatchKey& key) {
  const std::lock_guard lock(mutex_);
  Unexpected* message = find_unexpected(key);
  if (message != nullptr) unexpected_.remove(*message);
  return message;
}

void Matcher::wait_for_arrival(const MatchKey& key) {
  fiber::Completion arrived;
  {
    const std::lock_guard lock(mutex_);
    if (find_unexpected(key) != nullptr) return;
    probers_.push_back({key, &arrived});
  }
  arrived.wait();
}

}  // namespace clump::p2p
