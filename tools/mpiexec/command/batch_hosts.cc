#include "command/batch_hosts.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "common/places.h"
#include "common/slurm_job.h"

namespace clump::mpiexec {

namespace {

constexpr BatchSystem kSystems[] = {{"slurm", "SLURM_JOB_ID", "SLURM_JOB_NODELIST", "slurm"},
                                    {"pbs", "PBS_JOBID", "PBS_NODEFILE", "ssh"},
                                    {"sge", "JOB_ID", "PE_HOSTFILE", "sge"},
                                    {"lsf", "LSB_JOBID", "LSB_DJOB_HOSTFILE", "lsf"}};
/// A launcher would take others for its options.
bool may_be_host(const std::string& name) { return !name.starts_with('-'); }

/// A line for each slot, or, `has_slots`, one for each host: its name, slots, and more.
std::vector<Host> hosts_of_file(const std::string& path, bool has_slots) {
  std::vector<Host> hosts;
  if (!tools::is_file(path)) return hosts;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    Host host{.name = {}, .slots = 1};
    if (!(words >> host.name) || !may_be_host(host.name)) continue;
    if (has_slots && !(words >> host.slots)) host.slots = 1;
    add_host(hosts, std::move(host));
  }
  return hosts;
}

std::string_view text_of_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::vector<Host> hosts_of_slurm() {
  std::vector<Host> hosts;
  for (tools::SlurmComponent& one : tools::slurm_components())
    for (std::size_t i = 0; i < one.names.size(); ++i)
      if (may_be_host(one.names[i]))
        add_host(hosts, {.name = std::move(one.names[i]), .slots = one.slots.empty() ? 0 : one.slots[i]});
  return hosts;
}

}  // namespace

const BatchSystem* find_batch_system(std::string_view name) {
  const BatchSystem* const system = std::ranges::find(kSystems, name, &BatchSystem::name);
  return system != std::end(kSystems) ? system : nullptr;
}

base::Status check_batch_system(const tools::Wish& name) {
  if (find_batch_system(name.value) != nullptr || std::ranges::count(kNoBatchSystem, name.value) > 0)
    return {};
  std::string all;
  for (const BatchSystem& system : kSystems) all += fmt::format("{}{}", all.empty() ? "" : ", ", system.name);
  return base::fail(MPI_ERR_ARG, "{}: there is no such batch system; there are {}", name.text(), all);
}

const BatchSystem* own_batch_system() {
  const BatchSystem* const system = std::ranges::find_if(kSystems, [](const BatchSystem& one) {
    return !text_of_variable(one.job).empty() && !batch_hosts(one).empty();
  });
  return system != std::end(kSystems) ? system : nullptr;
}

std::vector<Host> batch_hosts(const BatchSystem& system) {
  if (system.name == "slurm") return hosts_of_slurm();
  return hosts_of_file(std::string(text_of_variable(system.variable)), system.name == "sge");
}

}  // namespace clump::mpiexec
