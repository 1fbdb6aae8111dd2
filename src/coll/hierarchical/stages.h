// Which rank leads which ones in an algorithm in two stages (hierarchical/two_stages.cc,
// hierarchical/packed_blocks.cc).
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "coll/hierarchical/hosts.h"
#include "coll/schedule/schedule.h"

namespace clump::coll {

/// As one rank sees it. The leader of a host is its lowest rank; the root of an operation leads its own host.
class Stages {
 public:
  explicit Stages(Schedule& s, int root = -1) : Stages(s, lowest(*s.hosts(), root)) {}
  /// Of each host another one leads.
  Stages(Schedule& s, std::vector<int> who)
      : hosts(*s.hosts()),
        host(hosts.host_of(s.rank())),
        here(hosts.ranks(host)),
        leaders(std::move(who)),
        s_(s) {
    me = number_here(s.rank());
    leader = number_here(leaders[static_cast<std::size_t>(host)]);
  }

  bool leads() const { return me == leader; }
  int leader_rank() const { return leaders[static_cast<std::size_t>(host)]; }
  int count_here() const { return static_cast<int>(here.size()); }
  /// The rest of the block is written for the ranks of the caller's host.
  [[nodiscard]] Schedule::Among within_host() const { return {s_, here, me}; }
  /// ... for the leaders. The caller is one.
  [[nodiscard]] Schedule::Among among_leaders() const { return {s_, leaders, host}; }

  const Hosts& hosts;
  const int host;                   ///< the caller's
  const std::span<const int> here;  ///< ranks of the caller's host
  const std::vector<int> leaders;   ///< by host
  int me, leader;                   ///< numbers in `here`

 private:
  static std::vector<int> lowest(const Hosts& hosts, int root) {
    std::vector<int> all;
    for (int i = 0; i < hosts.count(); ++i) all.push_back(hosts.ranks(i).front());
    if (root >= 0) all[static_cast<std::size_t>(hosts.host_of(root))] = root;
    return all;
  }
  int number_here(int rank) const {
    return static_cast<int>(std::ranges::lower_bound(here, rank) - here.begin());
  }
  Schedule& s_;
};

}  // namespace clump::coll
