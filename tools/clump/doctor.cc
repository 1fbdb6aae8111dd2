#include <sched.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "commands.h"
#include "common/limits.h"
#include "common/places.h"

namespace clump::tools {

namespace {

/// Prints one finding a line; remembers whether one was bad.
class Findings {
 public:
  void good(const std::string& text) { fmt::print("ok       {}\n", text); }
  void note(const std::string& text) { fmt::print("note     {}\n", text); }
  void bad(const std::string& text) {
    fmt::print("PROBLEM  {}\n", text);
    healthy_ = false;
  }
  int exit_code() const { return healthy_ ? 0 : 1; }

 private:
  bool healthy_ = true;
};

void check_libraries(Findings& findings) {
  for (const char* name : {"libclump_host.so", "libmpi_abi.so.1"}) {
    const std::string path = own_library(name);
    path.empty() ? findings.bad(fmt::format("{} is not in ../lib beside this tool", name))
                 : findings.good(path);
  }
}

/// A job of this size should start anywhere.
void check_job_size(Findings& findings, int ranks) {
  const std::vector<Limit> limits =
      exceeded({.tasks = ranks, .mappings = 10L * ranks, .descriptors = 4L * ranks + 32});
  for (const Limit& limit : limits) {
    findings.bad(fmt::format("{} ranks: {} is {}, at least {} needed; raise it with: {}", ranks, limit.name,
                             limit.value, limit.needed, limit.how));
  }
  if (limits.empty()) findings.good(fmt::format("the limits allow a job of {} ranks", ranks));
}

void check_cores(Findings& findings) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  if (::sched_getaffinity(0, sizeof mine, &mine) != 0) return;
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  const int usable = CPU_COUNT(&mine);
  const std::string text = fmt::format("{} of {} cores are usable", usable, online);
  usable < online ? findings.note(text + " (affinity of this shell, or a cpuset)") : findings.good(text);
}

void check_stack(Findings& findings) {
  rlimit limit;
  if (::getrlimit(RLIMIT_STACK, &limit) != 0) return;
  if (limit.rlim_cur == RLIM_INFINITY) {
    findings.note("ulimit -s is unlimited: ranks get 8 MiB of stack each");
  } else {
    findings.good(fmt::format("each rank gets {} KiB of stack (ulimit -s)", limit.rlim_cur >> 10));
  }
}

void check_address_space(Findings& findings) {
  rlimit limit;
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    findings.note(fmt::format("ulimit -v is {} KiB for all ranks of a job together", limit.rlim_cur >> 10));
  }
  std::ifstream file("/proc/sys/vm/overcommit_memory");
  int mode = 0;
  if (file >> mode && mode == 2) {
    findings.note("vm.overcommit_memory is 2: the stacks of all ranks count against the commit limit");
  }
}

void check_processor(Findings& findings) {
#if defined(__x86_64__)
  constexpr unsigned long kFsgsbase = 1 << 1;  // HWCAP2_FSGSBASE
  if ((::getauxval(AT_HWCAP2) & kFsgsbase) != 0) {
    findings.good("FSGSBASE: a rank's thread-local storage can be switched without a system call");
  } else {
    findings.note("no FSGSBASE (Linux before 5.9, or an old processor)");
  }
#endif
}

void check_environment(Findings& findings) {
  if (const char* preload = std::getenv("LD_PRELOAD"); preload != nullptr && *preload != '\0') {
    findings.note(fmt::format("LD_PRELOAD is set ({}): every rank will have it", preload));
  }
}

}  // namespace

int show_health() {
  Findings findings;
  check_libraries(findings);
  check_job_size(findings, 256);
  check_cores(findings);
  check_stack(findings);
  check_address_space(findings);
  check_processor(findings);
  check_environment(findings);
  return findings.exit_code();
}

}  // namespace clump::tools
