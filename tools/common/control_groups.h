// The control groups that this process is in (cgroups, both versions), and what they allow.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace clump::tools {

/// The directories of this process's groups that `controller` ("pids", "cpu") may limit, from its own up to
/// the root. Reads /proc/self/cgroup; a directory need not exist.
std::vector<std::string> control_groups(const std::string& controller);

/// The first number in a file; nothing if it is missing or says "max".
std::optional<long> read_number(const std::string& path);

/// Processor time that a group may use, in cores: 1.5 is 150 ms in 100 ms.
struct Quota {
  double cores = 0;
  std::string group;  ///< whose cpu.max or cpu.cfs_quota_us says so
};

/// The tightest quota of `groups`; nothing if there is none.
std::optional<Quota> tightest_quota(const std::vector<std::string>& groups);

}  // namespace clump::tools
