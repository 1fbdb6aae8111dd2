#include "rma/conflicts.h"

#include <algorithm>
#include <utility>

namespace clump::rma {

namespace {

/// Whether they may happen at the same time.
bool may_meet(const OpenAccess& a, const OpenAccess& b) {
  if (a.reads_only() && b.reads_only()) return true;
  return a.element != nullptr && b.element != nullptr && a.element->signature() == b.element->signature();
}

/// Whether the origin has called something since it was over by which others learn.
bool may_be_known(const OpenAccess& access) {
  return access.is_over && access.by->told.load(std::memory_order_relaxed) != access.since.told;
}

void end_one(OpenAccess& access, const core::Telling& by) {
  if (!access.is_over) access.since = Learnt::of(by);
  access.is_over = true;
}

}  // namespace

bool Conflicts::are_ordered(const OpenAccess& first, const OpenAccess& second, const Accesses& owner) {
  if (first.fence != second.fence) return true;  // a fence is between them
  if (second.is_owners()) {
    if (first.syncs != owner.syncs) return true;
    if (first.lock == OpenAccess::Lock::kExclusive && first.locks != owner.locks) return true;
  }
  if (!first.is_over) return false;
  if (first.origin == second.origin) return true;
  const bool are_locked = first.lock != OpenAccess::Lock::kNone && second.lock != OpenAccess::Lock::kNone;
  if (are_locked &&
      (first.lock == OpenAccess::Lock::kExclusive || second.lock == OpenAccess::Lock::kExclusive))
    return true;
  return may_be_known(first) || second.by->joined.load(std::memory_order_relaxed) != first.since.joined;
}

const OpenAccess* Conflicts::find(const Accesses& there, const OpenAccess& access) {
  const datatype::Reach reach = datatype::reach_of(access.place);
  // An access that begins earlier than this ends before the new one begins.
  const std::intptr_t earliest = reach.begin - there.longest;
  auto at = there.all.lower_bound(reach.end);
  for (int i = 0; i < kMostCompared && at != there.all.begin() && (--at)->first >= earliest; ++i) {
    const OpenAccess& other = at->second;
    if (!may_meet(other, access) && !are_ordered(other, access, there) &&
        datatype::overlap(other.place, access.place))
      return &other;
  }
  return nullptr;
}

std::optional<OpenAccess> Conflicts::find(int target, const OpenAccess& access) {
  const std::lock_guard lock(mutex_);
  const OpenAccess* const other = find(at(target), access);
  return other != nullptr ? std::optional(*other) : std::nullopt;
}

std::optional<OpenAccess> Conflicts::add(int target, OpenAccess access) {
  const datatype::Reach reach = datatype::reach_of(access.place);
  if (reach.begin == reach.end) return {};
  const std::lock_guard lock(mutex_);
  Accesses& there = at(target);
  if (const OpenAccess* const other = find(there, access)) return *other;
  if (there.all.size() >= there.sweep_at) {
    std::erase_if(there.all, [](const auto& entry) { return may_be_known(entry.second); });
    there.sweep_at = std::max(kFirstSweep, 2 * there.all.size());
  }
  if (there.all.size() >= kMostOpen) return {};
  there.longest = std::max(there.longest, reach.end - reach.begin);
  access.syncs = there.syncs;
  access.locks = there.locks;
  there.all.emplace(reach.begin, std::move(access));
  return {};
}

void Conflicts::promise_no_puts(int target, const NoPuts& promise) {
  const std::lock_guard lock(mutex_);
  at(target).no_puts = promise;
}

std::optional<core::Site> Conflicts::broken_promise(int target, const OpenAccess& access) {
  const std::lock_guard lock(mutex_);
  const auto& promise = at(target).no_puts;
  const bool is_put = access.kind == OpenAccess::Kind::kPut || access.kind == OpenAccess::Kind::kAccumulate;
  if (!promise || !is_put || access.lock != OpenAccess::Lock::kNone || promise->posted != access.started)
    return {};
  return promise->posted || promise->fence == access.fence ? std::optional(promise->site) : std::nullopt;
}

void Conflicts::end(const core::Telling& by, int origin, int target, std::uint64_t fences, Which which) {
  const std::lock_guard lock(mutex_);
  const Learnt now = Learnt::of(by);
  const auto end_in = [&](Accesses& accesses) {
    for (auto at = accesses.all.begin(); at != accesses.all.end();) {
      OpenAccess& access = at->second;
      const bool is_meant = access.origin == origin && (which == Which::kAll || access.reads_only());
      // What others may have learnt of needs not be kept.
      const bool is_known = access.fence != fences || (access.is_over && access.since.told != now.told);
      if (is_meant && !is_known) end_one(access, by);
      at = is_meant && is_known ? accesses.all.erase(at) : std::next(at);
    }
  };
  if (target >= 0) return end_in(at(target));
  for (Accesses& accesses : targets_) end_in(accesses);
}

void Conflicts::end_operation(const core::Telling& by, int origin, std::uint64_t operation) {
  const std::lock_guard lock(mutex_);
  for (Accesses& accesses : targets_)
    for (auto& [begin, access] : accesses.all)
      if (access.origin == origin && access.operation == operation && access.reads_only())
        end_one(access, by);
}

void Conflicts::end_started(int target) {
  const std::lock_guard lock(mutex_);
  std::erase_if(at(target).all, [](const auto& entry) { return entry.second.started; });
  if (at(target).no_puts && at(target).no_puts->posted) at(target).no_puts.reset();
}

void Conflicts::synchronised(int owner) {
  const std::lock_guard lock(mutex_);
  ++at(owner).syncs;
}

void Conflicts::locked(int owner) {
  const std::lock_guard lock(mutex_);
  ++at(owner).locks;
}

}  // namespace clump::rma
