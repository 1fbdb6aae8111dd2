#include "runtime/spawned_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "pmi/rank_variables.h"

namespace clump {

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
