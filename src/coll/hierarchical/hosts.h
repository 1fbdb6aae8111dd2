// Which ranks of a communicator are on which host, for algorithms in two stages (hierarchical/two_stages.cc).
#pragma once

#include <span>
#include <vector>

#include "core/comm.h"

namespace clump::coll {

/// Each rank has its own. Hosts are numbered in the order of their lowest ranks.
class Hosts final : public core::Team {
 public:
  /// The caller's own of a communicator whose ranks are on several hosts: a team of no kind where no two of
  /// them are on one. Null where all are. No rank waits for another one.
  static base::Ref<core::Team> found(const core::Comm& comm);

  int count() const { return static_cast<int>(begins_.size()) - 1; }
  int host_of(int rank) const { return host_of_[static_cast<std::size_t>(rank)]; }
  /// In rising order.
  std::span<const int> ranks(int host) const {
    return std::span(by_host_).subspan(static_cast<std::size_t>(before(host)),
                                       static_cast<std::size_t>(before(host + 1) - before(host)));
  }
  /// All ranks, host by host.
  std::span<const int> by_host() const { return by_host_; }
  /// How many ranks the hosts before this one have.
  int before(int host) const { return begins_[static_cast<std::size_t>(host)]; }
  /// Host by host is the order of ranks.
  bool consecutive() const { return consecutive_; }
  /// All have the same number of ranks.
  bool even() const { return even_; }

 private:
  explicit Hosts(std::vector<int> host_of);

  std::vector<int> host_of_;  // by rank
  std::vector<int> by_host_;
  std::vector<int> begins_;  // of each host in by_host_, and the end
  bool consecutive_, even_;
};

/// Null where there is nothing of the kind.
const Hosts* hosts_of(core::Comm& comm);

}  // namespace clump::coll
