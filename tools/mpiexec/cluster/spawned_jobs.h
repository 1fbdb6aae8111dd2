// The jobs that ranks of a job over hosts spawn (MPI_Comm_spawn): mpiexec starts an mpiexec for each beside
// itself, because other hosts may not be reached from where the ranks are.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <utility>

#include "common/poll_set.h"
#include "job/supervisor.h"
#include "pmi/control.h"

namespace clump::mpiexec {

/// Owned by mpiexec's only thread; nothing blocks but stop().
class SpawnedJobs {
 public:
  /// `send` sends a control message to the proxy of a host, if it is there.
  explicit SpawnedJobs(std::function<void(std::size_t, const std::string&)> send) : send_(std::move(send)) {}

  /// A process of that host asks for it, by a pmi::SpawnRequest with this number.
  void start(std::size_t host, std::uint32_t number, const std::string& request);
  void add_to(tools::PollSet& all) const;
  /// Tells those that have asked how their jobs have ended.
  void read_events();
  /// Kills what is left. No more are started.
  void stop();

 private:
  struct Job {
    const std::size_t host;
    const std::uint32_t number;
    Supervisor supervisor = {};
    enum { kRuns, kEnds, kLost } state = kRuns;
  };
  void answer(const Job& job, const pmi::SpawnAnswer& answer);
  void read_events(Job& job);

  const std::function<void(std::size_t, const std::string&)> send_;
  std::list<Job> jobs_;
  bool has_stopped_ = false;
};

}  // namespace clump::mpiexec
