#include "cluster/cluster.h"

#include <algorithm>

#include "cluster/hosts_driver.h"
#include "cluster/places_here.h"
#include "common/launchers.h"
#include "common/limits.h"

namespace clump::mpiexec {

namespace {

/// Descriptors that mpiexec has open: pipes to a launcher, and ends of channels.
constexpr long kFilesOfHost = 12, kFilesOfMpiexec = 64;

/// What of the command line each proxy has to know.
std::vector<std::string> proxy_options(const Command& command) {
  std::vector<std::string> words{"--proxy"};
  if (command.cores) words.insert(words.end(), {"--cores", *command.cores});
  if (command.hardware_threads) words.emplace_back("--use-hwthread-cpus");
  if (command.enough_cores) words.emplace_back("--nooversubscribe");
  if (command.workers > 0) words.insert(words.end(), {"--workers", std::to_string(command.workers)});
  if (command.helpers) words.insert(words.end(), {"--helpers", std::to_string(*command.helpers)});
  if (command.map) words.emplace_back("--map");
  if (command.gdb) words.emplace_back("--gdb");
  if (command.profile) words.emplace_back("--profile");
  if (command.trace) words.insert(words.end(), {"--trace", *command.trace});
  return words;
}

}  // namespace

bool needs_other_hosts(const Command& command) {
  return std::ranges::any_of(command.hosts, [](const Host& host) { return !host.is_here; });
}

base::Status run_on_hosts(const Command& command, Plan& plan, Records& records, int& code) {
  const tools::LauncherChoice choice = tools::with_variables(command.launcher);
  tools::Launcher launcher;
  int width = 0;
  CLUMP_TRY(tools::find_width(width));
  CLUMP_TRY(launcher.find(choice));
  const long files = kFilesOfMpiexec + kFilesOfHost * static_cast<long>(plan.job.nodes.size());
  CLUMP_TRY(tools::check_limits({.descriptors = files}, plan.job.ranks()));
  plan.job.network.provider = command.network;
  plan.job.has_proxies = true;
  if (command.gdb) plan.job.input = pmi::kNoInput;  // gdb reads mpiexec's
  std::vector<bool> are_here;
  for (const pmi::Node& node : plan.job.nodes) {
    const auto host = std::ranges::find(command.hosts, node.name, &Host::name);
    are_here.push_back(host != command.hosts.end() && host->is_here);
  }
  std::vector<std::string> others;
  for (std::size_t host = 0; host < are_here.size(); ++host)
    if (!are_here[host]) others.push_back(plan.job.nodes[host].name);
  CLUMP_TRY(launcher.check_hosts(others));
  if (!launcher.gives_stream()) width = std::max(1, static_cast<int>(others.size()));  // proxies start none
  return run_hosts({.command = command,
                    .job = plan.job,
                    .choice = choice,
                    .launcher = launcher,
                    .width = width,
                    .are_here = are_here,
                    .words = proxy_options(command),
                    .places = places_of(command.hosts, plan.job, interface_of(command)),
                    .records = records},
                   code);
}

}  // namespace clump::mpiexec
