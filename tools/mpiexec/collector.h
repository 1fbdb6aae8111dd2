// How records of other hosts come to mpiexec: over a connection that the agent on each of them opens before its
// ranks start. By this it is also found out how far the clocks of the hosts are apart: mpiexec asks for the
// time, before the job and after it, and the shortest way there and back bounds the error.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "profile/read.h"

namespace clump::mpiexec {

/// Where agents find mpiexec.
inline constexpr const char* kCollectorVariable = "CLUMP_COLLECTOR";

/// mpiexec's side.
class Collector {
 public:
  Collector() = default;
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  /// Listens, and says where in the environment variable.
  base::Status open();
  /// The agents have ended: what came, by hosts; with times of this host's clock.
  std::vector<tools::profile::Source> finish();

 private:
  void accept_all();
  void serve(int connection);
  bool wait_for_end(int connection) const;

  int listener_ = -1;
  int stop_[2] = {-1, -1};
  std::string word_;
  std::thread acceptor_;
  std::atomic<bool> is_over_{false};  ///< who has not told by now that its part of the job has ended will not
  std::mutex mutex_;
  std::vector<std::thread> servers_;
  std::vector<tools::profile::Source> sources_;
};

/// An agent's side.
class Reporter {
 public:
  Reporter() = default;
  ~Reporter();
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  /// Takes the variable out of the environment.
  base::Status connect(int host);
  /// The records of this host, as they lie in the memory behind `descriptor`.
  bool report(int descriptor, const tools::profile::Source& source);

 private:
  bool answer();
  int socket_ = -1;
};

}  // namespace clump::mpiexec
