// PRRTE's daemons have TCP ask each other for a sign of life (notice_silence() in cluster.cc). But it asks
// only while nothing is on its way: what is sent to a host that has vanished is repeated for a quarter of an
// hour.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <set>
#include <string>

namespace clump::mpiexec {

/// Has TCP give up what prterun, a child of this process, sends to other daemons as soon as it gives up one
/// that is silent. Where the system does not let us have another process's sockets, nothing happens.
class Impatience {
 public:
  /// To be called at least so often, because daemons connect when they begin; most calls do nothing.
  static constexpr int kMilliseconds = 500;
  void look_at(pid_t prterun);

 private:
  std::set<std::string> hurried_;  // the sockets, as the system names them
  std::chrono::steady_clock::time_point next_look_;
};

}  // namespace clump::mpiexec
