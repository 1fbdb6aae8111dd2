#include "cluster/places_here.h"

#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "common/places.h"
#include "common/reach.h"
#include "plan/plan.h"

namespace clump::mpiexec {

namespace {

/// Of this host, as the first other one is reached from it.
std::string address_here(const std::vector<Host>& hosts) {
  for (const Host& host : hosts)
    if (!host.is_here && !host.addresses.empty()) return tools::address_towards(host.address());
  return {};
}

base::Status check_directory(const std::string& directory, int& exit_code) {
  exit_code = kExitCannotRun;
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0)
    return base::fail(MPI_ERR_BAD_FILE, "working directory '{}': {}", directory, std::strerror(errno));
  if (!S_ISDIR(info.st_mode))
    return base::fail(MPI_ERR_BAD_FILE, "working directory '{}': it is no directory", directory);
  if (::access(directory.c_str(), X_OK) != 0)
    return base::fail(MPI_ERR_BAD_FILE, "working directory '{}': {}", directory, std::strerror(errno));
  return {};
}

base::Status check_program(const std::string& program, int& exit_code) {
  exit_code = kExitNotFound;
  if (::access(program.c_str(), F_OK) != 0)
    return base::fail(MPI_ERR_NO_SUCH_FILE, "program '{}': {}", program, std::strerror(errno));
  exit_code = kExitCannotRun;
  if (!tools::is_file(program)) return base::fail(MPI_ERR_BAD_FILE, "program '{}': it is no file", program);
  if (::access(program.c_str(), X_OK) != 0)
    return base::fail(MPI_ERR_BAD_FILE, "program '{}' cannot be executed: {}", program, std::strerror(errno));
  return {};
}

}  // namespace

Places places_of(const std::vector<Host>& hosts, const pmi::Job& job, const tools::Wish& interface) {
  Places places{tools::current_directory(), {}, interface};
  for (const pmi::Node& node : job.nodes) {
    const auto host = std::ranges::find(hosts, node.name, &Host::name);
    const bool is_known = host != hosts.end() && !host->is_here;
    places.addresses.push_back(is_known ? host->address() : address_here(hosts));
  }
  return places;
}

base::Status addresses_at(const tools::Wish& interface, std::vector<std::string>& addresses) {
  addresses = tools::own_addresses(interface.value);
  if (!addresses.empty()) return {};
  return base::fail(MPI_ERR_ARG, "{}: no address that other hosts reach is there; there are {}",
                    interface.text(), fmt::join(tools::own_addresses(), ", "));
}

base::Status find_own_address(const pmi::Job& job, const Places& places, std::string& address) {
  std::vector<std::string> own = tools::own_addresses();
  if (places.interface.is_set()) {
    CLUMP_TRY(addresses_at(places.interface, own));
    // Those of all hosts are of one kind where each has both.
    address =
        *std::ranges::min_element(own, {}, [](const std::string& one) { return one.find(':') != one.npos; });
    return {};
  }
  for (std::size_t other = 0; other < job.nodes.size(); ++other) {
    if (static_cast<int>(other) == job.node) continue;
    std::vector<std::string> there = tools::addresses_of(job.nodes[other].name);
    if (other < places.addresses.size()) there.push_back(places.addresses[other]);
    // A name may lead back to this host: localhost, what is in /etc/hosts for the host's own use, or the
    // address of a bridge for containers, which both hosts have.
    std::erase_if(there, [&](const std::string& one) {
      return one.empty() || tools::is_loopback(one) || std::ranges::find(own, one) != own.end();
    });
    for (const std::string& one : there)
      if (address = tools::address_towards(one); !address.empty()) return {};
  }
  return {};
}

base::Status enter(const pmi::Job& job, const std::string& start, int& exit_code) {
  const bool is_there = ::chdir(start.c_str()) == 0;
  std::set<int> apps;
  const pmi::Node& node = job.this_node();
  for (int process = node.first; process < node.first + node.processes; ++process)
    for (const int rank : job.ranks_of(job.processes[static_cast<std::size_t>(process)]))
      apps.insert(job.app_of(rank));
  for (const int number : apps) {
    const pmi::App& app = job.apps[static_cast<std::size_t>(number)];
    if (app.program.empty()) continue;  // only the map is wanted
    if (!app.working_directory.empty() || !is_there)
      CLUMP_TRY(check_directory(app.working_directory.empty() ? start : app.working_directory, exit_code));
    CLUMP_TRY(check_program(app.program, exit_code));
  }
  return {};
}

}  // namespace clump::mpiexec
