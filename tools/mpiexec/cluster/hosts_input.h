// Standard input of a job on several hosts: mpiexec reads its own and sends it, over a channel of its stream
// (channels.h), to the proxy of each host that has a rank which reads it (--stdin), which passes it on. Where
// a reader is slow, the channel's window has mpiexec wait.
#pragma once

#include <vector>

#include "pmi/job.h"

namespace clump::mpiexec {

/// mpiexec's side, of its only thread; nothing blocks.
class HostsInput {
 public:
  explicit HostsInput(const pmi::Job& job);

  /// Whether a rank of the host reads it.
  static bool is_read_by(const pmi::Job& job, int host);
  /// The channel of such a host, whose proxy is there: when those of all are, begins to read standard input.
  void admit(int socket);

 private:
  std::size_t awaited_ = 0;   ///< hosts
  std::vector<int> sockets_;  ///< to those that have come
};

}  // namespace clump::mpiexec
