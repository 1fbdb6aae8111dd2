// mpiexec's connections to agents on other hosts that come when they come (meeting.h); nothing blocks.
#pragma once

#include <poll.h>

#include <functional>
#include <vector>

#include "cluster/connection.h"
#include "cluster/meeting.h"

namespace clump::mpiexec {

class Reception {
 public:
  /// For agents of so many hosts.
  explicit Reception(std::size_t hosts) : hosts_(hosts) {}

  /// Listens, and sets the environment variable.
  base::Status open(const char* variable, const char* for_what) { return meeting_.open(variable, for_what); }
  void add_descriptors(std::vector<pollfd>& all) const;
  /// Calls admit(host, connection) for all who have said who they are since.
  void greet(const std::function<void(std::size_t, Connection)>& admit);

 private:
  const std::size_t hosts_;
  Meeting meeting_;
  std::vector<Connection> strangers_;  // have not said who they are
};

}  // namespace clump::mpiexec
