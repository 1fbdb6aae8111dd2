// mpiexec's connections to proxies on other hosts that come when they come (listener.h); nothing blocks.
#pragma once

#include <poll.h>

#include <functional>
#include <vector>

#include "cluster/connection.h"
#include "cluster/listener.h"

namespace clump::mpiexec {

class Acceptor {
 public:
  /// For proxies of so many hosts.
  explicit Acceptor(std::size_t hosts) : hosts_(hosts) {}

  /// Listens, and sets the environment variable.
  base::Status open(const char* variable, const char* for_what) { return listener_.open(variable, for_what); }
  void add_descriptors(std::vector<pollfd>& all) const;
  /// Calls admit(host, connection) for all who have said who they are since.
  void greet(const std::function<void(std::size_t, Connection)>& admit);

 private:
  const std::size_t hosts_;
  Listener listener_;
  std::vector<Connection> unknown_;  // have not said who they are
};

}  // namespace clump::mpiexec
