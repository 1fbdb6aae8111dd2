#include "p2p/matcher.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>

#include "core/rank.h"
#include "datatype/move.h"
#include "fiber/exploration.h"
#include "fiber/fiber.h"
#include "fiber/own_worker.h"
#include "net/joint_work.h"

namespace clump::p2p {

namespace {

// A part adds its share of the memory of copied messages to the sum in steps of this size.
constexpr Count kCountingStep = 64 * 1024;
// The most bytes of a small copy: it is made under the lock, and its memory is used again.
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

/// The bytes behind an Unexpected with so many copied bytes.
Count room_for(Count copied_bytes) { return std::max(copied_bytes, kSmall); }
/// All memory of an Unexpected with so many copied bytes.
Count memory_of(Count copied_bytes) {
  return static_cast<Count>(sizeof(Unexpected)) + room_for(copied_bytes) + kBlockOverhead;
}

/// Called for a message that is longer than the buffer; its envelope and bytes are in the result. Writes the
/// error and returns the length of the buffer.
[[gnu::cold, gnu::noinline]] Count report_truncation(Receive& receive) {
  const Count capacity = receive.buffer.bytes();
  core::Result& result = receive.operation.result;
  const auto status =
      base::fail(MPI_ERR_TRUNCATE,
                 "the message of rank {} with tag {} has {} bytes, the receive buffer takes {} "
                 "({} elements of {} bytes)",
                 result.source, result.tag, result.bytes, capacity, receive.buffer.count,
                 receive.buffer.type == nullptr ? 0 : receive.buffer.type->size());
  result.error = status.code();
  return result.bytes = capacity;
}

/// Writes the message's envelope and bytes into the receive's result, and returns how many bytes go into its
/// buffer.
[[gnu::always_inline]] inline Count accept(Receive& receive, const MatchKey& key, Count bytes) {
  core::Result& result = receive.operation.result;
  result.source = key.source;
  result.tag = key.tag;
  result.bytes = bytes;
  return bytes <= receive.buffer.bytes() ? bytes : report_truncation(receive);
}

/// Does the same as datatype::copy() from offset 0, by a shorter way in the usual case: contiguous and short.
/// Waiting threads help if `bytes` is more than `most`.
inline void bring(const datatype::Layout& to, const datatype::Layout& from, Count bytes, Count most,
                  fiber::Sides sides = {}) {
  if (bytes == 0) return;
  if (bytes > most) return net::joint_copy(to, from, 0, bytes, sides);
  if (to.type->is_dense() && from.type->is_dense()) [[likely]]
    return datatype::move_short(reinterpret_cast<std::intptr_t>(to.base),
                                reinterpret_cast<std::intptr_t>(from.base), bytes);
  datatype::copy(to, from, 0, bytes);
}

/// Copies bytes to the place where a message waits, and from there.
inline void copy(std::byte* to, const datatype::Layout& from, Count bytes) {
  if (bytes == 0) return;
  if (from.type->is_dense()) [[likely]]
    return datatype::move_short(reinterpret_cast<std::intptr_t>(to),
                                reinterpret_cast<std::intptr_t>(from.base), bytes);
  datatype::pack({to, static_cast<std::size_t>(bytes)}, from, 0);
}
inline void copy(const datatype::Layout& to, const std::byte* from, Count bytes) {
  if (bytes == 0) return;
  if (to.type->is_dense()) [[likely]]
    return datatype::move_short(reinterpret_cast<std::intptr_t>(to.base),
                                reinterpret_cast<std::intptr_t>(from), bytes);
  datatype::unpack(to, 0, {from, static_cast<std::size_t>(bytes)});
}

/// Copies once, from the sender's buffer to the receiver's, in the calling thread.
void deliver(net::SendRequest& message, Receive& receive) {
  const Count bytes = accept(receive, key_of(message.envelope), message.bytes);
  if (message.is_remote) [[unlikely]] {
    message.match = &receive;
    return message.fetch(receive.buffer, bytes);
  }
  bring(receive.buffer, message.payload, bytes, net::kLeastTogether, message.sides);
  message.released();
  receive.operation.complete();
}

/// Delivers a message of any size and layout.
[[gnu::noinline]] void deliver_any(net::Envelope envelope, Count bytes, const datatype::Layout& payload,
                                   Receive& receive) {
  bring(receive.buffer, payload, accept(receive, key_of(envelope), bytes), net::kMostStaged);
  receive.operation.complete_near();
}

[[gnu::always_inline]] inline void deliver(net::Envelope envelope, Count bytes,
                                           const datatype::Layout& payload, Receive& receive) {
  const datatype::Layout& buffer = receive.buffer;
  const bool plain = bytes <= kSmall && buffer.type != nullptr && buffer.type->is_dense() &&
                     payload.type->is_dense() && bytes <= buffer.count * buffer.type->size();
  if (!plain) return deliver_any(envelope, bytes, payload, receive);
  core::Result& result = receive.operation.result;
  result.source = envelope.source();
  result.tag = envelope.tag();
  result.bytes = bytes;
  datatype::move_short(reinterpret_cast<std::intptr_t>(buffer.base),
                       reinterpret_cast<std::intptr_t>(payload.base), bytes);
  receive.operation.complete_near();
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

[[gnu::always_inline]] inline Receive* Matcher::Part::take_posted(const MatchKey& key) {
  return wildcards.empty() ? exact.take(key) : take_oldest_posted(key);
}

/// The posted receive that matches first, in a part that has receives with wildcards.
[[gnu::noinline]] Receive* Matcher::Part::take_oldest_posted(MatchKey key) {
  Receive* const named = exact.find(key);
  Receive* const any = wildcards.find_if([&](const Receive& r) { return fits(r.key, key); });
  if (any != nullptr && (named == nullptr || any->sequence < named->sequence)) {
    wildcards.remove(*any);
    return any;
  }
  if (named != nullptr) exact.remove(*named);
  return named;
}

inline void Matcher::Part::add(Receive& receive) {
  receive.sequence = next_sequence++;
  if (has_wildcard(receive.key)) [[unlikely]]
    wildcards.push(receive);
  else
    exact.push(receive);
}

[[gnu::always_inline]] inline Unexpected* Matcher::Part::find_unexpected(const MatchKey& key) const {
  return has_wildcard(key) ? find_any_unexpected(key) : unexpected.find(key);
}

[[gnu::noinline]] Unexpected* Matcher::Part::find_any_unexpected(const MatchKey& key) const {
  if (fiber::exploration::is_on) return draw_unexpected(key);
  return unexpected.find_if([&](const Unexpected& message) { return fits(key, message.key); });
}

/// The message that a receive gets in an explored run. Messages of one source do not overtake each other, but
/// those of different sources do.
[[gnu::cold, gnu::noinline]] Unexpected* Matcher::Part::draw_unexpected(const MatchKey& key) const {
  std::vector<Unexpected*> first;  // the first one of each source
  unexpected.for_each([&](Unexpected& message) {
    const auto same = [&](const Unexpected* one) { return one->key.source == message.key.source; };
    if (fits(key, message.key) && std::ranges::none_of(first, same)) first.push_back(&message);
  });
  return first.empty() ? nullptr : first[fiber::exploration::choose(first.size())];
}

[[gnu::always_inline]] inline void Matcher::Part::keep(Unexpected& message) {
  message.sequence = next_sequence++;
  unexpected.push(message);
  came_early.add(message.bytes);
  if (observer != nullptr || !probers.empty()) [[unlikely]]
    announce(message);
}

/// Tells the observer of the message, and the probes that it satisfies.
[[gnu::cold, gnu::noinline]] void Matcher::Part::announce(const Unexpected& message) {
  if (observer != nullptr)
    observer->unexpected_came({message.key.context, message.key.source, message.key.tag, message.bytes});
  std::erase_if(probers, [&](const Prober& prober) {
    if (!fits(prober.key, message.key)) return false;
    prober.arrived->signal();
    return true;
  });
}

inline void Matcher::Part::take_out(Unexpected& message) {
  unexpected.remove(message);
  if (observer != nullptr) [[unlikely]]
    observer->unexpected_went();
}

template <typename Wanted>
void Matcher::Part::add_lengths(Lengths& sum, Wanted wanted) const {
  const auto count_receive = [&](const Receive& receive) {
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
  if (static_cast<std::uint64_t>(part.not_counted + kCountingStep) > 2 * kCountingStep) [[unlikely]]
    tell_memory(part);
}

void Matcher::tell_memory(Part& part) {
  const Count now = memory_.fetch_add(part.not_counted, std::memory_order_relaxed) + part.not_counted;
  part.not_counted = 0;
  // Two parts may set different values for a moment; the next step of either corrects it. Senders may copy
  // again when half of the memory is free.
  if (now > bound())
    crowded_.store(true, std::memory_order_relaxed);
  else if (now < bound() / 2 && crowded())
    crowded_.store(false, std::memory_order_relaxed);
}

[[gnu::noinline]] void* new_unexpected(Count copied_bytes) {
  void* const memory = std::malloc(sizeof(Unexpected) + room_for(copied_bytes));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

[[gnu::always_inline]] inline Unexpected* Matcher::make_unexpected(Part& part, net::Envelope envelope,
                                                                   Count copied_bytes) {
  void* memory = part.spare;
  if (copied_bytes <= kSmall && memory != nullptr) [[likely]] {
    part.spare = part.spare->next_spare;
    --part.spare_count;
  } else {
    memory = new_unexpected(copied_bytes);
  }
  auto* const message = new (memory) Unexpected(key_of(envelope));
  message->bytes = copied_bytes;
  return message;
}

/// What `message` keeps must still be there.
[[gnu::always_inline]] inline void Matcher::dispose(Part& part, Unexpected* message) {
  if (message->kept == nullptr || message->kept->comes_unasked) count(part, -memory_of(message->bytes));
  const bool small = message->kept != nullptr || message->bytes <= kSmall;
  if (!small || part.spare_count == kMostSpare) return std::free(message);
  message->next_spare = part.spare;
  part.spare = message;
  ++part.spare_count;
}

[[gnu::always_inline]] inline bool Matcher::take_now(net::Envelope envelope, Count bytes,
                                                     const datatype::Layout& payload, Bound bound) {
  Part& part = part_of(envelope.context());
  if (!part.mutex.lock_if_free()) [[unlikely]]
    return wait_and_take(part, envelope, bytes, payload, bound);
  return take_locked(part, envelope, bytes, payload, bound);
}

bool Matcher::take(net::Envelope envelope, Count bytes, const datatype::Layout& payload, Bound bound) {
  return take_now(envelope, bytes, payload, bound);
}

// Inlined into MPI_Send when the library is optimised as a whole; GCC warns that it cannot see this here.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"
[[gnu::always_inline]] bool show(net::Sink& sink, net::Envelope envelope, Count bytes,
                                 const datatype::Layout& payload) {
  return static_cast<Matcher&>(sink).take_now(envelope, bytes, payload, net::Sink::Bound::kRespect);
}
#pragma GCC diagnostic pop

[[gnu::cold, gnu::noinline]] bool Matcher::wait_and_take(Part& part, net::Envelope envelope, Count bytes,
                                                         const datatype::Layout& payload, Bound bound) {
  part.mutex.lock();
  return take_locked(part, envelope, bytes, payload, bound);
}

[[gnu::always_inline]] inline bool Matcher::take_locked(Part& part, net::Envelope envelope, Count bytes,
                                                        const datatype::Layout& payload, Bound bound) {
  if (!part.wildcards.empty()) [[unlikely]]
    return take_among_wildcards(part, envelope, bytes, payload, bound);
  Receive* const receive = part.exact.take(key_of(envelope));
  if (receive == nullptr) return take_unexpected(part, envelope, bytes, payload, bound);
  part.expected.add(bytes);
  part.mutex.unlock();
  deliver(envelope, bytes, payload, *receive);
  return true;
}

[[gnu::noinline]] bool Matcher::take_among_wildcards(Part& part, net::Envelope envelope, Count bytes,
                                                     const datatype::Layout& payload, Bound bound) {
  Receive* const receive = part.take_oldest_posted(key_of(envelope));
  if (receive == nullptr) return take_unexpected(part, envelope, bytes, payload, bound);
  part.expected.add(bytes);
  part.mutex.unlock();
  deliver_any(envelope, bytes, payload, *receive);
  return true;
}

[[gnu::noinline]] bool Matcher::take_unexpected(Part& part, net::Envelope envelope, Count bytes,
                                                const datatype::Layout& payload, Bound bound) {
  std::unique_lock lock(part.mutex, std::adopt_lock);
  if (bound == Bound::kRespect && crowded()) return false;
  count(part, memory_of(bytes));
  Unexpected* const kept = make_unexpected(part, envelope, bytes);
  if (bytes > kSmall) lock.unlock();
  copy(kept->data(), payload, bytes);
  if (bytes > kSmall) {
    lock.lock();
    // A receive may have been posted meanwhile.
    if (Receive* const receive = part.take_posted(kept->key)) {
      dispose(part, kept);
      part.expected.add(bytes);
      lock.unlock();
      deliver_any(envelope, bytes, payload, *receive);
      return true;
    }
  }
  part.keep(*kept);
  return true;
}

bool Matcher::Part::match(net::SendRequest& message) {
  Receive* const receive = take_posted(key_of(message.envelope));
  if (receive == nullptr) return false;
  message.match = receive;
  expected.add(message.bytes);
  return true;
}

bool Matcher::arrive(net::SendRequest& message) {
  const net::Envelope envelope = message.envelope;
  Part& part = part_of(envelope.context());
  if (!message.synchronous) {
    if (message.bytes > net::kLeastTogether) {  // for move(), in which others help
      const std::lock_guard lock(part.mutex);
      if (part.match(message)) return true;
    }
    if (take(envelope, message.bytes, message.payload, Bound::kRespect)) {
      message.released();
      return false;
    }
  }
  const std::lock_guard lock(part.mutex);
  if (part.match(message)) return true;
  Unexpected* const kept = make_unexpected(part, envelope, 0);
  kept->kept = &message;
  kept->bytes = message.bytes;
  if (message.comes_unasked) count(part, memory_of(message.bytes));
  part.keep(*kept);
  return false;
}

void Matcher::move(net::SendRequest& message) {
  if (message.bytes > net::kLeastTogether) fiber::begin_long_work();
  deliver(message, *static_cast<Receive*>(message.match));
}

void Matcher::fetched(net::SendRequest& message) {
  static_cast<Receive*>(message.match)->operation.complete();
}

void Matcher::post(Receive& receive) {
  Part& part = part_of(receive.key.context);
  if (!part.mutex.lock_if_free()) [[unlikely]]
    return wait_and_post(part, receive);
  post_locked(part, receive);
}

[[gnu::cold, gnu::noinline]] void Matcher::wait_and_post(Part& part, Receive& receive) {
  part.mutex.lock();
  post_locked(part, receive);
}

[[gnu::always_inline]] inline void Matcher::post_locked(Part& part, Receive& receive) {
  if (part.unexpected.size() != 0) return look_and_post(part, receive);
  if (has_wildcard(receive.key) || part.exact.is_full()) [[unlikely]]
    return add_and_unlock(part, receive);
  receive.sequence = part.next_sequence++;
  part.exact.push_into_room(receive);
  part.mutex.unlock();
}

[[gnu::noinline]] void Matcher::add_and_unlock(Part& part, Receive& receive) {
  part.add(receive);
  part.mutex.unlock();
}

/// Posts a receive in a part that has unexpected messages.
[[gnu::noinline]] void Matcher::look_and_post(Part& part, Receive& receive) {
  Unexpected* const message = part.find_unexpected(receive.key);
  if (message == nullptr) return add_and_unlock(part, receive);
  part.take_out(*message);
  if (receive.is_expected) {  // the message is here, so no thread would wake the caller
    receive.is_expected = false;
    receive.operation.completion.reset();
  }
  const bool small = message->kept == nullptr && message->bytes <= kSmall;
  if (small) {
    copy(receive.buffer, message->data(), accept(receive, message->key, message->bytes));
    dispose(part, message);
  }
  part.mutex.unlock();
  if (small)
    receive.operation.complete();
  else
    receive_taken(message, receive);
}

void Matcher::receive_taken(Unexpected* message, Receive& receive) {
  net::SendRequest* const kept = message->kept;
  if (kept == nullptr) copy(receive.buffer, message->data(), accept(receive, message->key, message->bytes));
  Part& part = part_of(message->key.context);
  {
    const std::lock_guard lock(part.mutex);
    dispose(part, message);
  }
  if (kept != nullptr)
    deliver(*kept, receive);
  else
    receive.operation.complete();
}

bool Matcher::retract(Receive& receive) {
  Part& part = part_of(receive.key.context);
  const std::lock_guard lock(part.mutex);
  if (!receive.queued) return false;
  if (has_wildcard(receive.key))
    part.wildcards.remove(receive);
  else
    part.exact.remove(receive);
  return true;
}

bool Matcher::retract_if_first(Receive& receive) {
  Part& part = part_of(receive.key.context);
  const std::lock_guard lock(part.mutex);
  if (!part.wildcards.empty() || part.exact.find(receive.key) != &receive) return false;
  part.exact.remove(receive);
  return true;
}

/// Removes and returns the kept message that satisfies `wanted`; null if there is none. No receive finds it
/// any more.
template <typename Wanted>
net::SendRequest* Matcher::retract_kept(net::Envelope envelope, Wanted wanted) {
  Part& part = part_of(envelope.context());
  const std::lock_guard lock(part.mutex);
  Unexpected* const entry =
      part.unexpected.find_if([&](const Unexpected& u) { return u.kept != nullptr && wanted(*u.kept); });
  if (entry == nullptr) return nullptr;
  net::SendRequest* const kept = entry->kept;
  part.take_out(*entry);
  dispose(part, entry);
  return kept;
}

bool Matcher::retract(net::SendRequest& message) {
  return retract_kept(message.envelope, [&](const net::SendRequest& kept) { return &kept == &message; });
}

net::SendRequest* Matcher::retract_remote(net::Envelope envelope, const net::SendRequest* original) {
  // Another process may have a different message at the same address, so the key is compared, too.
  const MatchKey key = key_of(envelope);
  return retract_kept(envelope, [&](const net::SendRequest& kept) {
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

void Matcher::watch(core::ToolObserver* observer) {
  for (Part& part : parts_) part.mutex.lock();
  if (observer != nullptr) {
    Count waiting = 0;
    for (const Part& part : parts_) waiting += part.unexpected.size();
    observer->unexpected_are(waiting);
  }
  for (Part& part : parts_) {
    part.observer = observer;
    part.mutex.unlock();
  }
}

Matcher::Arrived Matcher::arrived() const {
  Arrived sum{.expected = in_passing_.messages.value(), .expected_bytes = in_passing_.bytes.value()};
  for (const Part& part : parts_) {
    sum.expected += part.expected.messages.value();
    sum.expected_bytes += part.expected.bytes.value();
    sum.unexpected += part.came_early.messages.value();
    sum.unexpected_bytes += part.came_early.bytes.value();
  }
  return sum;
}

void Matcher::visit(Visitor& visitor) {
  for (Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    const auto posted = [&](const Receive& receive) { visitor.posted(receive); };
    part.exact.for_each(posted);
    part.wildcards.for_each(posted);
    part.unexpected.for_each([&](const Unexpected& message) { visitor.unexpected(message); });
    for (const Prober& prober : part.probers) visitor.probed(prober.key, *prober.arrived);
  }
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
