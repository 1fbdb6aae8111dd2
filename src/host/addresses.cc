// Where the network reaches the host processes of other nodes. mpiexec knows, or finds out: see
// pmi/node_memory.h and control.h; without it, PMIx is asked by this process.
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "host/host.h"
#include "host/state.h"

namespace clump::host {

namespace {

base::Status tell_mpiexec(const std::string& packet) {
  if (::send(host().control, packet.data(), packet.size(), MSG_NOSIGNAL) >= 0) return {};
  return base::fail(MPI_ERR_OTHER, "cannot reach mpiexec: {}", std::strerror(errno));
}

base::Status announce_by_mpiexec(std::span<const std::byte> address) {
  const int own = host().job.process;
  CLUMP_TRY(host().node.address(own).fill(pmi::Address::kKnown, address));
  return tell_mpiexec(pmi::encode(pmi::AddressNote{own}));
}

/// Leaves `address` empty while mpiexec has not answered.
base::Status find_by_mpiexec(int process, std::vector<std::byte>& address) {
  using State = pmi::Address::State;
  pmi::Address& entry = host().node.address(process);
  std::uint32_t state = State::kUnknown;
  // The first caller asks mpiexec, for all ranks. acquire: pairs with Address::change().
  if (entry.state.compare_exchange_strong(state, State::kWanted, std::memory_order_acquire))
    return tell_mpiexec(pmi::encode(pmi::AddressNote{process}));
  if (state == State::kWanted) return {};
  const auto content = entry.content();
  if (state == State::kUnreachable)
    return base::fail(MPI_ERR_OTHER, "nobody knows how to reach {}",
                      std::string_view(reinterpret_cast<const char*>(content.data()), content.size()));
  address.assign(content.begin(), content.end());
  return {};
}

std::string text_of(const base::Status& status) {
  return status.ok() ? std::string() : base::message_of(status.code());
}

}  // namespace

std::string announce(std::span<const std::byte> address) {
  if (host().by_pmix) return text_of(announce_by_pmix(address));
  return address.empty() ? std::string() : text_of(announce_by_mpiexec(address));
}

std::string find_address(int process, std::vector<std::byte>& address) {
  return text_of(host().by_pmix ? find_by_pmix(process, address) : find_by_mpiexec(process, address));
}

void wait_for_other_hosts() {
  Host& here = host();
  wait_for_jobs();
  if (here.by_pmix || here.job.nodes.size() == 1) return;
  pmi::Address& own = here.node.address(here.job.process);
  if (own.state != pmi::Address::kKnown) return;
  here.node.host(here.job.process).done.store(true, std::memory_order_release);
  if (tell_mpiexec(pmi::encode(pmi::DoneNote{here.job.process})).ok()) own.wait_while(pmi::Address::kKnown);
}

bool is_over() {
  Host& here = host();
  return here.by_pmix ? here.left_pmix.load()
                      : here.node.address(here.job.process).state == pmi::Address::kOver;
}

}  // namespace clump::host
