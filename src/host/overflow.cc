// Is a fault one of the stack, and what is to be told of it? Any thread of the process: the main one, those
// of ranks, and those that ranks make. The kernel's list of mappings tells where a stack ends; only a thread
// in trouble pays for that.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "host/mappings.h"
#include "host/stacks.h"

namespace clump::host {

namespace {

constexpr std::uintptr_t kKiB = 1 << 10, kMiB = 1 << 20;

/// A function writes so far below its stack pointer, or begins to, before the pointer follows.
constexpr std::uintptr_t kSlack = 64 * kKiB;
/// An address so near to a stack is taken for one that was meant to be in it.
constexpr std::uintptr_t kNear = 64 * kMiB;

/// The mapping that holds `address`, and the one before it; false if none holds it.
bool find_mapping(std::uintptr_t address, Mapping& found, Mapping& before) {
  Mappings all;
  for (before = {}; all.next(found); before = found) {
    if (address < found.begin) return false;
    if (address < found.end) return true;
  }
  return false;
}

bool can_be_touched(std::uintptr_t address) {
  Mapping found, before;
  return find_mapping(address, found, before) && found.accessible;
}

enum class Owner : std::uint8_t { kRank, kMainThread, kThread };

/// The stack of the calling thread: [bottom, top). Nothing but the thread means an address in [guard,
/// bottom).
struct Stack {
  Owner owner = Owner::kThread;
  std::uintptr_t guard = 0, bottom = 0, top = 0;
  std::size_t bytes = 0;         ///< what it may have
  bool is_all_there_is = false;  ///< no limit holds it back, but the address space
};

std::size_t main_stack_limit() {
  rlimit limit{};
  if (::syscall(SYS_prlimit64, 0, RLIMIT_STACK, nullptr, &limit) != 0) return 0;
  return limit.rlim_cur;
}

bool find_stack(const HostedRank* rank, Stack& stack) {
  if (rank != nullptr && rank->stack.is_of_calling_thread()) {
    const std::uintptr_t bottom = rank->stack.bottom;
    stack = {Owner::kRank, rank->stack.guard, bottom, rank->stack.top, rank->stack.top - bottom};
    stack.is_all_there_is = bottom <= rank->stack.lowest && rank->soft_limits[RLIMIT_STACK] > stack.bytes;
    return true;
  }
  const auto thread = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  const bool is_main = thread == host().main_thread;
  Mapping mine, before;
  if (!find_mapping(is_main ? host().main_stack : thread, mine, before)) return false;
  stack = {is_main ? Owner::kMainThread : Owner::kThread, mine.begin, mine.begin, mine.end,
           mine.end - mine.begin};
  if (is_main) {
    // The kernel lets it grow while nothing is in the way, and keeps some distance.
    stack.guard = std::max(before.end, mine.begin - std::min(mine.begin, kNear));
    const std::size_t limit = main_stack_limit();
    const std::size_t room = mine.end - before.end;
    stack.bytes = limit < room ? limit : stack.bytes;
  } else {
    if (before.end == mine.begin && !before.accessible) stack.guard = before.begin;
    stack_t signals{};  // lies at the top of the stack: image/thread_stack.h
    const bool is_ours = ::sigaltstack(nullptr, &signals) == 0 &&
                         reinterpret_cast<std::uintptr_t>(signals.ss_sp) >= mine.begin &&
                         reinterpret_cast<std::uintptr_t>(signals.ss_sp) < mine.end;
    if (is_ours) stack.top -= signals.ss_size;
    stack.bytes = stack.top - stack.bottom;
  }
  return true;
}

/// How many bytes the stack would have needed; 0: the address has nothing to do with it.
std::size_t needed(const Stack& stack, std::uintptr_t address, std::uintptr_t stack_pointer) {
  if (address >= stack.bottom) return 0;
  // The stack pointer has left the stack, for a place where no other stack is (of a coroutine, for instance).
  const bool has_left = stack_pointer < stack.bottom && !can_be_touched(stack_pointer);
  const bool follows =
      address + kSlack >= stack_pointer && (has_left || stack_pointer - stack.bottom < kSlack);
  if (address < stack.guard && !follows) return 0;
  return stack.top - (has_left ? std::min(address, stack_pointer) : address);
}

/// What to give next time, in KiB: as much as is needed and some more, at least twice as much as there was.
std::size_t proposal(std::size_t needed_bytes, std::size_t bytes) {
  const std::size_t enough = std::max(needed_bytes + needed_bytes / 4, 2 * bytes);
  return (enough + kMiB - 1) / kMiB * kKiB;
}

int describe_remedy(char* text, std::size_t capacity, const Stack& stack, std::size_t proposed) {
  if (stack.owner == Owner::kThread) {
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
  rlimit limit{};
  ::syscall(SYS_prlimit64, 0, RLIMIT_STACK, nullptr, &limit);
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < proposed * kKiB) {
    return std::snprintf(
        text, capacity,
        "; raise it with (ulimit -s %zu; mpiexec ...), and the hard limit of %zu KiB (ulimit -Hs) before",
        proposed, static_cast<std::size_t>(limit.rlim_max / kKiB));
  }
  return std::snprintf(text, capacity, "; raise it with (ulimit -s %zu; mpiexec ...)", proposed);
}

}  // namespace

std::size_t describe_overflow(char* text, std::size_t capacity, const HostedRank* rank, const siginfo_t& info,
                              std::uintptr_t stack_pointer) {
  if (info.si_code != SEGV_MAPERR && info.si_code != SEGV_ACCERR) return 0;
  Stack stack;
  if (!find_stack(rank, stack)) return 0;
  const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  const char* const whose = stack.owner == Owner::kThread ? "the stack of one of its threads" : "its stack";
  if (stack.owner == Owner::kRank && address >= stack.top && address - stack.top < kNear) {
    const int bytes = std::snprintf(text, capacity,
                                    "stack overflow upwards: address 0x%zx is %zu bytes above %s of %zu KiB",
                                    address, address - stack.top + 1, whose, stack.bytes / kKiB);
    return std::min(static_cast<std::size_t>(std::max(bytes, 0)), capacity - 1);
  }
  const std::size_t wanted = needed(stack, address, stack_pointer);
  if (wanted == 0) return 0;
  int bytes = std::snprintf(text, capacity, "stack overflow: %s has %zu KiB, and at least %zu KiB are needed",
                            whose, stack.bytes / kKiB, (wanted + kKiB - 1) / kKiB);
  bytes += describe_remedy(text + bytes, capacity - static_cast<std::size_t>(bytes), stack,
                           proposal(wanted, stack.bytes));
  return std::min(static_cast<std::size_t>(bytes), capacity - 1);
}

}  // namespace clump::host
