// A process that another launcher has started and that PMIx serves (prterun, srun --mpi=pmix): it is one
// rank, as the system has started it, of a job that all of them make up together. There is no mpiexec.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/memory_file.h"
#include "base/process.h"
#include "diag/capture.h"
#include "host/pmix_job.h"
#include "host/state.h"
#include "pmi/pmix.h"

namespace clump::host {

namespace {

constexpr const char* kNodeKey = "clump.node";

std::string address_key(int process) { return fmt::format("clump.address.{}", process); }

/// As PMIx numbers processes.
int rank_of(int process) {
  const pmi::Job& job = host().job;
  return job.first_rank(job.processes[static_cast<std::size_t>(process)]);
}

base::Status describe_job(pmi::Job& job) {
  std::vector<std::string> hosts;
  CLUMP_TRY(pmi::pmix::hosts(hosts));
  describe_by_hosts(job, hosts, pmi::pmix::rank(), std::thread::hardware_concurrency());
  return {};
}

/// The first rank of each host makes the memory that its ranks share.
base::Status make_node_memory() {
  Host& here = host();
  const pmi::Job& job = here.job;
  if (job.process != job.this_node().first) return {};
  CLUMP_TRY(pmi::NodeMemory::make(job, here.node_descriptor));
  const base::OpenFile mine = base::describe_open_file(here.node_descriptor);
  return pmi::pmix::put(kNodeKey, std::as_bytes(std::span(&mine, 1)));
}

/// The others open it where it is: it has no name.
base::Status find_node_memory() {
  Host& here = host();
  if (const int first = rank_of(here.job.this_node().first); first != here.job.first_rank(here.job.here())) {
    std::vector<std::byte> told;
    CLUMP_TRY(pmi::pmix::get(first, kNodeKey, told));
    base::OpenFile there{};
    std::memcpy(&there, told.data(), std::min(told.size(), sizeof there));
    here.node_descriptor = base::open_file_of(there);
    if (here.node_descriptor < 0)
      return base::fail(MPI_ERR_OTHER,
                        "cannot open the memory of rank {} on this host (/proc/{}/fd/{}): {}. {}", first,
                        there.process, there.descriptor, std::strerror(errno), base::kHowToOpen);
  }
  return pmi::NodeMemory::map(here.job, here.node_descriptor, here.node);
}

/// What this process has told must stay there until nobody asks any more. A rank that has not called
/// MPI_Finalize by the end of exit() fails the job (on_exit_without_mpiexec()).
void leave_job() {
  Host& here = host();
  if (base::process_id() != here.process || here.ranks[0].owes != nullptr) return;
  if (!pmi::pmix::fence().ok()) return;
  here.left_pmix = true;
  pmi::pmix::leave();
}

base::Status join_now() {
  Host& here = host();
  CLUMP_TRY(pmi::pmix::join(fmt::format("{}/clump/libpmix.so.2", own_folder())));
  if (pmi::pmix::size() > 1) CLUMP_TRY(describe_job(here.job));
  here.ranks[0].identity.rank = here.job.first_rank(here.job.here());
  diag::prepare();
  use_signal_stack_if_none();
  install_failure_handlers();
  here.ranks[0].phase = Phase::kRunning;
  std::atexit(leave_job);
  if (here.job.processes.size() == 1) return {};
  return make_node_memory();
}

}  // namespace

const char* join_by_pmix() {
  static const auto& wrong = *new auto([] {
    const base::Status joined = join_now();
    if (!joined.ok()) return base::message_of(joined.code());
    name_process();
    describe_to_debuggers();
    return std::string();
  }());
  return wrong.empty() ? nullptr : wrong.c_str();
}

base::Status announce_by_pmix(std::span<const std::byte> address) {
  Host& here = host();
  if (!address.empty()) CLUMP_TRY(pmi::pmix::put(address_key(here.job.process).c_str(), address));
  CLUMP_TRY(pmi::pmix::exchange());
  CLUMP_TRY(find_node_memory());
  here.node.host(here.job.process).process_id = here.process;
  listen_to_neighbours();
  return {};
}

base::Status find_by_pmix(int process, std::vector<std::byte>& address) {
  return pmi::pmix::get(rank_of(process), address_key(process).c_str(), address);
}

}  // namespace clump::host
