#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "commands.h"
#include "common/cores.h"
#include "common/limits.h"
#include "common/output.h"
#include "common/path_list.h"
#include "common/places.h"
#include "common/slurm_job.h"
#include "common/system.h"
#include "trials.h"

namespace clump::tools {

namespace {

/// Prints one finding a line; remembers whether one was bad.
class Findings {
 public:
  void good(const std::string& text) { print_out("ok       {}\n", text); }
  void note(const std::string& text) { print_out("note     {}\n", text); }
  void bad(const std::string& text) {
    print_out("PROBLEM  {}\n", text);
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

/// The commands that a shell takes from PATH are those beside this tool. Where another MPI library comes
/// first, programs are compiled for it, and its mpiexec starts each of ours as a job of one rank.
void check_path(Findings& findings) {
  std::string others, missing;
  for (const char* name : {"mpicc", "mpicxx", "mpifort", "mpiexec", "mpirun"}) {
    const std::string own = own_program(name);
    if (!is_file(own)) continue;
    std::string found;
    if (!find_program(name, current_directory(), found).ok()) {
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
      continue;
    }
    std::error_code ignored;
    if (std::filesystem::equivalent(found, own, ignored)) continue;
    others += fmt::format("{}{}", others.empty() ? "" : ", ", found);
  }
  const std::string folder = own_prefix() + "/bin";
  if (others.empty() && missing.empty())
    return findings.good(fmt::format("mpicc, mpiexec and their like in PATH are those of {}", folder));
  const std::string cure = prepend_in_shell("PATH", folder);
  if (!others.empty())
    findings.note(fmt::format(
        "PATH has another MPI library first ({}): call Clump's by its path, or: export {}", others, cure));
  if (!missing.empty()) findings.note(fmt::format("not in PATH: {}; export {}", missing, cure));
}

/// A job of 256 ranks should start anywhere.
void check_job_size(Findings& findings) {
  constexpr long kObjects = 2;  // of a C++ program: itself and its C++ library
  const long workers = static_cast<long>(allowed_processors().size());
  long possible = 0;
  for (const long ranks : {256, 1000, 4000, 16000}) {
    const std::vector<Limit> limits = exceeded(needs_of_host(ranks, workers, kObjects));
    if (limits.empty()) {
      possible = ranks;
      continue;
    }
    const Limit& first = limits.front();
    const std::string text =
        fmt::format("{} ranks of a C++ program: {} is {}, at least {} needed; raise it with: {}", ranks,
                    first.name, first.value, first.needed, first.how);
    ranks <= 1000 ? findings.bad(text) : findings.note(text);
    break;
  }
  if (possible > 0)
    findings.good(fmt::format("the limits allow a job of {} ranks of a C++ program", possible));
}

void check_cores(Findings& findings) {
  UsableCores cores;
  if (!find_cores({}, cores).ok()) return;
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  const auto allowed = static_cast<long>(allowed_processors().size());
  const std::string text = fmt::format("{} of {} processors are usable", allowed, online);
  allowed < online ? findings.note(text + " (affinity of this shell, or a cpuset)") : findings.good(text);
  if (const auto different = static_cast<long>(cores.all.size()); different < allowed) {
    findings.note(fmt::format(
        "they are the hardware threads of {} cores: a job has a worker for each core (--use-hwthread-cpus)",
        different));
  }
  if (cores.quota) {
    findings.note(
        fmt::format("cpu.max of {} pays for {:.3g} cores: a job has {} workers there, and all of them stop "
                    "when it is used up",
                    cores.quota->group, cores.quota->cores, cores.most));
  }
}

void check_virtual_machine(Findings& findings) {
  const double stolen = stolen_time();
  if (stolen > 0.01) {
    findings.note(
        fmt::format("{:.1f} % of the time other virtual machines ran on these processors: waiting "
                    "ranks, which spin briefly, wait longer",
                    stolen * 100));
  }
}

void check_stack(Findings& findings) {
  rlimit limit;
  if (::getrlimit(RLIMIT_STACK, &limit) != 0) return;
  if (const base::Status enough = tools::check_stack(); !enough.ok())
    return findings.bad(base::message_of(enough.code()));
  if (limit.rlim_cur == RLIM_INFINITY) {
    findings.good(
        "ulimit -s is unlimited: ranks get 64 GiB of address space for stack each, or what there is");
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

void check_scheduler(Findings& findings) {
  if (has_cheap_switches()) {
    findings.good("FSGSBASE: ranks as fibers are switched without a system call");
  } else {
    findings.note("no FSGSBASE (Linux before 5.9, or an old processor): each switch costs a system call");
  }
  if (has_membarrier()) {
    findings.good("membarrier: a worker whose rank blocks can be handed on");
  }
}

void check_environment(Findings& findings) {
  if (const char* preload = std::getenv("LD_PRELOAD"); preload != nullptr && *preload != '\0') {
    findings.note(fmt::format("LD_PRELOAD is set ({}): every rank will have it", preload));
  }
}

/// Where mpiexec would run, which this host's findings say nothing about.
void check_allocation(Findings& findings) {
  std::string hosts;
  for (const SlurmComponent& component : slurm_components())
    for (std::size_t i = 0; i < component.names.size(); ++i)
      hosts += fmt::format("{}{}{}", hosts.empty() ? "" : ",", component.names[i],
                           i < component.slots.size() ? fmt::format(":{}", component.slots[i]) : "");
  if (!hosts.empty())
    findings.note(
        fmt::format("in a job of Slurm mpiexec runs on its hosts and slots, {}; to try whether it reaches "
                    "them, and what is there: clump doctor --rmk slurm",
                    hosts));
}

}  // namespace

int show_health() {
  Findings findings;
  const bool is_usable = show_trials();
  check_libraries(findings);
  check_path(findings);
  check_job_size(findings);
  check_cores(findings);
  check_stack(findings);
  check_address_space(findings);
  check_scheduler(findings);
  check_virtual_machine(findings);
  check_environment(findings);
  check_allocation(findings);
  return is_usable ? findings.exit_code() : 1;
}

}  // namespace clump::tools
