// The launchers of all hosts of a job: mpiexec's. Where they give no stream, proxies connect (arrivals.h).
#pragma once

#include <optional>

#include "cluster/arrivals.h"
#include "cluster/hosts_driver.h"
#include "cluster/launchers.h"

namespace clump::mpiexec {

/// Owned by mpiexec's only thread; nothing blocks but open(), wait_for_end() and stop().
class HostLaunchers : private Launchers {
 public:
  using Launchers::branches, Launchers::pause, Launchers::read_events, Launchers::stop;

  /// Shares the hosts out to branches.
  explicit HostLaunchers(const Launch& launch);

  /// Listens for proxies that connect. Before signals are waited for: a terminal may be stopped.
  base::Status open();
  /// Starts a launcher for each branch, unless the user does.
  base::Status start();
  Branch& branch_of(std::size_t host);
  void add_to(tools::PollSet& all) const;
  /// Proxies that have connected.
  void take_guests();
  /// No more are expected.
  void close_arrivals();
  /// Launchers whose streams have ended: ssh may leave its connection behind for the next job, if it can end
  /// by itself. Not for long. False: as read_events().
  bool wait_for_end();

 private:
  base::Status prepare(Branch& branch);

  const Launch& launch_;
  std::optional<Arrivals> arrivals_;  ///< where the launcher gives no stream
};

}  // namespace clump::mpiexec
