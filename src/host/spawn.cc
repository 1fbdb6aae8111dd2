// Ranks that join this process while it runs: docs/decisions/047-dynamic-processes.md.
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <system_error>

#include "base/environment.h"
#include "host/host.h"
#include "host/stacks.h"
#include "host/state.h"
#include "image/image.h"
#include "inspect/inspect.h"
#include "process/files/record_locks.h"

namespace clump::host {

namespace {

/// What the ranks run, for as long as the process lives.
std::deque<pmi::App>& apps_of_joined() {
  static auto& all = *new std::deque<pmi::App>;
  return all;
}

int ranks_of(const Joining& joining) {
  int sum = 0;
  for (const pmi::App& app : joining.apps) sum += app.ranks;
  return sum;
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code none;
  return std::filesystem::equivalent(one, other, none);
}

/// The number of a program, which is loaded if it is new.
base::Status find_program(const std::string& path, int& program) {
  Host& here = host();
  program = 0;
  if (is_same_file(path, here.app_of(here.ranks[0]).program)) return {};
  return image::load_program(path, &program);
}

/// What the process has done for the ranks that it has begun with, if there were several.
std::string prepare_process() {
  Host& here = host();
  if (here.rank_count() == 1) image::locks::begin();
  return reserve_stacks_of_joining();
}

}  // namespace

std::string job_name() {
  const Host& here = host();
  // Hosts may have a name in common, and numbers of processes.
  if (here.job.link_id != 0) return fmt::format("j{:016x}", here.job.link_id);
  if (here.job.nodes.size() > 1) return fmt::format("{}-and-others", here.job.nodes.front().name);
  char node[256] = {};
  ::gethostname(node, sizeof node - 1);
  // The memory that the processes of the node have in common is a file without a name, but with a number.
  struct stat info {};
  if (here.job.processes.size() > 1 && ::fstat(here.node_descriptor, &info) == 0)
    return fmt::format("{}-m{}", node, info.st_ino);
  return fmt::format("{}-p{}", node, here.process);
}

std::string why_none_joins() {
  Host& here = host();
  if (!here.started_by_mpiexec()) return "the program was started without mpiexec";
  if (here.job.nodes.size() > 1) return "the job is on several hosts";
  if (here.job.here().plain)
    return "the ranks of this job are processes, to which Clump does not add others yet: only programs whose "
           "ranks can share a process can spawn (clump explain says why a program's cannot)";
  if (here.job.processes.size() > 1)
    return "the job has several processes (--per-process), to which Clump does not add ranks yet";
  if (here.job.seed) return "the order of its ranks is drawn from a seed: run it without --seed";
  if (here.record_descriptor >= 0)
    return "its calls are recorded, and there are no records for more ranks: run it without --profile and "
           "--trace";
  if (here.is_debugged) return "its ranks wait for gdb: run it without --gdb";
  return {};
}

int room_to_join() { return pmi::kMostJoining - host().joined_count.load(std::memory_order_relaxed); }

std::vector<std::string> environment_of_caller() {
  std::vector<std::string> all;
  char** entry = host().is_imaged() ? image::environment_of(*fiber::identity()) : base::environment();
  for (; entry != nullptr && *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

std::string why_no_image(const std::string& path, const std::string& library_path) {
  Host& here = host();
  if (is_same_file(path, here.app_of(here.ranks[0]).program)) return {};
  const image::Verdict verdict = image::inspect(path, library_path);
  if (verdict.kind == image::FileKind::kScript)
    return fmt::format("it is a script, run by {}", verdict.interpreter);
  if (!verdict.runnable()) return "it is no program of this machine";
  if (!verdict.missing.empty())
    return fmt::format("it needs the library {}, which was not found", verdict.missing.front());
  if (verdict.mpi == image::MpiKind::kNone) return "it is not linked to an MPI library";
  if (verdict.mpi != image::MpiKind::kStandardAbi)
    return fmt::format("it is made for another MPI library, {}: build it with Clump's mpicc",
                       verdict.mpi_library);
  return verdict.why_not;
}

std::string prepare_joining(Joining& joining) {
  Host& here = host();
  const int before = here.joined_count.load(std::memory_order_relaxed);
  const int size = ranks_of(joining);
  if (size > room_to_join())
    return fmt::format("{} ranks are asked for, and {} more can be started in this job, of {} in all", size,
                       room_to_join(), pmi::kMostJoining);
  std::vector<int> programs;
  for (const pmi::App& app : joining.apps)
    if (const base::Status found = find_program(app.program, programs.emplace_back()); !found.ok())
      return base::message_of(found.code());
  if (std::string wrong = prepare_process(); !wrong.empty()) return wrong;

  static int launches = 0;  // guarded by the contract: one thread at a time
  joining.launch = ++launches;
  joining.first = here.job.ranks() + before;
  int next = 0;
  for (std::size_t app = 0; app < joining.apps.size(); ++app) {
    const pmi::App& kept = apps_of_joined().emplace_back(joining.apps[app]);
    for (int i = 0; i < kept.ranks; ++i, ++next) {
      auto* const rank = new HostedRank;  // never freed, as other ranks' records
      rank->identity.rank = joining.first + next;
      rank->identity.threaded = false;
      rank->identity.launch = joining.launch;
      rank->identity.launch_rank = next;
      rank->launch_size = size;
      rank->app = static_cast<int>(app);
      rank->spawned = &kept;
      rank->program = programs[app];
      give_limits_to_joining(*rank);
      here.joined[static_cast<std::size_t>(before + next)] = rank;
    }
  }
  const std::string packet = pmi::encode(pmi::LaunchNote{joining.launch, joining.first, size});
  (void)!::send(here.control, packet.data(), packet.size(), MSG_NOSIGNAL);
  here.joined_count.store(before + size,
                          std::memory_order_release);  // release: pairs with Host::rank_count()
  return {};
}

void start_joining(const Joining& joining) {
  Host& here = host();
  for (int i = 0; i < ranks_of(joining); ++i) {
    HostedRank& rank = here.rank(joining.first + i);
    start_joined(rank, joining.first + i);
  }
}

}  // namespace clump::host
