// How much stack an access would have needed, and what to say of it. For handlers of fatal signals: uses
// neither heap nor locks. Not for other layers.
#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <cstdint>

namespace clump::host {

/// An address so near to a stack is taken for one that was meant to be in it.
inline constexpr std::uintptr_t kNearStack = 64 << 20;

enum class StackOwner : std::uint8_t { kRank, kMainThread, kThread };

/// The stack of a thread: [bottom, top). Nothing but the thread means an address in [guard, bottom).
struct FoundStack {
  StackOwner owner = StackOwner::kThread;
  std::uintptr_t guard = 0, bottom = 0, top = 0;
  std::size_t bytes = 0;         ///< what it may have
  bool is_all_there_is = false;  ///< no limit holds it back, but the address space
};

/// How many bytes the stack would have needed for an access to `address`; 0: the address has nothing to do
/// with it. `has_left`: the stack pointer is below the stack, at a place where no other stack is (of a
/// coroutine, for instance).
std::size_t stack_needed(const FoundStack& stack, std::uintptr_t address, std::uintptr_t stack_pointer,
                         bool has_left);

/// Writes what is to be said of a stack that needs so many bytes, and how to raise it under this hard limit
/// of RLIMIT_STACK. Returns the length, which is less than `capacity`; 0 if `needed` is.
std::size_t describe_need(char* text, std::size_t capacity, const FoundStack& stack, std::size_t needed,
                          rlim_t hard);

/// The same for an access above a rank's stack; 0: `address` is not there, or not near.
std::size_t describe_above(char* text, std::size_t capacity, const FoundStack& stack, std::uintptr_t address);

}  // namespace clump::host
