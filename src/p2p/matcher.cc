#include "p2p/matcher.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>

#include "core/rank.h"
#include "datatype/move.h"
#include "p2p/joint_copy.h"

namespace clump::p2p {

namespace {

// A part tells its share of the memory of copied messages in steps of this size.
constexpr Count kCountingStep = 64 * 1024;
// Small copies are made under the lock and their memory is used again.
constexpr Count kSmall = 64;
constexpr std::uint32_t kMostSpare = 256;
// What malloc adds to a block.
constexpr Count kBlockOverhead = 16;

bool fits(const MatchKey& wanted, const MatchKey& have) {
  return wanted.context == have.context &&
         (wanted.source == MPI_ANY_SOURCE || wanted.source == have.source) &&
         (wanted.tag == MPI_ANY_TAG || wanted.tag == have.tag);
}

bool has_wildcard(const MatchKey& key) { return key.source == MPI_ANY_SOURCE || key.tag == MPI_ANY_TAG; }

inline MatchKey key_of(net::Envelope e) { return {e.context(), e.source(), e.tag()}; }

/// Memory behind an Unexpected with so many copied bytes.
Count room_for(Count copied_bytes) { return std::max(copied_bytes, kSmall); }

/// The message, whose envelope and bytes stand in the result, is longer than the buffer. Returns how long
/// that is.
[[gnu::cold, gnu::noinline]] Count refuse_rest(ReceiveOperation& receive) {
  const Count capacity = receive.buffer.bytes();
  const auto status =
      base::fail(MPI_ERR_TRUNCATE,
                 "the message of rank {} with tag {} has {} bytes, the receive buffer takes {} "
                 "({} elements of {} bytes)",
                 receive.result.source, receive.result.tag, receive.result.bytes, capacity,
                 receive.buffer.count, receive.buffer.type == nullptr ? 0 : receive.buffer.type->size());
  receive.result.error = status.code();
  return receive.result.bytes = capacity;
}

/// Fills in what the receive tells about the message, and returns how many bytes go into its buffer.
[[gnu::always_inline]] inline Count accept(ReceiveOperation& receive, const MatchKey& key, Count bytes) {
  receive.result.source = key.source;
  receive.result.tag = key.tag;
  receive.result.bytes = bytes;
  return bytes <= receive.buffer.bytes() ? bytes : refuse_rest(receive);
}

/// As datatype::copy() from the start, without a detour for the usual case: solid and short.
inline void copy(const datatype::Layout& to, const datatype::Layout& from, Count bytes) {
  if (bytes == 0) return;
  if (to.type->is_dense() && from.type->is_dense()) [[likely]]
    return datatype::move_short(reinterpret_cast<std::intptr_t>(to.base),
                                reinterpret_cast<std::intptr_t>(from.base), bytes);
  datatype::copy(to, from, 0, bytes);
}

datatype::Layout solid(std::byte* data, Count bytes) {
  static const datatype::Datatype* const byte = datatype::predefined(MPI_BYTE);
  return {data, bytes, byte};
}

/// One copy, from the sender's buffer to the receiver's, by the calling thread.
void deliver(net::Outgoing& message, ReceiveOperation& receive) {
  const Count bytes = accept(receive, key_of(message.envelope), message.bytes);
  if (message.is_remote) [[unlikely]] {
    message.match = &receive;
    return message.fetch(receive.buffer, bytes);
  }
  if (bytes > net::kEagerLimit)
    joint_copy(receive.buffer, message.payload, 0, bytes);
  else
    copy(receive.buffer, message.payload, bytes);
  message.released();
  receive.complete();
}

[[gnu::always_inline]] inline void deliver(net::Envelope envelope, Count bytes,
                                           const datatype::Layout& payload, ReceiveOperation& receive) {
  copy(receive.buffer, payload, accept(receive, key_of(envelope), bytes));
  receive.complete();
}

}  // namespace

Matcher::~Matcher() {
  for (Part& part : parts_) {
    while (Unexpected* message = part.unexpected.find_if([](const Unexpected&) { return true; })) {
      part.unexpected.remove(*message);
      std::free(message);
    }
    while (Unexpected* message = part.spare) {
      part.spare = message->next_spare;
      std::free(message);
    }
  }
}

[[gnu::always_inline]] inline ReceiveOperation* Matcher::Part::take_posted(const MatchKey& key) {
  return wildcards.empty() ? exact.take(key) : take_oldest_posted(key);
}

/// Where there are wildcards.
[[gnu::noinline]] ReceiveOperation* Matcher::Part::take_oldest_posted(MatchKey key) {
  ReceiveOperation* const named = exact.find(key);
  ReceiveOperation* const any =
      wildcards.find_if([&](const ReceiveOperation& r) { return fits(r.key, key); });
  if (any != nullptr && (named == nullptr || any->sequence < named->sequence)) {
    wildcards.remove(*any);
    return any;
  }
  if (named != nullptr) exact.remove(*named);
  return named;
}

[[gnu::always_inline]] inline void Matcher::Part::add(ReceiveOperation& receive) {
  receive.sequence = next_sequence++;
  if (has_wildcard(receive.key)) [[unlikely]]
    wildcards.push(receive);
  else
    exact.push(receive);
}

Unexpected* Matcher::Part::find_unexpected(const MatchKey& key) const {
  if (!has_wildcard(key)) return unexpected.find(key);
  return unexpected.find_if([&](const Unexpected& message) { return fits(key, message.key); });
}

void Matcher::Part::keep(Unexpected& message) {
  message.sequence = next_sequence++;
  unexpected.push(message);
  came_early.add(message.bytes);
  if (watcher != nullptr) [[unlikely]]
    watcher->unexpected_came({message.key.context, message.key.source, message.key.tag, message.bytes});
  if (probers.empty()) return;
  std::erase_if(probers, [&](const Prober& prober) {
    if (!fits(prober.key, message.key)) return false;
    prober.arrived->signal();
    return true;
  });
}

inline void Matcher::Part::take_out(Unexpected& message) {
  unexpected.remove(message);
  if (watcher != nullptr) [[unlikely]]
    watcher->unexpected_went();
}

template <typename Wanted>
void Matcher::Part::add_lengths(Lengths& sum, Wanted wanted) const {
  const auto count_receive = [&](const ReceiveOperation& receive) {
    if (wanted(receive.key.context)) ++sum.posted;
  };
  exact.for_each(count_receive);
  wildcards.for_each(count_receive);
  unexpected.for_each([&](const Unexpected& message) {
    if (!wanted(message.key.context)) return;
    ++sum.unexpected;
    sum.unexpected_bytes += message.bytes;
  });
}

[[gnu::always_inline]] inline void Matcher::count(Part& part, Count memory) {
  part.not_counted += memory;
  if (std::abs(part.not_counted) >= kCountingStep) [[unlikely]]
    tell_memory(part);
}

void Matcher::tell_memory(Part& part) {
  const Count now = memory_.fetch_add(part.not_counted, std::memory_order_relaxed) + part.not_counted;
  part.not_counted = 0;
  // Two parts may disagree for a moment; the next step of either sets it right.
  // Senders may copy again when half of it is free.
  if (now > bound())
    crowded_.store(true, std::memory_order_relaxed);
  else if (now < bound() / 2 && crowded())
    crowded_.store(false, std::memory_order_relaxed);
}

Unexpected* Matcher::make_unexpected(Part& part, net::Envelope envelope, Count copied_bytes) {
  void* memory = part.spare;
  if (copied_bytes <= kSmall && memory != nullptr) {
    part.spare = part.spare->next_spare;
    --part.spare_count;
  } else {
    memory = std::malloc(sizeof(Unexpected) + room_for(copied_bytes));
    if (memory == nullptr) throw std::bad_alloc();
  }
  auto* const message = new (memory) Unexpected;
  message->key = key_of(envelope);
  message->bytes = copied_bytes;
  return message;
}

[[gnu::always_inline]] inline void Matcher::dispose(Part& part, Unexpected* message) {
  if (message->kept == nullptr)
    count(part, -(static_cast<Count>(sizeof(Unexpected)) + room_for(message->bytes) + kBlockOverhead));
  const bool small = message->kept != nullptr || message->bytes <= kSmall;
  if (!small || part.spare_count == kMostSpare) return std::free(message);
  message->next_spare = part.spare;
  part.spare = message;
  ++part.spare_count;
}

bool Matcher::take(net::Envelope envelope, Count bytes, const datatype::Layout& payload, Bound bound) {
  Part& part = part_of(envelope.context());
  part.mutex.lock();
  ReceiveOperation* const receive = part.take_posted(key_of(envelope));
  if (receive == nullptr) return take_unexpected(part, envelope, bytes, payload, bound);
  part.expected.add(bytes);
  part.mutex.unlock();
  deliver(envelope, bytes, payload, *receive);
  return true;
}

/// The caller has locked the part; it is unlocked afterwards.
[[gnu::noinline]] bool Matcher::take_unexpected(Part& part, net::Envelope envelope, Count bytes,
                                                const datatype::Layout& payload, Bound bound) {
  std::unique_lock lock(part.mutex, std::adopt_lock);
  if (bound == Bound::kRespect && crowded()) return false;
  count(part, static_cast<Count>(sizeof(Unexpected)) + room_for(bytes) + kBlockOverhead);
  Unexpected* const kept = make_unexpected(part, envelope, bytes);
  if (bytes > kSmall) lock.unlock();
  copy(solid(kept->data(), bytes), payload, bytes);
  if (bytes > kSmall) {
    lock.lock();
    // A receive may have been posted meanwhile.
    if (ReceiveOperation* const receive = part.take_posted(kept->key)) {
      dispose(part, kept);
      part.expected.add(bytes);
      lock.unlock();
      deliver(envelope, bytes, payload, *receive);
      return true;
    }
  }
  part.keep(*kept);
  return true;
}

bool Matcher::arrive(net::Outgoing& message) {
  const net::Envelope envelope = message.envelope;
  if (!message.synchronous && take(envelope, message.bytes, message.payload, Bound::kRespect)) {
    message.released();
    return false;
  }
  Part& part = part_of(envelope.context());
  const std::lock_guard lock(part.mutex);
  if (ReceiveOperation* const receive = part.take_posted(key_of(envelope))) {
    message.match = receive;
    part.expected.add(message.bytes);
    return true;
  }
  Unexpected* const kept = make_unexpected(part, envelope, 0);
  kept->kept = &message;
  kept->bytes = message.bytes;
  part.keep(*kept);
  return false;
}

void Matcher::move(net::Outgoing& message) {
  deliver(message, *static_cast<ReceiveOperation*>(message.match));
}

void Matcher::fetched(net::Outgoing& message) { static_cast<ReceiveOperation*>(message.match)->complete(); }

void Matcher::post(ReceiveOperation& receive) {
  Part& part = part_of(receive.key.context);
  part.mutex.lock();
  if (part.unexpected.size() != 0) return look_and_post(part, receive);
  part.add(receive);
  part.mutex.unlock();
}

/// Where there are unexpected messages. The caller has locked the part; it is unlocked afterwards.
[[gnu::noinline]] void Matcher::look_and_post(Part& part, ReceiveOperation& receive) {
  if (Unexpected* const message = part.find_unexpected(receive.key))
    return receive_now(part, message, receive);
  part.add(receive);
  part.mutex.unlock();
}

/// The caller has locked the part; it is unlocked afterwards.
[[gnu::noinline]] void Matcher::receive_now(Part& part, Unexpected* message, ReceiveOperation& receive) {
  part.take_out(*message);
  const bool small = message->kept == nullptr && message->bytes <= kSmall;
  if (small) {
    copy(receive.buffer, solid(message->data(), message->bytes),
         accept(receive, message->key, message->bytes));
    dispose(part, message);
  }
  part.mutex.unlock();
  if (small)
    receive.complete();
  else
    receive_taken(message, receive);
}

void Matcher::receive_taken(Unexpected* message, ReceiveOperation& receive) {
  net::Outgoing* const kept = message->kept;
  if (kept == nullptr)
    copy(receive.buffer, solid(message->data(), message->bytes),
         accept(receive, message->key, message->bytes));
  Part& part = part_of(message->key.context);
  {
    const std::lock_guard lock(part.mutex);
    dispose(part, message);
  }
  if (kept != nullptr)
    deliver(*kept, receive);
  else
    receive.complete();
}

bool Matcher::retract(ReceiveOperation& receive) {
  Part& part = part_of(receive.key.context);
  const std::lock_guard lock(part.mutex);
  if (!receive.queued) return false;
  if (has_wildcard(receive.key))
    part.wildcards.remove(receive);
  else
    part.exact.remove(receive);
  return true;
}

/// The kept message that satisfies `wanted`, which nobody finds any more; null if there is none.
template <typename Wanted>
net::Outgoing* Matcher::retract_kept(net::Envelope envelope, Wanted wanted) {
  Part& part = part_of(envelope.context());
  const std::lock_guard lock(part.mutex);
  Unexpected* const entry =
      part.unexpected.find_if([&](const Unexpected& u) { return u.kept != nullptr && wanted(*u.kept); });
  if (entry == nullptr) return nullptr;
  net::Outgoing* const kept = entry->kept;
  part.take_out(*entry);
  dispose(part, entry);
  return kept;
}

bool Matcher::retract(net::Outgoing& message) {
  return retract_kept(message.envelope, [&](const net::Outgoing& kept) { return &kept == &message; });
}

net::Outgoing* Matcher::retract_remote(net::Envelope envelope, const net::Outgoing* original) {
  // Another process may have a message of its own at the address.
  const MatchKey key = key_of(envelope);
  return retract_kept(envelope, [&](const net::Outgoing& kept) {
    return kept.original == original && key_of(kept.envelope) == key;
  });
}

bool Matcher::probe(const MatchKey& key, Probed& found) {
  Part& part = part_of(key.context);
  const std::lock_guard lock(part.mutex);
  const Unexpected* const message = part.find_unexpected(key);
  if (message == nullptr) return false;
  found = {message->key.source, message->key.tag, message->bytes};
  return true;
}

Unexpected* Matcher::withdraw(const MatchKey& key) {
  Part& part = part_of(key.context);
  const std::lock_guard lock(part.mutex);
  Unexpected* const message = part.find_unexpected(key);
  if (message != nullptr) part.take_out(*message);
  return message;
}

Matcher::Lengths Matcher::lengths() {
  Lengths sum;
  for (Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    part.add_lengths(sum, [](std::uint32_t) { return true; });
  }
  return sum;
}

Matcher::Lengths Matcher::lengths(std::uint32_t context) {
  Lengths sum;
  Part& part = part_of(context);
  const std::lock_guard lock(part.mutex);
  part.add_lengths(sum, [context](std::uint32_t other) { return other == context; });
  return sum;
}

void Matcher::watch(core::Watcher* watcher) {
  for (Part& part : parts_) part.mutex.lock();
  if (watcher != nullptr) {
    Count waiting = 0;
    for (const Part& part : parts_) waiting += part.unexpected.size();
    watcher->unexpected_are(waiting);
  }
  for (Part& part : parts_) {
    part.watcher = watcher;
    part.mutex.unlock();
  }
}

Matcher::Arrived Matcher::arrived() const {
  Arrived sum;
  for (const Part& part : parts_) {
    sum.expected += part.expected.messages.value();
    sum.expected_bytes += part.expected.bytes.value();
    sum.unexpected += part.came_early.messages.value();
    sum.unexpected_bytes += part.came_early.bytes.value();
  }
  return sum;
}

void Matcher::wait_for_arrival(const MatchKey& key) {
  fiber::Completion arrived;
  Part& part = part_of(key.context);
  {
    const std::lock_guard lock(part.mutex);
    if (part.find_unexpected(key) != nullptr) return;
    part.probers.push_back({key, &arrived});
  }
  arrived.wait();
}

}  // namespace clump::p2p
