// A process that another launcher has started and that PMIx serves (prterun, srun --mpi=pmix): it is one
// rank, as the system has started it, of a job that all of them make up together. There is no mpiexec.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "diag/capture.h"
#include "pmi/pmix.h"
#include "runtime/host_state.h"

namespace clump::runtime {

namespace {

constexpr const char* kNodeKey = "clump.node";

/// Where a process has the memory of its node, for the others there.
struct Whereabouts {
  std::int32_t process_id;
  std::int32_t descriptor;
};

std::string address_key(int process) { return fmt::format("clump.address.{}", process); }

/// Who is where. Ranks of a host must be consecutive.
base::Status describe_job(pmi::Job& job) {
  const int size = pmi::pmix::size(), own = pmi::pmix::rank();
  std::vector<std::string> hosts;
  CLUMP_TRY(pmi::pmix::hosts(hosts));
  job.apps.front().ranks = size;
  job.processes.clear();
  job.nodes.clear();
  job.process = own;
  for (int rank = 0; rank < size; ++rank) {
    const std::string& name = hosts[static_cast<std::size_t>(rank)];
    if (job.nodes.empty() || job.nodes.back().name != name) {
      if (std::ranges::find(job.nodes, name, &pmi::Node::name) != job.nodes.end())
        return base::fail(
            MPI_ERR_UNSUPPORTED_OPERATION,
            "rank {} is on {}, which has lower ranks, but rank {} is not: have the launcher place "
            "ranks in blocks (srun --distribution=block, prterun --map-by slot)",
            rank, name, rank - 1);
      job.nodes.push_back({name, rank, 0});
    }
    ++job.nodes.back().processes;
    job.processes.push_back({rank, 1, true});
    if (rank == own) job.node = static_cast<int>(job.nodes.size()) - 1;
  }
  job.spin = std::thread::hardware_concurrency() >= static_cast<unsigned>(job.this_node().processes);
  return {};
}

/// The first rank of each host makes the memory that its ranks share.
base::Status make_node_memory() {
  Host& here = host();
  const pmi::Job& job = here.job;
  if (job.process != job.this_node().first) return {};
  CLUMP_TRY(pmi::NodeMemory::make(job, here.node_descriptor));
  const Whereabouts mine{::getpid(), here.node_descriptor};
  return pmi::pmix::put(kNodeKey, std::as_bytes(std::span(&mine, 1)));
}

/// The others open it where it is: it has no name.
base::Status find_node_memory() {
  Host& here = host();
  const int first = here.job.this_node().first;
  if (here.job.process != first) {
    std::vector<std::byte> told;
    CLUMP_TRY(pmi::pmix::get(first, kNodeKey, told));
    Whereabouts there{};
    std::memcpy(&there, told.data(), std::min(told.size(), sizeof there));
    const std::string path = fmt::format("/proc/{}/fd/{}", there.process_id, there.descriptor);
    here.node_descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (here.node_descriptor < 0)
      return base::fail(MPI_ERR_OTHER, "cannot open the memory of rank {} on this host ({}): {}", first, path,
                        std::strerror(errno));
  }
  return pmi::NodeMemory::map(here.job, here.node_descriptor, here.node);
}

/// What this process has told must stay there until nobody asks any more. Whoever has not called MPI_Finalize
/// leaves without a word, and the launcher ends the job.
void leave_job() {
  Host& here = host();
  if (::getpid() != here.process || here.ranks[0].owes != nullptr) return;
  if (!pmi::pmix::fence().ok()) return;
  here.left_pmix = true;
  pmi::pmix::leave();
}

base::Status join_now() {
  Host& here = host();
  CLUMP_TRY(pmi::pmix::join());
  if (pmi::pmix::size() > 1) CLUMP_TRY(describe_job(here.job));
  here.ranks[0].identity.rank = here.job.here().first;
  diag::prepare();
  use_own_stack(here.ranks[0]);
  install_failure_handlers();
  here.ranks[0].phase = Phase::kRunning;
  std::atexit(leave_job);
  if (here.job.processes.size() == 1) return {};
  return make_node_memory();
}

}  // namespace

const char* join_by_pmix() {
  static const std::string wrong = [] {
    const base::Status joined = join_now();
    return joined.ok() ? std::string() : base::message_of(joined.code());
  }();
  return wrong.empty() ? nullptr : wrong.c_str();
}

base::Status announce_by_pmix(std::span<const std::byte> address) {
  Host& here = host();
  // All that is told at once: PMIx answers for a process from the first commit() on.
  if (!address.empty()) CLUMP_TRY(pmi::pmix::put(address_key(here.job.process).c_str(), address));
  CLUMP_TRY(pmi::pmix::commit());
  CLUMP_TRY(find_node_memory());
  here.node.host(here.job.process).process_id = here.process;
  listen_to_neighbours();
  return {};
}

base::Status find_by_pmix(int process, std::vector<std::byte>& address) {
  return pmi::pmix::get(process, address_key(process).c_str(), address);
}

}  // namespace clump::runtime
