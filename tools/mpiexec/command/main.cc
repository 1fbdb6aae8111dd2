// mpiexec: reads the command line, plans, runs.
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/places_here.h"
#include "cluster/proxy.h"
#include "command/host_names.h"
#include "command/options.h"
#include "common/host_trial.h"
#include "common/limits.h"
#include "common/output.h"
#include "common/terminal.h"
#include "gdb/gdb.h"
#include "job/explore.h"
#include "job/run.h"
#include "plan/map.h"
#include "plan/plan.h"

namespace clump::mpiexec {
namespace {

int fail(const base::Status& status, int exit_code) {
  tools::print_error("mpiexec: {}\n", base::message_of(status.code()));
  return exit_code;
}

/// A user of Open MPI expects a rank for each core.
bool says_no_number(const Command& command) {
  const bool is_said = std::ranges::any_of(command.parts, [](const Part& part) { return part.says_ranks(); });
  return !is_said && command.per_host == 0 && command.hosts.empty() && !command.parts.front().words.empty();
}

std::string exit_codes(int ranks, int code) {
  if (code == 0) return ranks == 1 ? "0: 0" : fmt::format("0-{}: 0", ranks - 1);
  return fmt::format("{} (of the first rank that failed, if one did); the other ranks were ended",
                     code & 0xff);
}

/// --nooversubscribe, where the user says how many slots there are: cores do not count.
base::Status count_slots(Command& command) {
  if (!command.enough_cores || !have_slots(command.hosts)) return {};
  command.enough_cores = false;
  std::vector<int> host_of;
  CLUMP_TRY(divide(command.hosts, command.per_host, ranks_on_hosts(command), command.map_by, host_of));
  return check_slots(command.hosts, host_of);
}

int mpiexec(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == kCarry) return carry(std::atoi(words[1].c_str()));
  if (!words.empty() && words[0] == kProxy) return run_proxy(words);
  if (!words.empty() && words[0] == tools::kTryHost) return tools::try_host({words.begin() + 1, words.end()});
  Command command;
  if (const base::Status status = parse(words, command); !status.ok()) return fail(status, kExitUsage);
  if (command.help) {
    tools::print_out("{}", help_text(tools::columns(STDOUT_FILENO)));
    return 0;
  }
  if (command.version) {
    tools::print_out("mpiexec (Clump) {}\n", CLUMP_VERSION);
    return 0;
  }
  if (const base::Status status = tools::check_stack(); !status.ok()) return fail(status, kExitCannotRun);
  for (const auto& [option, why] : command.ignored) {
    if (!command.quiet) tools::print_error("mpiexec: {} is ignored: {}\n", option, why);
  }
  if (!command.quiet && says_no_number(command))
    tools::print_error("mpiexec: one rank{}: -n says how many\n",
                       command.parts.size() > 1 ? " a program" : "");
  merge_names(command.hosts);
  int ranks = 0;
  for (const Part& part : command.parts) ranks += part.ranks;
  if (const base::Status status = count_slots(command); !status.ok()) return fail(status, kExitUsage);
  keep_used(command.hosts, command.per_host, ranks_on_hosts(command), command.map_by);
  if (!needs_other_hosts(command)) command.hosts.clear();
  Plan plan;
  int exit_code = kExitCannotRun;
  if (const base::Status status = make_plan(command, plan, exit_code); !status.ok())
    return fail(status, exit_code);
  for (const std::string& warning : plan.warnings) tools::print_error("mpiexec: {}\n", warning);
  if (command.explain) tools::print_error("mpiexec: {}\n", plan.explanation);
  if (command.explain && !plan.allocator.note.empty())
    tools::print_error("mpiexec: {}\n", plan.allocator.note);
  if (command.explain && !plan.rules_note.empty()) tools::print_error("mpiexec: {}\n", plan.rules_note);
  if (command.explore > 0) return explore(command, plan);
  Records records;
  if (const base::Status status = records.prepare(command, plan.job); !status.ok())
    return fail(status, kExitCannotRun);
  // Jobs that ranks spawn end with them: they wait for these at their own end, unless they are killed.
  if (!plan.job.parent_port.empty()) ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  const auto told = [&](int code) {
    if (command.all_exit_codes) tools::print_error("mpiexec: exit codes: {}\n", exit_codes(ranks, code));
    return code;
  };
  if (!command.hosts.empty()) {
    const base::Status ran = run_on_hosts(command, plan, records, exit_code);
    if (!ran.ok()) exit_code = fail(ran, kExitCannotRun);
    if (exit_code == kExitCannotRun && !command.allocation.empty())
      tools::print_error(
          "mpiexec: the hosts are those of {}; --host localhost or -rmk none: this host only\n",
          command.allocation);
    return told(exit_code);
  }
  // Then jobs of other hosts can connect. A job of one host runs without the interface, too.
  if (command.interface.is_set())
    static_cast<void>(
        find_own_address(plan.job, {.interface = command.interface}, plan.job.network.interface));
  if (command.map) {
    const bool alone = command.parts.front().words.empty();
    if (alone) {
      tools::print_out("{}", map_text(plan));
      return 0;
    }
    tools::print_error("{}", map_text(plan));
  }
  return told(run(command, plan, records));
}

}  // namespace
}  // namespace clump::mpiexec

int main(int argc, char** argv) {
  return clump::tools::run_tool("mpiexec", [&] { return clump::mpiexec::mpiexec({argv + 1, argv + argc}); });
}
