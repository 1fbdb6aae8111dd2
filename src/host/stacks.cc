#include "host/stacks.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "base/why_refused.h"
#include "host/host.h"
#include "host/stack_plan.h"
#include "image/image.h"

extern "C" {
[[gnu::weak]] void __tsan_init();
[[gnu::weak]] void __asan_init();
}

namespace clump::host {

namespace {

/// The reservation.
struct Region {
  std::uintptr_t begin = 0;
  std::size_t stride = 0;
  StackPlan plan;
};
/// Of the ranks that the process begins with, and of those that join.
constinit Region at_start, of_joining;

/// Of the stacks that ranks use.
constinit std::atomic<int> protection{PROT_READ | PROT_WRITE};

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

std::size_t signal_stack_bytes() {
  return host().job.scheduler == pmi::Scheduler::kFibers
             ? 0
             : kSignalStackBytes;  // a fiber's is its worker thread's
}

[[noreturn]] void cannot_make(int rank, std::string text) {
  fail_job({rank, pmi::Reason::kCannotStart, 1, std::move(text), {}});
}

/// Thread-local variables lie on the stack of a rank, but not on that of a process: what they take beyond
/// some KiB is added.
std::size_t thread_local_bytes() {
  constexpr std::size_t kFew = 64 * kKiB;  // a process has its environment on its stack
  using Least = std::size_t (*)(const pthread_attr_t*);
  const auto least = reinterpret_cast<Least>(::dlsym(RTLD_DEFAULT, "__pthread_get_minstack"));
  if (least == nullptr) return 0;
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  const std::size_t bytes = least(&attributes) - std::min<std::size_t>(least(&attributes), PTHREAD_STACK_MIN);
  ::pthread_attr_destroy(&attributes);
  return bytes > kFew ? bytes : 0;
}

/// The address space that `ulimit -v` leaves for stacks: an eighth of what is not in use. SIZE_MAX: it sets
/// no limit.
std::size_t address_space_left() {
  rlimit limit;
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  unsigned long pages = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r"); file != nullptr) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return (limit.rlim_cur - std::min<std::size_t>(limit.rlim_cur, pages * page_bytes())) / 8;
}

StackLimits stack_limits() {
  rlimit limit;
  StackLimits limits;
  if (::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) limits.soft = limit.rlim_cur;
  limits.address_space = address_space_left();
  limits.thread_locals = thread_local_bytes();
  limits.page = page_bytes();
  limits.is_sanitized = __tsan_init != nullptr || __asan_init != nullptr;
  return limits;
}

/// What the ioctl PAGEMAP_SCAN of Linux 6.7 takes, and gives: ioctl_pagemap_scan(2). Older headers do not
/// know it.
struct PageScan {
  std::uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages, category_inverted, category_mask,
      category_anyof_mask, return_mask;
};
struct PageRegion {
  std::uint64_t start, end, categories;
};
constexpr unsigned long kPageScan = _IOWR('f', 16, PageScan);
constexpr std::uint64_t kPresent = 1 << 3, kSwapped = 1 << 4;

/// The lowest page of [bottom, top) that has ever been touched; `pages` is /proc/self/pagemap. Where the
/// kernel does not tell, all but the upper gigabyte is taken for untouched.
std::uintptr_t lowest_touched(int pages, std::uintptr_t bottom, std::uintptr_t top) {
  PageRegion found{};
  PageScan scan{};
  scan.size = sizeof scan;
  scan.start = bottom;
  scan.end = top;
  scan.vec = reinterpret_cast<std::uint64_t>(&found);
  scan.vec_len = scan.max_pages = 1;
  scan.category_anyof_mask = scan.return_mask = kPresent | kSwapped;
  if (pages >= 0 && ::syscall(SYS_ioctl, pages, kPageScan, &scan) >= 0)
    return found.end != 0 ? found.start : top;
  return std::max(bottom, top - std::min<std::size_t>(top, kGiB));
}

/// Pages of a stack. Keeps what is in them.
bool make_usable(std::uintptr_t begin, std::uintptr_t end) {
  return ::mprotect(reinterpret_cast<void*>(begin), end - begin, protection) == 0;
}

/// A rank has opened a library that has code on stacks.
void make_stacks_executable() {
  if ((protection.exchange(PROT_READ | PROT_WRITE | PROT_EXEC) & PROT_EXEC) != 0) return;
  Host& here = host();
  for (int i = 1; i < here.rank_count(); ++i) {
    const StackBounds& stack = here.rank_at(i).stack;
    if (stack.bottom != 0 && !make_usable(stack.bottom, stack.top + signal_stack_bytes()))
      cannot_make(
          here.rank_at(i).identity.rank,
          fmt::format(
              "a library that it has opened has code on the stack, which cannot be made executable: {}",
              std::strerror(errno)));
  }
}

/// Reserves address space for `count` stacks. Returns what is wrong; an empty text if all is well.
std::string reserve(Region& region, std::size_t count) {
  image::on_executable_stacks(make_stacks_executable);
  if (image::wants_executable_stacks()) make_stacks_executable();
  StackPlan& plan = region.plan;
  plan = plan_stacks(stack_limits(), count);
  for (;;) {
    region.stride = plan.guard + plan.room + signal_stack_bytes();
    const std::size_t all = count * region.stride + plan.guard;
    void* const memory =
        ::mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory != MAP_FAILED) {
      region.begin = reinterpret_cast<std::uintptr_t>(memory);
      // A huge page would cost each rank 2 MiB for a few KiB in use.
      ::madvise(memory, all, MADV_NOHUGEPAGE);
      return {};
    }
    const int error = errno;
    if (!make_smaller(plan, page_bytes()))
      return fmt::format("no address space for {} stacks of {} KiB (ulimit -s): {}", count, plan.least / kKiB,
                         base::why_refused("mmap", error));
  }
}

}  // namespace

void note_main_stack() {
  Host& here = host();
  here.main_thread = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  here.main_stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

void reserve_stacks() {
  const auto count = static_cast<std::size_t>(host().rank_count() - 1);
  if (count == 0) return;
  begin_own_limits();
  if (std::string wrong = reserve(at_start, count); !wrong.empty()) cannot_make(-1, std::move(wrong));
}

std::string reserve_stacks_of_joining() {
  return of_joining.begin != 0 ? std::string() : reserve(of_joining, pmi::kMostJoining);
}

void make_stack(HostedRank& rank, int index) {
  const int later = index - host().job.here().ranks;
  const Region& region = later < 0 ? at_start : of_joining;
  const std::uintptr_t begin =
      region.begin + static_cast<std::size_t>(later < 0 ? index - 1 : later) * region.stride;
  const std::uintptr_t end = begin + region.stride;
  rank.stack.guard = begin;
  rank.stack.top = end - signal_stack_bytes();
  rank.stack.lowest = rank.stack.top - region.plan.room;
  for (std::size_t bytes = region.plan.wanted;;
       bytes = std::max(bytes / 2 / page_bytes() * page_bytes(), region.plan.least)) {
    const std::uintptr_t bottom = rank.stack.top - bytes;
    if (make_usable(bottom, end)) {
      rank.stack.bottom = bottom;
      (void)make_usable(bottom, end);  // should stacks have become executable just now
      return;
    }
    if (bytes == region.plan.least)
      cannot_make(rank.identity.rank, fmt::format("no memory for a stack of {} KiB (ulimit -s): {}",
                                                  bytes / kKiB, base::why_refused("mprotect", errno)));
  }
}

void grow_stack(HostedRank& rank, std::size_t bytes) {
  StackBounds& stack = rank.stack;
  const std::size_t page = page_bytes();
  const std::size_t room = stack.top - stack.lowest;  // 0: it is the native rank's
  const std::uintptr_t wanted =
      stack.top - std::min(room, bytes > room ? room : (bytes + page - 1) / page * page);
  std::uintptr_t bottom = stack.bottom.load(std::memory_order_relaxed);
  // Two threads of the rank may do this at once: the lower bottom stays.
  while (wanted < bottom) {
    if (!make_usable(wanted, bottom)) break;
    if (stack.bottom.compare_exchange_weak(bottom, wanted)) break;
  }
}

void leave_untouched_stacks_out_of_core() {
  Host& here = host();
  const int pages =
      static_cast<int>(::syscall(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  for (int i = 1; i < here.rank_count(); ++i) {
    const StackBounds& stack = here.rank_at(i).stack;
    const std::uintptr_t bottom = stack.bottom;
    if (bottom == 0) continue;  // it has not begun
    const std::uintptr_t used = lowest_touched(pages, bottom, stack.top);
    ::madvise(reinterpret_cast<void*>(bottom), used - bottom, MADV_DONTDUMP);
  }
  if (pages >= 0) ::syscall(SYS_close, pages);
}

}  // namespace clump::host
