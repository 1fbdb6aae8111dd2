#include "runtime/spawned_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "pmi/rank_variables.h"

namespace clump {

base::Status mpiexec_words(const std::vector<mpi::Command>& commands, std::vector<std::string>& words) {
  for (const mpi::Command& command : commands) {
    if (!words.empty()) words.push_back(":");
    words.insert(words.end(), {"-n", std::to_string(command.ranks), "-wdir", command.working_directory});
    for (const std::string& entry : command.environment) {
      // mpiexec passes on what it is started with: that of the first program.
      const auto& first = commands.front().environment;
      const std::size_t end = entry.find('=');
      if (end == std::string::npos || std::ranges::find(first, entry) != first.end()) continue;
      words.insert(words.end(), {"-env", entry.substr(0, end), entry.substr(end + 1)});
    }
    words.push_back(command.path);
    for (std::size_t i = 1; i < command.arguments.size(); ++i) {
      if (command.arguments[i] == ":")
        return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                          "(argv): \":\" as an argument of a program that is started as a process");
      words.push_back(command.arguments[i]);
    }
  }
  return {};
}

std::vector<std::string> mpiexec_environment(const mpi::Command& first, const std::string& parent_port) {
  std::vector<std::string> environment = first.environment;
  const std::string start = fmt::format("{}=", pmi::kParentPortVariable);
  std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(start); });
  environment.push_back(start + parent_port);
  return environment;
}

}  // namespace clump
