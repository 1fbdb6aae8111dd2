#include "host/stack_plan.h"

#include <algorithm>

namespace clump::host {

namespace {

/// A stack where no limit says how large it is to be and there is little address space; that of Linux.
constexpr std::size_t kDefaultBytes = 8 * kMiB;
constexpr std::size_t kLeastBytes = 256 * kKiB;

/// What a frame has to be larger than to reach over the guard. Where `ulimit -v` leaves no room for that,
/// less.
constexpr std::size_t kGuardBytes = 64 * kMiB;
constexpr std::size_t kLeastGuardBytes = 64 * kKiB;

/// A stack may grow to so much, and all of a process together. Half of x86-64's address space is 64 TiB.
constexpr std::size_t kMostBytes = 64 * kGiB;
constexpr std::size_t kMostOfAll = 16384 * kGiB;
/// The same where a sanitizer keeps a shadow of all memory.
constexpr std::size_t kMostBytesSanitized = kGiB;
constexpr std::size_t kMostOfAllSanitized = 64 * kGiB;

/// Pages that are added to the distance of two stacks. Where it is nearly a power of two, processors take the
/// addresses of different stacks for each other in what they look up by a hash of some bits: a message from
/// rank to rank of a core cost 4 % more with 17 pages, and nothing measurable with 136 MiB more.
constexpr std::size_t kColour = 17 * 2048 + 17;

}  // namespace

StackPlan plan_stacks(const StackLimits& limits, std::size_t count) {
  const std::size_t page = limits.page;
  const auto in_pages = [page](std::size_t bytes) { return (bytes + page - 1) / page * page; };
  const std::size_t most = limits.is_sanitized ? kMostBytesSanitized : kMostBytes;
  const std::size_t most_of_all = limits.is_sanitized ? kMostOfAllSanitized : kMostOfAll;
  const std::size_t soft = limits.soft ? std::max(*limits.soft, kLeastBytes) : kDefaultBytes;
  StackPlan plan;
  plan.least = std::min(soft, std::max(most_of_all / count, kDefaultBytes)) / page * page +
               in_pages(limits.thread_locals);

  const std::size_t left = limits.address_space / count;
  plan.guard = kGuardBytes + kColour * page;
  if (left < plan.least + plan.guard)
    plan.guard =
        left > plan.least ? std::max((left - plan.least) / page * page, kLeastGuardBytes) : kLeastGuardBytes;
  const std::size_t possible = std::min({most, most_of_all / count, std::max(left, plan.guard) - plan.guard});
  plan.room = in_pages(std::max(plan.least, possible));
  plan.wanted = limits.soft ? plan.least : plan.room;
  return plan;
}

bool make_smaller(StackPlan& plan, std::size_t page) {
  if (plan.room / 2 >= plan.least)
    plan.room = plan.room / 2 / page * page;
  else if (plan.room > plan.least)
    plan.room = plan.least;
  else if (plan.guard > kLeastGuardBytes)
    plan.guard = std::max(plan.guard / 2 / page * page, kLeastGuardBytes);
  else
    return false;
  plan.wanted = std::min(plan.wanted, plan.room);
  return true;
}

}  // namespace clump::host
