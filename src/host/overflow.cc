// Is a fault one of the stack, and what is to be told of it? Any thread of the process: the main one, those
// of ranks, and those that ranks make. The kernel's list of mappings tells where a stack ends; only a thread
// in trouble pays for that.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>

#include "base/process.h"
#include "host/mappings.h"
#include "host/stack_need.h"
#include "host/stacks.h"

namespace clump::host {

namespace {

/// The mapping that holds `address`, and the one before it; false if none holds it.
bool find_mapping(std::uintptr_t address, Mapping& found, Mapping& before) {
  Mappings all;
  for (before = {}; all.next(found); before = found) {
    if (address < found.begin) return false;
    if (address < found.end) return true;
  }
  return false;
}

/// Whether the kernel reads the byte at `address`, or would not read for us at all. Keeps errno, as the
/// rank's handler may mend the fault and go on.
bool is_readable(std::uintptr_t address) {
  const int users_errno = errno;
  char byte = 0;
  const iovec here{&byte, 1};
  const iovec there{reinterpret_cast<void*>(address), 1};
  const bool is_read = ::syscall(SYS_process_vm_readv, base::process_id(), &here, 1, &there, 1, 0) == 1;
  const bool is_there = is_read || errno != EFAULT;
  errno = users_errno;
  return is_there;
}

bool can_be_touched(std::uintptr_t address) {
  Mapping found, before;
  return find_mapping(address, found, before) && found.accessible && is_readable(address);
}

/// Where the guard at the lower end of `stack`, a thread's, ends. The C library's guard is a mapping of its
/// own up to 2.41, and part of the stack's (MADV_GUARD_INSTALL) from 2.42 on. `inside`: an address above it.
std::uintptr_t end_of_guard(const Mapping& stack, std::uintptr_t inside) {
  if (is_readable(stack.begin)) return stack.begin;
  constexpr std::uintptr_t kPage = 4096;
  std::uintptr_t guard = stack.begin, above = inside - inside % kPage;
  while (above - guard > kPage) {
    const std::uintptr_t middle = guard + (above - guard) / 2 / kPage * kPage;
    (is_readable(middle) ? above : guard) = middle;
  }
  return above;
}

std::size_t main_stack_limit() {
  rlimit limit{};
  if (::syscall(SYS_prlimit64, 0, RLIMIT_STACK, nullptr, &limit) != 0) return 0;
  return limit.rlim_cur;
}

/// The stack of the calling thread.
bool find_stack(const HostedRank* rank, FoundStack& stack) {
  if (rank != nullptr && rank->stack.is_of_calling_thread()) {
    const std::uintptr_t bottom = rank->stack.bottom;
    stack = {StackOwner::kRank, rank->stack.guard, bottom, rank->stack.top, rank->stack.top - bottom};
    stack.is_all_there_is = bottom <= rank->stack.lowest && rank->soft_limits[RLIMIT_STACK] > stack.bytes;
    return true;
  }
  const auto thread = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  const bool is_main = thread == host().main_thread;
  Mapping mine, before;
  if (!find_mapping(is_main ? host().main_stack : thread, mine, before)) return false;
  stack = {is_main ? StackOwner::kMainThread : StackOwner::kThread, mine.begin, mine.begin, mine.end,
           mine.end - mine.begin};
  if (is_main) {
    // The kernel lets it grow while nothing is in the way, and keeps some distance.
    stack.guard = std::max(before.end, mine.begin - std::min(mine.begin, kNearStack));
    const std::size_t limit = main_stack_limit();
    const std::size_t room = mine.end - before.end;
    stack.bytes = limit < room ? limit : stack.bytes;
  } else {
    if (before.end == mine.begin && !before.accessible) stack.guard = before.begin;
    stack.bottom = end_of_guard(mine, thread);
    stack_t signals{};  // lies at the top of the stack: process/threads/thread_stack.h
    const bool is_ours = ::sigaltstack(nullptr, &signals) == 0 &&
                         reinterpret_cast<std::uintptr_t>(signals.ss_sp) >= mine.begin &&
                         reinterpret_cast<std::uintptr_t>(signals.ss_sp) < mine.end;
    if (is_ours) stack.top -= signals.ss_size;
    stack.bytes = stack.top - stack.bottom;
  }
  return true;
}

rlim_t hard_limit() {
  rlimit limit{};
  ::syscall(SYS_prlimit64, 0, RLIMIT_STACK, nullptr, &limit);
  return limit.rlim_max;
}

}  // namespace

std::size_t describe_overflow(char* text, std::size_t capacity, const HostedRank* rank, const siginfo_t& info,
                              std::uintptr_t stack_pointer) {
  if (info.si_code != SEGV_MAPERR && info.si_code != SEGV_ACCERR) return 0;
  FoundStack stack;
  if (!find_stack(rank, stack)) return 0;
  const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  if (const std::size_t told = describe_above(text, capacity, stack, address); told != 0) return told;
  if (address >= stack.bottom) return 0;
  const bool has_left = stack_pointer < stack.bottom && !can_be_touched(stack_pointer);
  return describe_need(text, capacity, stack, stack_needed(stack, address, stack_pointer, has_left),
                       hard_limit());
}

}  // namespace clump::host
