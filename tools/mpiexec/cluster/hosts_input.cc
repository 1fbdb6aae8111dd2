#include "cluster/hosts_input.h"

#include <unistd.h>

#include <utility>

#include "job/distribution.h"

namespace clump::mpiexec {

namespace {

bool reads_input(const pmi::Job& job, int host) {
  if (job.input == pmi::kInputForAll) return job.ranks(job.nodes[static_cast<std::size_t>(host)]) > 0;
  return job.input >= 0 && job.node_of(job.input) == host;
}

}  // namespace

HostsInput::HostsInput(const pmi::Job& job) {
  for (int host = 0; host < std::ssize(job.nodes); ++host) awaited_ += reads_input(job, host) ? 1 : 0;
}

void HostsInput::admit(int socket) {
  sockets_.push_back(socket);
  if (sockets_.size() == awaited_) distribute_input(STDIN_FILENO, std::exchange(sockets_, {}));
}

base::Status connect_input(const ListenAddress& mpiexec, const pmi::Job& job, int& input) {
  if (!reads_input(job, job.node)) return {};
  return mpiexec.connect(Stream::kInput, job.node, "standard input needs", input);
}

}  // namespace clump::mpiexec
