#include "rma/conflicts.h"

#include <algorithm>
#include <utility>

namespace clump::rma {

namespace {

bool may_meet(const OpenAccess& a, const OpenAccess& b) {
  using Kind = OpenAccess::Kind;
  if (a.fence != b.fence) return true;  // a fence is between them
  if (a.kind == Kind::kGet && b.kind == Kind::kGet) return true;
  return a.kind == Kind::kAccumulate && b.kind == Kind::kAccumulate &&
         a.element->signature() == b.element->signature();
}

}  // namespace

std::optional<OpenAccess> Conflicts::add(int target, OpenAccess access) {
  const datatype::Reach reach = datatype::reach_of(access.place);
  if (reach.begin == reach.end) return {};
  const std::lock_guard lock(mutex_);
  auto& [open, longest] = targets_[static_cast<std::size_t>(target)];
  // An access that begins earlier than this ends before the new one begins.
  const std::intptr_t earliest = reach.begin - longest;
  auto at = open.lower_bound(reach.end);
  for (int i = 0; i < kMostCompared && at != open.begin() && (--at)->first >= earliest; ++i)
    if (!may_meet(at->second, access) && datatype::overlap(at->second.place, access.place)) return at->second;
  if (open.size() >= kMostOpen) return {};
  longest = std::max(longest, reach.end - reach.begin);
  open.emplace(reach.begin, std::move(access));
  return {};
}

void Conflicts::end(int origin, int target) {
  const std::lock_guard lock(mutex_);
  const auto is_its = [origin](const auto& entry) { return entry.second.origin == origin; };
  if (target >= 0)
    return static_cast<void>(std::erase_if(targets_[static_cast<std::size_t>(target)].open, is_its));
  for (Accesses& accesses : targets_) std::erase_if(accesses.open, is_its);
}

void Conflicts::end_started(int target) {
  const std::lock_guard lock(mutex_);
  std::erase_if(targets_[static_cast<std::size_t>(target)].open,
                [](const auto& entry) { return entry.second.started; });
}

}  // namespace clump::rma
