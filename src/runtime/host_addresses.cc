// Where the network reaches the host processes of other nodes. mpiexec knows, or finds out: see
// pmi/node_memory.h and control.h; without it, PMIx is asked by this process.
#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/host.h"
#include "runtime/host_state.h"

namespace clump::runtime {

namespace {

base::Status tell_mpiexec(int process) {
  const std::string packet = pmi::encode(pmi::AddressNote{process});
  if (::send(host().control, packet.data(), packet.size(), MSG_NOSIGNAL) >= 0) return {};
  return base::fail(MPI_ERR_OTHER, "cannot reach mpiexec: {}", std::strerror(errno));
}

}  // namespace

base::Status announce(std::span<const std::byte> address) {
  if (host().by_pmix) return announce_by_pmix(address);
  if (address.empty()) return {};
  const int own = host().job.process;
  CLUMP_TRY(host().node.address(own).fill(pmi::Address::kKnown, address));
  return tell_mpiexec(own);
}

base::Status find_address(int process, std::vector<std::byte>& address) {
  if (host().by_pmix) return find_by_pmix(process, address);
  using State = pmi::Address::State;
  pmi::Address& entry = host().node.address(process);
  std::uint32_t state = State::kUnknown;
  // Whoever is first asks for all.
  if (entry.state.compare_exchange_strong(state, State::kWanted)) CLUMP_TRY(tell_mpiexec(process));
  // acquire: pairs with Address::fill().
  while ((state = entry.state.load(std::memory_order_acquire)) == State::kWanted)
    ::syscall(SYS_futex, &entry.state, FUTEX_WAIT, State::kWanted, nullptr, nullptr, 0);
  const auto content = entry.content();
  if (state == State::kUnreachable)
    return base::fail(MPI_ERR_OTHER, "nobody knows how to reach {}",
                      std::string_view(reinterpret_cast<const char*>(content.data()), content.size()));
  address.assign(content.begin(), content.end());
  return {};
}

}  // namespace clump::runtime
