// PRRTE's daemons use TCP keepalive (notice_silence() in cluster.cc). But keepalive works only while no data
// is in flight: TCP repeats what is sent to a host that has vanished for a quarter of an hour.
// TCP_USER_TIMEOUT limits that.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <set>
#include <string>

namespace clump::mpiexec {

/// Sets TCP_USER_TIMEOUT on the sockets by which prterun, a child of this process, talks to other daemons:
/// the same time after which keepalive gives up. Where the system refuses another process's sockets
/// (pidfd_getfd), nothing happens.
class TcpUserTimeout {
 public:
  /// Call apply_to() at least so often, because daemons connect when they begin. Most calls do nothing.
  static constexpr int kMilliseconds = 500;
  void apply_to(pid_t prterun);

 private:
  std::set<std::string> set_on_;  // sockets, as /proc names them
  std::chrono::steady_clock::time_point next_look_;
};

}  // namespace clump::mpiexec
