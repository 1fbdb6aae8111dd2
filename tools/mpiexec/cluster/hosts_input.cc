#include "cluster/hosts_input.h"

#include <utility>

#include "job/distribution.h"

namespace clump::mpiexec {

bool HostsInput::is_read_by(const pmi::Job& job, int host) {
  if (job.input == pmi::kInputForAll) return job.ranks(job.nodes[static_cast<std::size_t>(host)]) > 0;
  return job.input >= 0 && job.node_of(job.input) == host;
}

HostsInput::HostsInput(const pmi::Job& job) {
  for (int host = 0; host < std::ssize(job.nodes); ++host) awaited_ += is_read_by(job, host) ? 1 : 0;
}

void HostsInput::admit(int socket) {
  sockets_.push_back(socket);
  if (sockets_.size() == awaited_) distribute_input(STDIN_FILENO, std::exchange(sockets_, {}));
}

}  // namespace clump::mpiexec
