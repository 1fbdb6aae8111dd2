#include "common/limits.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <optional>

namespace clump::tools {

namespace {

std::optional<long> read_number(const std::string& path) {
  std::ifstream file(path);
  long value = 0;
  if (file >> value) return value;
  return std::nullopt;  // missing, or "max"
}

/// The directories of this process's control groups that may limit the number of tasks, from its own up to
/// the root.
std::vector<std::string> pids_groups() {
  std::vector<std::string> groups;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string root;
    if (controllers.empty()) root = "/sys/fs/cgroup";
    if (controllers == "pids") root = "/sys/fs/cgroup/pids";
    if (root.empty()) continue;
    for (std::string path = line.substr(second + 1); !path.empty() && path != "/";
         path = path.substr(0, path.rfind('/'))) {
      groups.push_back(root + path);
    }
    groups.push_back(root);
  }
  return groups;
}

void check_pids_groups(const Needs& needs, std::vector<Limit>& all) {
  for (const std::string& group : pids_groups()) {
    const std::optional<long> most = read_number(group + "/pids.max");
    if (!most) continue;
    const long left = *most - read_number(group + "/pids.current").value_or(0);
    if (needs.tasks > left) {
      all.push_back({"pids.max of the control group " + group, left, needs.tasks,
                     "docker run --pids-limit, systemd TasksMax=, or: echo max > " + group + "/pids.max"});
    }
  }
}

void check_user(const Needs& needs, std::vector<Limit>& all) {
  rlimit limit;
  // The kernel does not hold root to it.
  if (::geteuid() == 0 || ::getrlimit(RLIMIT_NPROC, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  if (needs.tasks > static_cast<long>(limit.rlim_cur)) {
    all.push_back({"RLIMIT_NPROC (ulimit -u)", static_cast<long>(limit.rlim_cur), needs.tasks,
                   fmt::format("ulimit -u {}, or nproc in /etc/security/limits.conf", needs.tasks * 2)});
  }
}

void check_sysctl(const std::string& name, long needed, std::vector<Limit>& all) {
  std::string path = "/proc/sys/" + name;
  for (char& letter : path) {
    if (letter == '.') letter = '/';
  }
  const std::optional<long> value = read_number(path);
  if (value && needed > *value)
    all.push_back({name, *value, needed, fmt::format("sysctl -w {}={}", name, needed * 2)});
}

void check_descriptors(const Needs& needs, std::vector<Limit>& all) {
  rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= static_cast<rlim_t>(needs.descriptors))
    return;
  if (limit.rlim_max >= static_cast<rlim_t>(needs.descriptors)) {
    limit.rlim_cur = static_cast<rlim_t>(needs.descriptors);
    if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  }
  all.push_back({"RLIMIT_NOFILE (ulimit -n)", static_cast<long>(limit.rlim_max), needs.descriptors,
                 fmt::format("ulimit -n {}, or nofile in /etc/security/limits.conf", needs.descriptors)});
}

}  // namespace

std::vector<Limit> exceeded(const Needs& needs) {
  std::vector<Limit> all;
  check_sysctl("vm.max_map_count", needs.mappings, all);
  check_user(needs, all);
  check_pids_groups(needs, all);
  check_sysctl("kernel.threads-max", needs.tasks, all);
  check_sysctl("kernel.pid_max", needs.tasks, all);
  check_descriptors(needs, all);
  return all;
}

base::Status check_limits(const Needs& needs, int ranks) {
  const std::vector<Limit> all = exceeded(needs);
  if (all.empty()) return {};
  std::string text = fmt::format("{} ranks are more than this system allows:", ranks);
  for (const Limit& limit : all) {
    text += fmt::format("\n  {} is {}, at least {} needed; raise it with: {}", limit.name, limit.value,
                        limit.needed, limit.how);
  }
  return base::fail_with_text(MPI_ERR_SPAWN, std::move(text));
}

}  // namespace clump::tools
