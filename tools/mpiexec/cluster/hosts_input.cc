#include "cluster/hosts_input.h"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "job/distribution.h"

namespace clump::mpiexec {

namespace {

bool reads_input(const pmi::Job& job, int host) {
  if (job.input == pmi::kInputForAll) return job.ranks(job.nodes[static_cast<std::size_t>(host)]) > 0;
  return job.input >= 0 && job.node_of(job.input) == host;
}

}  // namespace

base::Status HostsInput::open() {
  for (int host = 0; host < std::ssize(job_.nodes); ++host) awaited_ += reads_input(job_, host) ? 1 : 0;
  return awaited_ > 0 ? acceptor_.open(kInputVariable, "standard input") : base::Status();
}

void HostsInput::add_descriptors(std::vector<pollfd>& all) const {
  if (awaited_ > 0) acceptor_.add_descriptors(all);
}

void HostsInput::poll() {
  if (awaited_ == 0) return;
  acceptor_.greet([this](std::size_t, Connection proxy) {
    sockets_.push_back(proxy.release());
    if (--awaited_ == 0) distribute_input(STDIN_FILENO, std::exchange(sockets_, {}));
  });
}

base::Status connect_input(const pmi::Job& job, int& input) {
  if (reads_input(job, job.node))
    CLUMP_TRY(connect_to_listener(kInputVariable, "standard input needs", job.node, input));
  ::unsetenv(kInputVariable);
  return {};
}

}  // namespace clump::mpiexec
