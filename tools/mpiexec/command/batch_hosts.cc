#include "command/batch_hosts.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "common/places.h"

namespace clump::mpiexec {

namespace {

constexpr BatchSystem kSystems[] = {{"slurm", "SLURM_JOB_ID", "SLURM_JOB_NODELIST", "slurm"},
                                    {"pbs", "PBS_JOBID", "PBS_NODEFILE", "ssh"},
                                    {"sge", "JOB_ID", "PE_HOSTFILE", "sge"},
                                    {"lsf", "LSB_JOBID", "LSB_DJOB_HOSTFILE", "lsf"}};
constexpr std::size_t kMostHosts = 1 << 20;

bool read_count(std::string_view text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

/// At commas outside of brackets.
std::vector<std::string_view> pieces_of(std::string_view list) {
  std::vector<std::string_view> pieces;
  for (std::size_t from = 0, at = 0, depth = 0; at <= list.size(); ++at) {
    if (at == list.size() || (list[at] == ',' && depth == 0)) {
      if (at > from) pieces.push_back(list.substr(from, at - from));
      from = at + 1;
    } else if (list[at] == '[') {
      ++depth;
    } else if (list[at] == ']' && depth > 0) {
      --depth;
    }
  }
  return pieces;
}

/// "08-11,20": 08, 09, 10, 11, 20.
std::vector<std::string> members_of(std::string_view ranges) {
  std::vector<std::string> all;
  for (const std::string_view one : pieces_of(ranges)) {
    const std::size_t dash = std::min(one.find('-'), one.size());
    int from = 0, to = 0;
    if (!read_count(one.substr(0, dash), from) || !read_count(one.substr(std::min(dash + 1, one.size())), to))
      to = from;
    for (std::int64_t number = from; number <= to && all.size() < kMostHosts; ++number)
      all.push_back(fmt::format("{:0{}}", number, dash));
  }
  return all;
}

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

std::vector<Host> hosts_of_slurm(std::string_view list) {
  std::vector<Host> hosts;
  for (std::string& name : names_of_list(list))
    if (may_be_host(name)) hosts.push_back({.name = std::move(name)});
  // Of a heterogeneous job these are the first component's.
  std::string_view counts = text_of_variable("SLURM_TASKS_PER_NODE");
  if (counts.empty()) counts = text_of_variable("SLURM_JOB_CPUS_PER_NODE");
  const std::vector<int> slots = numbers_of_list(counts);
  for (std::size_t i = 0; slots.size() == hosts.size() && i < hosts.size(); ++i) hosts[i].slots = slots[i];
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
    return !text_of_variable(one.job).empty() && !text_of_variable(one.variable).empty();
  });
  return system != std::end(kSystems) ? system : nullptr;
}

std::vector<Host> batch_hosts(const BatchSystem& system) {
  const std::string_view value = text_of_variable(system.variable);
  return system.name == "slurm" ? hosts_of_slurm(value)
                                : hosts_of_file(std::string(value), system.name == "sge");
}

std::vector<std::string> names_of_list(std::string_view list) {
  std::vector<std::string> all;
  for (std::string_view piece : pieces_of(list)) {
    std::vector<std::string> names{""};
    while (!piece.empty()) {
      const std::size_t begin = std::min(piece.find('['), piece.size());
      const std::size_t end = std::min(piece.find(']', begin), piece.size());
      std::vector<std::string> longer;
      const std::vector<std::string> members = begin < piece.size()
                                                   ? members_of(piece.substr(begin + 1, end - begin - 1))
                                                   : std::vector<std::string>{""};
      for (const std::string& name : names)
        for (const std::string& member : members)
          if (longer.size() < kMostHosts)
            longer.push_back(name + std::string(piece.substr(0, begin)) + member);
      names = std::move(longer);
      piece.remove_prefix(std::min(end + 1, piece.size()));
    }
    all.insert(all.end(), names.begin(), names.end());
  }
  return all;
}

std::vector<int> numbers_of_list(std::string_view list) {
  std::vector<int> all;
  for (const std::string_view piece : pieces_of(list)) {
    const std::size_t times = std::min(piece.find("(x"), piece.size());
    int number = 0, count = 1;
    if (!read_count(piece.substr(0, times), number)) return {};
    if (times < piece.size() && !read_count(piece.substr(times + 2, piece.size() - times - 3), count))
      return {};
    all.insert(all.end(), std::min<std::size_t>(static_cast<std::size_t>(count), kMostHosts), number);
  }
  return all;
}

}  // namespace clump::mpiexec
