// What the channel between jobs (net/link) has to know of this one.
#include "runtime/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/random.h"
#include "host/host.h"
#include "mpi/ports.h"
#include "mpi/process.h"
#include "net/link/link_channel.h"
#include "runtime/spawned_job.h"

namespace clump {

namespace {

/// What is drawn once for all processes of the job; a job of one process that nobody has started draws it
/// here.
net::link::JobName name_of(const pmi::Job& job) {
  if (job.link_id != 0) return {job.link_id, job.link_token};
  if (job.processes.size() > 1) return {};
  return {base::random_number(), base::random_number()};
}

/// A world that ranks of this one are connected to has failed, so they fail, too (MPI-5.0 section 11.10.4).
/// If they have started it, it ends with this job, and has a moment to say what has happened.
void lost_job(int, const net::link::PeerName& name, const std::string& why) {
  host::let_a_job_end(std::chrono::seconds(2));
  const pmi::Job& job = host::job();
  pmi::Failure failure;
  failure.rank = job.first_rank(job.here());
  failure.reason = pmi::Reason::kAborted;
  failure.code = MPI_ERR_PROC_ABORTED;
  failure.text =
      fmt::format("lost rank {} of another job, which is connected to this one: {}", name.rank,
                  why.empty() ? "its process ended before MPI_Finalize and before MPI_Comm_disconnect" : why);
  host::fail_job(std::move(failure));
}

}  // namespace

static_assert(pmi::kMostOfOthers <= net::link::Stranger::kMost);

void open_links(core::World& world) {
  const pmi::Job& job = host::job();
  const net::link::JobName name = name_of(job);
  if (!mpi::why_no_other_jobs().empty() || name.id == 0) return;
  net::LinkChannel::Setup setup;
  setup.job = name;
  setup.process = job.process;
  setup.checks = static_cast<std::uint32_t>(world.checks);
  setup.first_place = job.first_of_others();
  setup.places = job.places_for_ranks() - job.first_of_others();
  setup.interface = job.network.interface;
  setup.job_context = mpi::kJobContext;
  setup.process_of = [&job](int rank) { return job.is_of_start(rank) ? job.process_of(rank) : job.process; };
  setup.find_sink = [&world](int rank) -> net::Sink* {
    if (rank < 0 || rank >= world.places()) return nullptr;
    const auto& found = world.ranks[static_cast<std::size_t>(rank)];
    return found != nullptr ? found->inbox.get() : nullptr;
  };
  setup.take_place = [&world](int place) {
    world.routes[static_cast<std::size_t>(place)] = world.link.get();
  };
  setup.lost = lost_job;
  setup.gone = [&world](int place) { mpi::forget_visitor(world, place); };
  world.link = std::make_unique<net::LinkChannel>(std::move(setup));
  core::Group::keep_numbers_of(*world.link);
}

namespace mpi {

std::string why_no_other_jobs() {
  const pmi::Job& job = host::job();
  if (job.seed) return "the order of its ranks is drawn from a seed: run it without --seed";
  if (host::record_descriptor() >= 0)
    return "its calls are recorded, and there are no records for ranks of other jobs: run it without "
           "--profile "
           "and --trace";
  if (job.link_id == 0 && job.processes.size() > 1)
    return "it was started by PMIx, and not by Clump's mpiexec";
  if (job.nodes.size() > 1 && job.network.interface.empty())
    return "no address of this host is known that leads to the others of the job: name the interface, with "
           "mpiexec "
           "--iface";
  return {};
}

int first_rank_of(int process) {
  const pmi::Job& job = host::job();
  return job.first_rank(job.processes[static_cast<std::size_t>(process)]);
}

std::vector<int> first_ranks_of_hosts() {
  const pmi::Job& job = host::job();
  std::map<std::string, int> all;
  for (int number = 0; const pmi::Node& node : job.nodes)
    all.emplace(node.name, number++ == job.node_of(0) ? 0 : first_rank_of(node.first));
  std::vector<int> ranks;
  for (const auto& [name, rank] : all) ranks.push_back(rank);
  return ranks;
}

int room_for_jobs() { return pmi::kMostOfOthers; }

bool shares_names() { return host::job().shares_names; }

std::string parent_port() { return host::job().parent_port; }

base::Status start_job(const std::vector<Command>& commands, const std::string& parent_port,
                       void (*ended)(void* argument, int status), void* argument) {
  const std::string wrong =
      host::start_mpiexec(mpiexec_words(host::job(), commands),
                          mpiexec_environment(commands.front(), parent_port), ended, argument);
  return wrong.empty() ? base::Status() : base::fail(MPI_ERR_SPAWN, "{}", wrong);
}

void note_failed_job(int rank, int code) { host::note_failed_job(rank, code); }

}  // namespace mpi
}  // namespace clump
