#include "host/stack_need.h"

#include <algorithm>
#include <cstdio>

#include "host/stack_plan.h"

namespace clump::host {

namespace {

/// A function writes so far below its stack pointer, or begins to, before the pointer follows.
constexpr std::uintptr_t kSlack = 64 * kKiB;

/// What snprintf() has written of the text.
std::size_t written(int bytes, std::size_t capacity) {
  return std::min(static_cast<std::size_t>(std::max(bytes, 0)), capacity - 1);
}

/// What to give next time, in KiB: as much as is needed and some more, at least twice as much as there was.
std::size_t proposal(std::size_t needed_bytes, std::size_t bytes) {
  const std::size_t enough = std::max(needed_bytes + needed_bytes / 4, 2 * bytes);
  return (enough + kMiB - 1) / kMiB * kKiB;
}

int describe_remedy(char* text, std::size_t capacity, const FoundStack& stack, std::size_t proposed,
                    rlim_t hard) {
  if (stack.owner == StackOwner::kThread) {
    return std::snprintf(text, capacity,
                         "; raise it with OMP_STACKSIZE=%zuM (OpenMP), pthread_attr_setstacksize(), or "
                         "(ulimit -s %zu; mpiexec ...)",
                         proposed / kKiB, proposed);
  }
  if (stack.is_all_there_is) {
    return std::snprintf(text, capacity,
                         ", and there is no room for more in a process of so many ranks; mpiexec "
                         "--per-process K makes more processes");
  }
  if (hard != RLIM_INFINITY && hard < proposed * kKiB) {
    return std::snprintf(
        text, capacity,
        "; raise it with (ulimit -s %zu; mpiexec ...), and the hard limit of %zu KiB (ulimit -Hs) before",
        proposed, static_cast<std::size_t>(hard / kKiB));
  }
  return std::snprintf(text, capacity, "; raise it with (ulimit -s %zu; mpiexec ...)", proposed);
}

const char* name_of(StackOwner owner) {
  return owner == StackOwner::kThread ? "the stack of one of its threads" : "its stack";
}

}  // namespace

std::size_t stack_needed(const FoundStack& stack, std::uintptr_t address, std::uintptr_t stack_pointer,
                         bool has_left) {
  if (address >= stack.bottom) return 0;
  const bool follows =
      address + kSlack >= stack_pointer && (has_left || stack_pointer - stack.bottom < kSlack);
  if (address < stack.guard && !follows) return 0;
  return stack.top - (has_left ? std::min(address, stack_pointer) : address);
}

std::size_t describe_need(char* text, std::size_t capacity, const FoundStack& stack, std::size_t needed,
                          rlim_t hard) {
  if (needed == 0) return 0;
  const std::size_t begun =
      written(std::snprintf(text, capacity, "stack overflow: %s has %zu KiB, and at least %zu KiB are needed",
                            name_of(stack.owner), stack.bytes / kKiB, (needed + kKiB - 1) / kKiB),
              capacity);
  return begun +
         written(describe_remedy(text + begun, capacity - begun, stack, proposal(needed, stack.bytes), hard),
                 capacity - begun);
}

std::size_t describe_above(char* text, std::size_t capacity, const FoundStack& stack,
                           std::uintptr_t address) {
  if (stack.owner != StackOwner::kRank || address < stack.top || address - stack.top >= kNearStack) return 0;
  return written(
      std::snprintf(text, capacity, "stack overflow upwards: address 0x%zx is %zu bytes above %s of %zu KiB",
                    address, address - stack.top + 1, name_of(stack.owner), stack.bytes / kKiB),
      capacity);
}

}  // namespace clump::host
