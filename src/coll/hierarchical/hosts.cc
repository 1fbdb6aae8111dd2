#include "coll/hierarchical/hosts.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "core/rank.h"

namespace clump::coll {

base::Ref<core::Team> Hosts::found(const core::Comm& comm) {
  if (comm.owner.world.nodes.empty() || comm.is_inter() || comm.crosses_jobs()) return {};
  const auto node_of = [&](int rank) { return comm.owner.world.node_of(comm.group->world_rank(rank)); };
  int together = 1;
  while (together < comm.size() && node_of(together) == node_of(0)) ++together;
  if (together == comm.size()) return {};

  std::unordered_map<int, int> number_of;  // of a host of the job
  std::vector<int> host_of;
  host_of.reserve(static_cast<std::size_t>(comm.size()));
  for (int rank = 0; rank < comm.size(); ++rank)
    host_of.push_back(number_of.try_emplace(node_of(rank), static_cast<int>(number_of.size())).first->second);
  if (number_of.size() == host_of.size()) return base::make_ref<core::Team>(Kind::kNone);
  return base::Ref<core::Team>(new Hosts(std::move(host_of)));
}

Hosts::Hosts(std::vector<int> host_of)
    : core::Team(Kind::kHosts), host_of_(std::move(host_of)), by_host_(host_of_.size()) {
  begins_.assign(static_cast<std::size_t>(std::ranges::max(host_of_)) + 2, 0);
  for (const int host : host_of_) ++begins_[static_cast<std::size_t>(host) + 1];
  even_ = std::ranges::all_of(begins_.begin() + 1, begins_.end(), [&](int n) { return n == begins_[1]; });
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  std::iota(by_host_.begin(), by_host_.end(), 0);
  std::ranges::stable_sort(by_host_, {}, [&](int rank) { return this->host_of(rank); });
  consecutive_ = std::ranges::is_sorted(by_host_);
}

const Hosts* hosts_of(core::Comm& comm) {
  if (comm.owner.world.nodes.empty()) return nullptr;
  // Not join_team(): ranks of one host found theirs together, and must meet in it before one of them leaves.
  if (!comm.team) comm.team = Hosts::found(comm);
  const core::Team* const team = comm.team.get();
  return team != nullptr && team->kind == core::Team::Kind::kHosts ? static_cast<const Hosts*>(team)
                                                                   : nullptr;
}

}  // namespace clump::coll
