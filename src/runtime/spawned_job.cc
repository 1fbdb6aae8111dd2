#include "runtime/spawned_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string_view>

#include "pmi/rank_variables.h"

namespace clump {

namespace {

using Words = std::vector<std::string>;

/// Of this job, this one first, with as many slots as they have ranks.
std::string hosts_of(const pmi::Job& job) {
  std::string hosts;
  for (std::size_t i = 0; i < job.nodes.size(); ++i) {
    const pmi::Node& node = job.nodes[(static_cast<std::size_t>(job.node) + i) % job.nodes.size()];
    hosts += fmt::format("{}{}:{}", hosts.empty() ? "" : ",", node.name.empty() ? "localhost" : node.name,
                         job.ranks(node));
  }
  return hosts;
}

/// mpiexec may be on another host than the one that the program means by these names.
std::string without_loopback(const std::string& hosts, const std::string& own) {
  std::string all;
  for (std::size_t at = 0; at <= hosts.size();) {
    const std::size_t end = std::min(hosts.find(',', at), hosts.size());
    std::string_view one = std::string_view(hosts).substr(at, end - at);
    if (at > 0) all += ',';
    for (const std::string_view name : {"localhost", "127.0.0.1"}) {
      if (one != name && !one.starts_with(std::string(name) + ':')) continue;
      all += own;
      one.remove_prefix(name.size());
    }
    all += one;
    at = end + 1;
  }
  return all;
}

/// Where the ranks of a program run.
Words place_of(const pmi::Job& job, const mpi::Command& command) {
  Words words;
  if (!command.host_file.empty()) words.insert(words.end(), {"--hostfile", command.host_file});
  if (!command.hosts.empty())
    words.insert(
        words.end(),
        {"--host", job.has_proxies ? without_loopback(command.hosts, job.this_node().name) : command.hosts});
  return words.empty() ? Words{"--host", hosts_of(job)} : words;
}

}  // namespace

Words mpiexec_words(const pmi::Job& job, const std::vector<mpi::Command>& commands) {
  Words words;
  std::vector<Words> places;  // by program; none: all run on this host
  if (job.has_proxies || std::ranges::any_of(commands, &mpi::Command::is_elsewhere)) {
    words = job.launch_words;
    for (const mpi::Command& command : commands) places.push_back(place_of(job, command));
  }
  // One list of hosts for all is divided between them.
  if (std::ranges::adjacent_find(places, std::not_equal_to()) == places.end() && !places.empty()) {
    words.insert(words.end(), places.front().begin(), places.front().end());
    places.clear();
  }
  words.insert(words.end(), {"--usize", std::to_string(std::max(job.universe, 1))});
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const mpi::Command& command = commands[i];
    if (i > 0) words.push_back(":");
    if (!places.empty()) words.insert(words.end(), places[i].begin(), places[i].end());
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

Words mpiexec_environment(const mpi::Command& first, const std::string& parent_port) {
  Words environment = first.environment;
  const std::string start = fmt::format("{}=", pmi::kParentPortVariable);
  std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(start); });
  environment.push_back(start + parent_port);
  return environment;
}

}  // namespace clump
