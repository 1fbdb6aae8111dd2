#include "common/control_groups.h"

#include <fstream>

namespace clump::tools {

namespace {

/// Where the hierarchy of a line of /proc/self/cgroup is mounted, if it has `controller`. Version 2 has an
/// empty list of controllers, and all of them.
std::string mount_point(const std::string& controllers, const std::string& controller) {
  if (controllers.empty()) {
    const bool hybrid = !std::ifstream("/sys/fs/cgroup/cgroup.procs").is_open();
    return hybrid ? "/sys/fs/cgroup/unified" : "/sys/fs/cgroup";
  }
  const std::string list = "," + controllers + ",";
  if (list.find("," + controller + ",") == std::string::npos) return {};
  return "/sys/fs/cgroup/" + controllers;
}

std::optional<double> quota_of(const std::string& group) {
  double quota = 0, period = 0;
  std::ifstream unified(group + "/cpu.max");  // "150000 100000", or "max 100000"
  if (!(unified >> quota >> period)) {
    quota = static_cast<double>(read_number(group + "/cpu.cfs_quota_us").value_or(-1));  // -1: none
    period = static_cast<double>(read_number(group + "/cpu.cfs_period_us").value_or(0));
  }
  if (quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

}  // namespace

std::vector<std::string> control_groups(const std::string& controller) {
  std::vector<std::string> groups;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string root = mount_point(line.substr(first + 1, second - first - 1), controller);
    if (root.empty()) continue;
    for (std::string path = line.substr(second + 1); !path.empty() && path != "/";
         path = path.substr(0, path.rfind('/'))) {
      groups.push_back(root + path);
    }
    groups.push_back(root);
  }
  return groups;
}

std::optional<long> read_number(const std::string& path) {
  std::ifstream file(path);
  long value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

std::optional<Quota> tightest_quota(const std::vector<std::string>& groups) {
  std::optional<Quota> tightest;
  for (const std::string& group : groups) {
    if (const std::optional<double> cores = quota_of(group);
        cores && (!tightest || *cores < tightest->cores)) {
      tightest = {*cores, group};
    }
  }
  return tightest;
}

}  // namespace clump::tools
