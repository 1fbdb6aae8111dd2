#include "pmi/node_memory.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "base/memory_file.h"
#include "base/why_refused.h"

namespace clump::pmi {

namespace {

constexpr std::size_t kPage = 4096;

/// Where each part begins.
struct Parts {
  std::size_t bells, addresses, end;
  explicit Parts(const Job& job)
      : bells(static_cast<std::size_t>(job.this_node().processes) * sizeof(HostState)),
        addresses(bells + static_cast<std::size_t>(job.ports()) * sizeof(base::Bell)),
        end(addresses + (job.nodes.size() > 1 ? job.processes.size() : 0) * sizeof(Address)) {}
};

}  // namespace

base::Status Address::fill(State outcome, std::span<const std::byte> content) {
  if (content.size() > kMost)
    return base::fail(MPI_ERR_INTERN, "an address of {} bytes: at most {} are expected", content.size(),
                      kMost);
  std::memcpy(bytes, content.data(), content.size());
  length = static_cast<std::uint32_t>(content.size());
  change(outcome);
  return {};
}

void Address::change(State next) {
  state.store(next, std::memory_order_release);  // release: pairs with wait_while()
  ::syscall(SYS_futex, &state, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

Address::State Address::wait_while(State now) {
  std::uint32_t seen = now;
  while ((seen = state.load(std::memory_order_acquire)) == now)
    ::syscall(SYS_futex, &state, FUTEX_WAIT, now, nullptr, nullptr, 0);
  return State{seen};
}

// Who wakes has counted itself before it does anything, and who rings for another process changes the bell
// while it is awake itself.
bool NodeMemory::rests(const Job& job, int process, std::uint64_t& since) const {
  const HostState& state = host(process);
  since = state.wakes.load(std::memory_order_acquire);
  if (state.done.load(std::memory_order_acquire)) return true;
  // No thread of it serves the bells. One that sleeps there and is rung is awake, for the kernel, before the
  // ringer can sleep: the process sees it when it is asked (RestNote).
  if (state.outside.load(std::memory_order_acquire) == since + 1) return true;
  if (state.rested.load(std::memory_order_acquire) != since + 1) return false;
  if (job.processes.size() == 1) return true;  // nobody rings
  const HostProcess& one = job.processes[static_cast<std::size_t>(process)];
  const int first = job.first_port(process);
  if (!job.uses_fibers(one))
    return base::Bell::sleeps(bell(first).progress_sleeper.load(std::memory_order_acquire));
  for (int port = first; port < first + job.ports(one); ++port)
    if (!base::Bell::sleeps(bell(port).worker.load(std::memory_order_acquire))) return false;
  return true;
}

void NodeMemory::call_observer(int process) const {
  HostState& state = host(process);
  state.news.fetch_add(1, std::memory_order_release);
  ::syscall(SYS_futex, &state.news, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

std::size_t NodeMemory::end(const Job& job) { return (Parts(job).end + kPage - 1) / kPage * kPage; }

base::Status NodeMemory::make(const Job& job, int& descriptor) {
  descriptor = base::memory_file("clump node");
  if (descriptor >= 0 && base::set_size(descriptor, end(job))) return {};
  return base::fail(MPI_ERR_NO_MEM, "no memory for what the job's {} processes share: {}",
                    job.this_node().processes,
                    base::why_refused(descriptor < 0 ? "memfd_create" : "ftruncate", errno));
}

base::Status NodeMemory::map(const Job& job, int descriptor, NodeMemory& memory) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0 || info.st_size < static_cast<off_t>(end(job)))
    return base::fail(
        MPI_ERR_ARG,
        "the memory that the job's processes share (CLUMP_NODE_FD={}) has {} bytes, and {} are needed: a "
        "program between mpiexec and this one has put another file there",
        descriptor, info.st_size, end(job));
  void* const begin = ::mmap(nullptr, end(job), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (begin == MAP_FAILED)
    return base::fail(MPI_ERR_NO_MEM, "cannot map the memory that the job's processes share: {}",
                      base::why_refused("mmap", errno));
  memory.hosts_ = static_cast<HostState*>(begin);
  const Parts at(job);
  memory.bells_ = reinterpret_cast<base::Bell*>(static_cast<std::byte*>(begin) + at.bells);
  memory.addresses_ = reinterpret_cast<Address*>(static_cast<std::byte*>(begin) + at.addresses);
  memory.first_process_ = job.this_node().first;
  return {};
}

}  // namespace clump::pmi
