#include "runtime/spawned_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "pmi/rank_variables.h"

namespace clump {

namespace {

std::string hosts_of(const pmi::Job& job) {
  std::string hosts;
  for (std::size_t i = 0; i < job.nodes.size(); ++i) {
    const pmi::Node& node = job.nodes[(static_cast<std::size_t>(job.node) + i) % job.nodes.size()];
    hosts += fmt::format("{}{}:{}", hosts.empty() ? "" : ",", node.name, job.ranks(node));
  }
  return hosts;
}

}  // namespace

base::Status words_for_hosts(const pmi::Job& job, const std::vector<mpi::Command>& commands,
                             std::vector<std::string>& words) {
  const mpi::Command& first = commands.front();
  for (const mpi::Command& other : commands)
    if (other.hosts != first.hosts || other.host_file != first.host_file)
      return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                        "(array_of_info): host and hostfile have to be the same for all programs of a call");
  if (!first.is_elsewhere && job.nodes.size() == 1) return {};
  words.insert(words.end(), job.launch_words.begin(), job.launch_words.end());
  if (!first.host_file.empty()) words.insert(words.end(), {"--hostfile", first.host_file});
  if (!first.hosts.empty()) words.insert(words.end(), {"--host", first.hosts});
  if (first.host_file.empty() && first.hosts.empty()) words.insert(words.end(), {"--host", hosts_of(job)});
  return {};
}

std::vector<std::string> mpiexec_words(const std::vector<mpi::Command>& commands, int universe) {
  std::vector<std::string> words = {"--usize", std::to_string(std::max(universe, 1))};
  for (const mpi::Command& command : commands) {
    if (&command != &commands.front()) words.push_back(":");
    words.insert(words.end(), {"-n", std::to_string(command.ranks), "-wdir", command.working_directory});
    for (const std::string& entry : command.environment) {
      // mpiexec passes on what it is started with: that of the first program.
      const auto& first = commands.front().environment;
      const std::size_t end = entry.find('=');
      if (end == std::string::npos || std::ranges::find(first, entry) != first.end()) continue;
      words.insert(words.end(), {"-env", entry.substr(0, end), entry.substr(end + 1)});
    }
    // ":" may be among the arguments.
    words.insert(words.end(), {"--argc", std::to_string(command.arguments.size()), command.path});
    words.insert(words.end(), command.arguments.begin() + 1, command.arguments.end());
  }
  return words;
}

std::vector<std::string> mpiexec_environment(const mpi::Command& first, const std::string& parent_port) {
  std::vector<std::string> environment = first.environment;
  const std::string start = fmt::format("{}=", pmi::kParentPortVariable);
  std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(start); });
  environment.push_back(start + parent_port);
  return environment;
}

}  // namespace clump
