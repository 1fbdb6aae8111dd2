// Standard input of a job on several hosts: mpiexec reads its own and sends it over a connection to the proxy
// of each host that has a rank which reads it (--stdin), which passes it on. Where a reader is slow, TCP has
// mpiexec wait.
#pragma once

#include <vector>

#include "base/status.h"
#include "cluster/listener.h"
#include "pmi/job.h"

namespace clump::mpiexec {

/// mpiexec's side, of its only thread; nothing blocks.
class HostsInput {
 public:
  explicit HostsInput(const pmi::Job& job);

  /// The proxy of a host has connected: when all that want it have, begins to read standard input.
  void admit(int socket);

 private:
  std::size_t awaited_ = 0;   ///< hosts
  std::vector<int> sockets_;  ///< to those that have come
};

/// A proxy's side: connects if a rank of its host reads standard input; otherwise `input` stays -1.
base::Status connect_input(const ListenAddress& mpiexec, const pmi::Job& job, int& input);

}  // namespace clump::mpiexec
