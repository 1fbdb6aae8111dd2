// Standard input of a job on several hosts: mpiexec reads its own and sends it over a connection to the proxy
// of each host that has a rank which reads it (--stdin), which passes it on. Where a reader is slow, TCP has
// mpiexec wait.
#pragma once

#include <poll.h>

#include <vector>

#include "base/status.h"
#include "cluster/acceptor.h"
#include "pmi/job.h"

namespace clump::mpiexec {

/// Where proxies find it.
inline constexpr const char* kInputVariable = "CLUMP_INPUT";

/// mpiexec's side, of its only thread; nothing blocks.
class HostsInput {
 public:
  explicit HostsInput(const pmi::Job& job) : job_(job), acceptor_(job.nodes.size()) {}

  /// Listens, and sets the variable; without a rank that reads, it does nothing.
  base::Status open();
  void add_descriptors(std::vector<pollfd>& all) const;
  /// Does what there is to do now: begins to read standard input when all proxies that want it have come.
  void poll();

 private:
  const pmi::Job& job_;
  Acceptor acceptor_;
  std::size_t awaited_ = 0;   ///< hosts
  std::vector<int> sockets_;  ///< to those that have come
};

/// A proxy's side: connects if a rank of its host reads standard input; otherwise `input` stays -1. Takes
/// the variable out of the environment.
base::Status connect_input(const pmi::Job& job, int& input);

}  // namespace clump::mpiexec
