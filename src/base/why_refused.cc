#include "base/why_refused.h"

#include <fmt/format.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

namespace clump::base {

namespace {

struct LimitName {
  int resource;
  std::string_view name, letter, unit;
  rlim_t bytes_in_unit;   ///< 1 where it is no size
  std::string_view item;  ///< in /etc/security/limits.conf
};

constexpr LimitName kAddressSpace{RLIMIT_AS, "RLIMIT_AS", "v", " KiB", 1024, "as"};
constexpr LimitName kData{RLIMIT_DATA, "RLIMIT_DATA", "d", " KiB", 1024, "data"};
constexpr LimitName kFileSize{RLIMIT_FSIZE, "RLIMIT_FSIZE", "f", " bytes", 1, "fsize"};
constexpr LimitName kFiles{RLIMIT_NOFILE, "RLIMIT_NOFILE", "n", "", 1, "nofile"};
constexpr LimitName kTasks{RLIMIT_NPROC, "RLIMIT_NPROC", "u", "", 1, "nproc"};

/// Sentences with "; " in between.
class Reasons {
 public:
  void add(std::string reason) { text_.append(text_.empty() ? "" : "; ").append(reason); }

  /// Nothing if it sets no limit.
  void add(const LimitName& one) {
    rlimit limit{};
    if (::getrlimit(static_cast<__rlimit_resource>(one.resource), &limit) != 0) return;
    if (limit.rlim_cur == RLIM_INFINITY) return;
    const bool may_raise = limit.rlim_max > limit.rlim_cur || ::geteuid() == 0;
    std::string how = fmt::format("raise it with ulimit -{} {}", one.letter,
                                  one.resource == RLIMIT_NOFILE ? "4096" : "unlimited");
    if (!may_raise)
      how += fmt::format(", as root or by '{}' in /etc/security/limits.conf: it is the hard limit, too",
                         one.item);
    add(fmt::format("{} (ulimit -{}) is {}{}; {}", one.name, one.letter, limit.rlim_cur / one.bytes_in_unit,
                    one.unit, how));
  }

  bool empty() const { return text_.empty(); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::optional<long> number_in(const std::string& path) {
  std::ifstream file(path);
  long number = 0;
  if (file >> number) return number;
  return {};
}

/// The numbers that limit a control group and those above it, of a controller that has them in `file`.
void add_groups(const std::string& file, std::string_view how, Reasons& reasons) {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::/")) continue;
    for (std::string group = line.substr(3);; group.erase(group.rfind('/'))) {
      if (group == "/") group.clear();
      const std::string path = fmt::format("/sys/fs/cgroup{}/{}", group, file);
      if (const std::optional<long> most = number_in(path))
        reasons.add(fmt::format("{} is {}; raise it with {}", path, *most, how));
      if (group.empty()) return;
    }
  }
}

void add_system_wide(std::string_view name, Reasons& reasons) {
  std::string path = fmt::format("/proc/sys/{}", name);
  if (const std::optional<long> value = number_in(path)) {
    for (char& letter : path) letter = letter == '/' ? '.' : letter;
    const std::string dotted = path.substr(std::strlen("/proc/sys/"));
    reasons.add(fmt::format("{} is {}; raise it with sysctl -w {}={}", dotted, *value, dotted, *value * 4));
  }
}

void add_memory(Reasons& reasons) {
  reasons.add(kAddressSpace);
  reasons.add(kData);
  if (number_in("/proc/sys/vm/overcommit_memory") == 2)
    reasons.add("vm.overcommit_memory is 2; allow more with sysctl -w vm.overcommit_memory=0");
  if (!reasons.empty()) return;
  add_groups("memory.max", "docker run --memory, systemd MemoryMax=", reasons);
  add_system_wide("vm/max_map_count", reasons);
}

void add_tasks(Reasons& reasons) {
  if (::geteuid() != 0) reasons.add(kTasks);  // the kernel does not hold root to it
  add_groups("pids.max", "docker run --pids-limit, systemd TasksMax=", reasons);
  reasons.add(kAddressSpace);  // the C library says so, too, where there is none for a thread's stack
  if (reasons.empty()) add_system_wide("kernel/threads-max", reasons);
}

/// The kernel, or what stands before it, does not do this at all.
void add_forbidden(std::string_view call, int error, Reasons& reasons) {
  if (has_call_filter() && call == "pthread_create") {
    reasons.add(
        "a filter of system calls (seccomp) is in force here; let it answer clone3 with ENOSYS, and the C "
        "library does without");
  } else if (has_call_filter()) {
    reasons.add(
        fmt::format("a filter of system calls (seccomp) is in force here; allow {} in the profile of the "
                    "container, or run it with --security-opt seccomp=unconfined",
                    call));
  } else if (error == ENOSYS) {
    utsname system{};
    reasons.add(::uname(&system) == 0 ? fmt::format("this kernel, Linux {}, does not have it", system.release)
                                      : "this kernel does not have it");
  }
}

}  // namespace

std::string limits_of_memory() {
  Reasons reasons;
  reasons.add(kAddressSpace);
  reasons.add(kData);
  return reasons.take();
}

bool has_call_filter() { return ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER; }

std::string why_refused(std::string_view call, int error) {
  Reasons reasons;
  switch (error) {
    case EMFILE:
      reasons.add(kFiles);
      break;
    case ENFILE:
      add_system_wide("fs/file-max", reasons);
      break;
    case EFBIG:
      reasons.add(kFileSize);
      break;
    case EAGAIN:
      add_tasks(reasons);
      break;
    case ENOMEM:
      add_memory(reasons);
      break;
    case ENOSYS:
    case EPERM:
    case EACCES:
      add_forbidden(call, error, reasons);
      break;
    default:
      break;
  }
  std::string text = fmt::format("{}: {}", call, std::strerror(error));
  if (!reasons.empty()) text.append(": ").append(reasons.take());
  return text;
}

}  // namespace clump::base
