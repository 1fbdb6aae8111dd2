#include "common/limits.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include "common/control_groups.h"

namespace clump::tools {

namespace {

void check_pids_groups(const Needs& needs, std::vector<Limit>& all) {
  for (const std::string& group : control_groups("pids")) {
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

/// `used` of it is gone.
void check_sysctl(const std::string& name, long needed, long used, std::vector<Limit>& all) {
  std::string path = "/proc/sys/" + name;
  for (char& letter : path) {
    if (letter == '.') letter = '/';
  }
  const std::optional<long> value = read_number(path);
  if (value && needed > *value - used) {
    const std::string text = used == 0 ? name : fmt::format("{} ({}, less {} in use)", name, *value, used);
    all.push_back({text, *value - used, needed, fmt::format("sysctl -w {}={}", name, (needed + used) * 2)});
  }
}

/// Threads and processes of all users: the fourth word of /proc/loadavg is "running/all".
long tasks_in_use() {
  std::ifstream file("/proc/loadavg");
  std::string word;
  for (int skipped = 0; skipped < 4; ++skipped) file >> word;
  const std::size_t slash = word.find('/');
  return slash == std::string::npos ? 0 : std::atol(word.c_str() + slash + 1);
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

/// What ulimit -s says; where it says nothing, the least that ranks make do with (host/stacks.cc).
long stack_of_rank() {
  constexpr long kDefault = 8 << 10;
  rlimit limit;
  const bool is_limited = ::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return is_limited ? static_cast<long>(limit.rlim_cur >> 10) : kDefault;
}

void check_address_space(const Needs& needs, std::vector<Limit>& all) {
  rlimit limit;
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const auto most = static_cast<long>(limit.rlim_cur >> 10);
  if (needs.stacks > most)
    all.push_back({"RLIMIT_AS (ulimit -v)", most, needs.stacks,
                   "ulimit -v unlimited; or make the ranks' stacks smaller with ulimit -s"});
}

}  // namespace

Needs needs_of_host(long ranks, long workers, long private_objects) {
  // Counted in /proc/PID/maps of jobs of 64 to 4,000 ranks: two for each rank's stack and what lies below it,
  // two for each private object. A worker has a worker thread and, as soon as a fiber blocks, a second one,
  // each with a stack, a guard, a signal stack and a heap; one monitor.
  Needs needs;
  needs.tasks = ranks + (workers > 0 ? 2 * workers + 1 : 0);
  needs.mappings = ranks * (2 + 2 * private_objects) + 12 * workers + 80;
  needs.stacks = ranks * stack_of_rank();
  return needs;
}

std::vector<Limit> exceeded(const Needs& needs) {
  std::vector<Limit> all;
  check_sysctl("vm.max_map_count", needs.mappings, 0, all);
  check_user(needs, all);
  check_pids_groups(needs, all);
  const long used = tasks_in_use();
  check_sysctl("kernel.threads-max", needs.tasks, used, all);
  check_sysctl("kernel.pid_max", needs.tasks, used, all);
  check_descriptors(needs, all);
  check_address_space(needs, all);
  return all;
}

base::Status check_stack() {
  constexpr rlim_t kLeast = 128 << 10;
  rlimit limit;
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kLeast) return {};
  return base::fail(MPI_ERR_SPAWN,
                    "RLIMIT_STACK (ulimit -s) is {} KiB, at least {} needed; raise it with: ulimit -s 8192",
                    limit.rlim_cur >> 10, kLeast >> 10);
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
