// The jobs that ranks of this host spawn, and that mpiexec starts (MPI_Comm_spawn): a proxy passes on what
// their processes ask for, and what mpiexec answers (pmi/control.h).
#pragma once

#include <deque>

#include "cluster/connection.h"
#include "common/poll_set.h"
#include "hang/control_messages.h"

namespace clump::mpiexec {

/// Owned by the proxy's main thread; nothing blocks.
class SpawnRequests {
 public:
  /// Of a process, for one job.
  void add(int socket) { all_.emplace_back(socket); }
  void add_to(tools::PollSet& all) const;
  /// A request that has come; false: there is none now.
  bool next(ControlReply& reply);
  void answer(const ControlMessage& message);

 private:
  std::deque<Connection> all_;  ///< by the number that mpiexec knows the request by
};

}  // namespace clump::mpiexec
