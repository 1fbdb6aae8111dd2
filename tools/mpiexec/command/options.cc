#include "command/options.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "command/batch_hosts.h"
#include "command/exit_codes.h"
#include "command/parser.h"
#include "common/terminal.h"
#include "pmi/rank_variables.h"

namespace clump::mpiexec {

namespace {

constexpr int kHangAfterOfExplored = 10;  // seconds

/// The rank that reads standard input by --stdin has to be there.
base::Status check_input(const Command& command) {
  int ranks = 0;  // count_ranks() knows that they are not too many
  for (const Part& part : command.parts) ranks += part.ranks;
  if (command.input > 0 && ranks > 0 && command.input >= ranks)
    return base::fail(MPI_ERR_ARG, "--stdin {}: the job has {} ranks, 0 to {}", command.input, ranks,
                      ranks - 1);
  return {};
}

bool has_one_list(const Command& command) {
  return std::ranges::count_if(command.parts, [](const Part& one) { return !one.hosts.is_empty(); }) < 2;
}

/// Those that the part names if another part names some, too, or else all that are named.
HostRange hosts_of(const Command& command, const Part& part) {
  if (has_one_list(command) || part.hosts.is_empty()) return kAllHosts;
  return part.hosts;
}

/// Where -n does not say how many ranks there are, so many on each host does, or the slots of the hosts.
base::Status count_ranks(Command& command) {
  std::int64_t all = 0;
  const auto add = [&all](std::int64_t ranks) {
    all += ranks;
    return all <= kMaxRanks ? base::Status()
                            : base::fail(MPI_ERR_ARG, "{} ranks in all are too many: a job has at most {}",
                                         all, kMaxRanks);
  };
  for (Part& part : command.parts) {
    if (part.says_ranks()) CLUMP_TRY(add(part.ranks));
    if (part.says_ranks() || part.words.empty()) continue;
    if (!command.needs_ranks.empty())
      return base::fail(MPI_ERR_ARG, "{}: says here nothing about the number of ranks: give it by -n",
                        command.needs_ranks);
    std::int64_t ranks = part.ranks;
    if (command.per_host > 0 && command.parts.size() == 1)
      ranks = std::int64_t{command.per_host} * std::max(std::ssize(command.hosts), std::ptrdiff_t{1});
    else if (!command.hosts.empty() && command.per_host == 0)
      ranks = slots_of(command.hosts, hosts_of(command, part));
    CLUMP_TRY(add(ranks));
    part.ranks = static_cast<int>(ranks);
  }
  return {};
}

/// Where the command line names none: those of a batch system, which is named or in whose job this is, or of
/// a file that a variable names. What a variable says about no job, or no file, does no harm to a job of this
/// host.
base::Status find_hosts(Command& command) {
  if (command.proxy || std::getenv(pmi::kParentPortVariable) != nullptr) return {};  // they are known
  const bool is_asked = command.batch_system.is_set();
  if (is_asked) CLUMP_TRY(check_batch_system(command.batch_system));
  const tools::Wish name = tools::first_set(command.batch_system, {"CLUMP_RMK", "HYDRA_RMK"});
  const bool is_alone = tools::with_variables(command.launcher).name.value == "fork";
  const BatchSystem* const system = name.is_set() ? find_batch_system(name.value)
                                    : is_alone    ? nullptr
                                                  : own_batch_system();
  std::vector<Host> given = system != nullptr ? batch_hosts(*system) : std::vector<Host>{};
  if (!given.empty()) command.launcher.usual = system->launcher;
  if (is_asked && given.empty() && system != nullptr)
    command.ignored.emplace_back("option " + name.text(), fmt::format("{} names no hosts", system->variable));
  if (!command.hosts.empty()) return {};
  const tools::Wish file = tools::first_set({}, {"CLUMP_HOST_FILE", "HYDRA_HOST_FILE"});
  if (file.is_set() && !(is_asked && !given.empty())) {
    std::vector<std::string> without_meaning;
    const base::Status read = read_hostfile(file.from, file.value, command.hosts, without_meaning);
    if (!read.ok()) {
      command.hosts.clear();
      command.ignored.emplace_back(file.from, base::message_of(read.code()));
    }
  }
  if (!command.hosts.empty()) {
    command.hosts_from = file.text();
    return {};
  }
  if (given.empty()) return {};
  command.hosts = std::move(given);
  command.allocation = system->variable;
  return {};
}

}  // namespace

base::Status parse(const std::vector<std::string>& words, Command& command) {
  CLUMP_TRY(tools::default_ranks(command.as_asked));
  CLUMP_TRY(Parser(words, command).run());
  if (!command.help && !command.version) CLUMP_TRY(find_hosts(command));
  CLUMP_TRY(count_ranks(command));
  if (command.as_asked.as == tools::Ranks::As::kProcesses && command.as_asked.per_process > 1)
    return base::fail(
        MPI_ERR_ARG,
        "--per-process {} with --ranks processes: such a process is one rank; use --ranks fibers",
        command.as_asked.per_process);
  CLUMP_TRY(check_input(command));
  const bool has_files = command.output_files != decltype(command.output_files){};
  if (command.collapse && !command.line_prefix.empty() && command.line_prefix != kRankTag)
    return base::fail(MPI_ERR_ARG,
                      "--collapse: shows ranks as \"[0-3] \" in front of lines, and no '{}': leave one out",
                      command.line_prefix);
  if (command.tee && !has_files)
    return base::fail(MPI_ERR_ARG, "--tee: shows what goes to files; name a folder for them by --output-dir");
  const char* const of_one_run = command.profile ? "--profile"
                                 : command.trace ? "--trace"
                                 : command.gdb   ? "--gdb"
                                 : has_files     ? "files for the output"
                                                 : nullptr;
  if (command.explore > 0 && of_one_run != nullptr)
    return base::fail(
        MPI_ERR_ARG,
        "--explore {} with {}: which of the runs? Leave one of them out, and ask for it together "
        "with the --seed of the run that is found",
        command.explore, of_one_run);
  if (command.explore > 0 && !command.seed) command.seed = 1;
  // One of them may poll for ever.
  if (command.explore > 0 && command.timeout_seconds == 0 && command.hang_after_seconds == 0)
    command.hang_after_seconds = kHangAfterOfExplored;
  return {};
}

std::vector<RanksOnHosts> ranks_on_hosts(const Command& command) {
  std::vector<RanksOnHosts> found;
  for (const Part& part : command.parts) {
    if (has_one_list(command) && !found.empty())
      found.front().ranks += part.ranks;
    else
      found.push_back({part.ranks, hosts_of(command, part)});
  }
  return found;
}

tools::Wish interface_of(const Command& command) {
  return tools::first_set(command.interface, {"CLUMP_IFACE", "HYDRA_IFACE"});
}

std::string help_text(std::size_t columns) {
  std::string text =
      "mpiexec starts an MPI program.\n\n"
      "  mpiexec [options] program [arguments] [: [options] program [arguments]]...\n\n"
      "Every option may be written with one dash or two; options end where the program begins.\n\n";
  std::string accepted;
  for (const Option& row : option_table()) {
    std::string names;
    for (const std::string_view name : row.names) {
      names += fmt::format("{}{}{}", names.empty() ? "" : ", ", name.size() > 2 ? "--" : "-", name);
    }
    if (is_accepted(row)) {
      accepted += (accepted.empty() ? "" : ", ") + names;
    } else if (!is_hidden(row)) {
      if (!row.metavar.empty()) names += fmt::format("{}{}", row.may_have_value ? "" : " ", row.metavar);
      text += names.size() < 28 ? fmt::format("  {:<28}{}\n", names, row.text)
                                : fmt::format("  {}\n  {:<28}{}\n", names, "", row.text);
    }
  }
  text += "\nOptions of other launchers that are accepted and change nothing:\n";
  const std::size_t room = columns - 2;
  for (std::size_t from = 0; from < accepted.size();) {
    std::size_t to = accepted.size() - from <= room ? accepted.size() : accepted.rfind(' ', from + room);
    if (to == std::string::npos || to <= from)
      to = std::min(accepted.find(' ', from), accepted.size());  // a word that is longer
    text += "  " + accepted.substr(from, to - from) + "\n";
    from = to + 1;
  }
  text += fmt::format("\n{}\n\nExamples:\n", kExitCodes);
  for (const char* const example : {"mpiexec -n 16 ./a.out", "mpiexec -n 2 ./ocean : -n 4 ./atmosphere",
                                    "mpiexec --host a,b -n 64 ./a.out", "mpiexec --explain -n 4 ./a.out"})
    text += fmt::format("  {}\n", example);
  return tools::fit(text, columns, 0);
}

}  // namespace clump::mpiexec
