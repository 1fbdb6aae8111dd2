// The messages that an endpoint context has announced (RTS), by numbers. Other processes name a message of
// this process by its number only, so that nothing that they send is followed as an address.
#pragma once

#include <cstdint>
#include <vector>

#include "net/channel.h"

namespace clump::net::ofi {

/// A message from its RTS until its sender has it back.
struct Announced {
  SendRequest* message = nullptr;  ///< null: the place is free
  int process = -1;                ///< to which it is announced
  std::uint32_t generation = 0;    ///< how often the place was used
  Count wanted = -1;               ///< what the receiver fetches of it; -1: it has not asked
  Count asked = 0, done = 0;       ///< of that
  bool is_cancelled = false;       ///< the receiver is asked to give it back

  bool is_asked_for() const { return wanted >= 0; }
};

/// Not thread-safe: the endpoint context's lock is held.
class AnnouncedMessages {
 public:
  /// Whether a number may be one of another process's table. Numbers are no addresses, and no numbers of the
  /// link channel: a matcher that keeps messages of several channels does not take one for another.
  static bool is_number(std::uint64_t number) { return (number & 3) == 1; }

  /// The message's number.
  std::uint64_t add(SendRequest& message, int process) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(all_.size()));
      all_.emplace_back();
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    Announced& one = all_[index];
    one = {.message = &message, .process = process, .generation = one.generation + 1};
    const std::uint64_t number = std::uint64_t{one.generation} << 32 | std::uint64_t{index} << 2 | 1;
    message.original = reinterpret_cast<SendRequest*>(number);
    return number;
  }
  /// What `number` means to a process to which it was announced; null: nothing.
  Announced* find(std::uint64_t number, int process) {
    const std::uint64_t index = (number & 0xffffffff) >> 2;
    if (!is_number(number) || index >= all_.size()) return nullptr;
    Announced& one = all_[index];
    return one.message != nullptr && one.generation == number >> 32 && one.process == process ? &one
                                                                                              : nullptr;
  }
  /// The number of a message that its sender still has; 0: it is not announced, or not any more.
  std::uint64_t number_of(const SendRequest& message, int process) {
    const auto number = reinterpret_cast<std::uint64_t>(message.original);
    const Announced* const one = find(number, process);
    return one != nullptr && one->message == &message ? number : 0;
  }
  /// Takes a message out: its number means nothing any more.
  SendRequest& remove(Announced& one) {
    SendRequest& message = *one.message;
    message.original = nullptr;
    one.message = nullptr;
    free_.push_back(static_cast<std::uint32_t>(&one - all_.data()));
    return message;
  }

 private:
  std::vector<Announced> all_;
  std::vector<std::uint32_t> free_;
};

}  // namespace clump::net::ofi
