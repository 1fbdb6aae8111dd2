#include "common/launchers.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string_view>

#include "common/places.h"
#include "common/reach.h"
#include "common/slurm_job.h"

namespace clump::tools {

/// How a launcher takes the command for the other host.
enum class Way {
  kLine,    ///< one word, for a shell there
  kWords,   ///< as it is
  kHere,    ///< it starts processes on this host only
  kTask,    ///< as it is; its standard input and output do not lead to the other host
  kByHand,  ///< the user types it there
};

struct LauncherRow {
  std::string_view name, program;
  /// %h is the host, %n its place in the list of PBS, %c names its component of a heterogeneous job of Slurm.
  std::vector<std::string_view> words;
  Way way = Way::kLine;
  bool asks_user = false;
  std::span<const char* const> without = {};  ///< variables that its program does not see
};

namespace {

constexpr std::string_view kUsualProgram = "ssh : rsh";
/// No windows, no terminal there, and no minutes for a host that does not answer: for a program of this name.
constexpr std::string_view kOfSsh[] = {"-x", "-T", "-o", "ConnectTimeout=30"};

/// Options of srun that users, or sbatch, set for steps of their own: with them a proxy's output is labelled
/// or goes to a file, its step is on another host, or has the cores and GPUs of one task. --overlap, --nodes
/// and the others that are given count more than their variables.
constexpr const char* kOfOtherSteps[] = {"SLURM_LABELIO",
                                         "SLURM_STDINMODE",
                                         "SLURM_STDOUTMODE",
                                         "SLURM_STDERRMODE",
                                         "SRUN_INPUT",
                                         "SRUN_OUTPUT",
                                         "SRUN_ERROR",
                                         "SLURM_EXACT",
                                         "SLURM_EXCLUSIVE",
                                         "SLURM_CPUS_PER_TASK",
                                         "SRUN_CPUS_PER_TASK",
                                         "SLURM_NTASKS_PER_NODE",
                                         "SLURM_NTASKS_PER_GPU",
                                         "SLURM_NTASKS_PER_TRES",
                                         "SLURM_GPUS_PER_TASK",
                                         "SLURM_TRES_PER_TASK",
                                         "SLURM_THREADS_PER_CORE",
                                         "SLURM_HINT",
                                         "SLURM_DISTRIBUTION",
                                         "SLURM_HOSTFILE",
                                         "SLURM_RESV_PORTS",
                                         "SLURM_MULTI_PROG"};

// slurm: a step for each host, beside others in the same allocation, with all cores of it.
// clang-format off
const LauncherRow kRows[] = {
    {"ssh", "ssh", {"%h"}, Way::kLine, true},
    {"rsh", "rsh", {"%h"}, Way::kLine, true},
    {"fork", "", {}, Way::kHere},
    {"slurm", "srun", {"--nodes=1", "--ntasks=1", "--nodelist=%h", "--overlap", "--cpu-bind=none", "--mpi=none", "%c"}, Way::kWords, false, kOfOtherSteps},
    {"sge", "qrsh", {"-inherit", "-V", "%h"}, Way::kLine},
    {"lsf", "blaunch", {"%h"}, Way::kLine},
    {"pbs", "pbsdsh", {"-n", "%n", "--"}, Way::kTask},
    {"manual", "", {}, Way::kByHand},
};
// clang-format on

const LauncherRow* find_row(std::string_view name) {
  const LauncherRow* const row = std::ranges::find(kRows, name, &LauncherRow::name);
  return row != std::end(kRows) ? row : nullptr;
}

/// For /bin/sh; $1 and $2 are where mpiexec may be. In PATH there may be that of another MPI. No single quote
/// and no '!' is in it: csh would read them.
constexpr const char* kFindAndRun =
    R"(a=$1; b=$2; shift 2; for m in "$a" "$b"; do test -x "$m" && exec "$m" "$@"; done; )"
    R"(p=$(command -v mpiexec) && )"
    R"(case $("$p" --version </dev/null 2>/dev/null) in *Clump*) exec "$p" "$@";; esac; )"
    R"(echo "${{a:+$a, }}$b: not found, and no mpiexec of Clump is in PATH" >&2; exit {})";
constexpr int kClumpNotFound = 99;
constexpr int kCannotRun = 126, kNotFound = 127;  // a shell's

constexpr const char* kPbsHosts = "PBS_NODEFILE";

/// Names in the list of PBS, which has a line for each slot; none: there is no list.
std::vector<std::string> pbs_hosts() {
  std::vector<std::string> names;
  const char* const path = std::getenv(kPbsHosts);
  std::ifstream file(path != nullptr && is_file(path) ? path : "");
  for (std::string name; file >> name;) names.push_back(name);
  return names;
}

bool is_variable(const Wish& wish) { return !wish.from.empty() && wish.from[0] != '-'; }

/// A short name and a long one of the same host are equal.
bool are_equal(const std::string& one, const std::string& other) {
  const std::size_t length = std::min(one.size(), other.size());
  if (one.compare(0, length, other, 0, length) != 0) return false;
  return one.size() == other.size() || (one.size() > length ? one : other)[length] == '.';
}

/// Where pbsdsh finds the host; the size of the list: it does not.
std::size_t place_of(const std::string& host, const std::vector<std::string>& list) {
  const auto found =
      std::ranges::find_if(list, [&](const std::string& name) { return are_equal(name, host); });
  return static_cast<std::size_t>(found - list.begin());
}

/// Without it srun begins a step on the first component. Empty: the job has one, or none has the host.
std::string option_of_component(const std::string& host) {
  const std::vector<SlurmComponent> all = slurm_components();
  for (std::size_t i = 0; all.size() > 1 && i < all.size(); ++i)
    if (place_of(host, all[i].names) < all[i].names.size()) return fmt::format("--het-group={}", i);
  return {};
}

}  // namespace

LauncherChoice with_variables(LauncherChoice choice) {
  choice.name = first_set(choice.name, {"CLUMP_LAUNCHER", "HYDRA_LAUNCHER", "HYDRA_BOOTSTRAP"});
  if (!choice.name.is_set()) choice.name.value = choice.usual;
  choice.program =
      first_set(choice.program, {"CLUMP_LAUNCHER_EXEC", "HYDRA_LAUNCHER_EXEC", "HYDRA_BOOTSTRAP_EXEC"});
  const std::string& name = choice.name.value;
  if (name.empty() || name == "ssh" || name == "rsh")
    choice.program = first_set(choice.program, {"PRTE_MCA_plm_ssh_agent", "PRTE_MCA_plm_rsh_agent",
                                                "OMPI_MCA_plm_ssh_agent", "OMPI_MCA_plm_rsh_agent"});
  return choice;
}

base::Status check_launcher(const Wish& name) {
  if (find_row(name.value) != nullptr) return {};
  std::string all;
  for (const LauncherRow& row : kRows) all += fmt::format("{}{}", all.empty() ? "" : ", ", row.name);
  return base::fail(MPI_ERR_ARG, "{}: there is no such launcher; there are {}", name.text(), all);
}

base::Status Launcher::find(const LauncherChoice& choice) {
  if (choice.name.is_set()) CLUMP_TRY(check_launcher(choice.name));
  row_ = choice.name.is_set() ? find_row(choice.name.value) : &kRows[0];
  prefix_ = choice.prefix;
  if (row_->way == Way::kHere)
    return base::fail(MPI_ERR_ARG, "{}: starts processes on this host only, and the job has others",
                      choice.name.text());
  name_ = row_->name;
  if (row_->way == Way::kByHand) return {};
  const std::string text = choice.program.is_set() ? choice.program.value
                           : choice.name.is_set()  ? std::string(row_->program)
                                                   : std::string(kUsualProgram);
  std::istringstream alternatives(text);
  for (std::string one; std::getline(alternatives, one, ':');) {
    std::istringstream split(one);
    program_.clear();
    for (std::string word; split >> word;) program_.push_back(word);
    std::string path;
    if (program_.empty() || !find_program(program_.front(), current_directory(), path).ok() ||
        ::access(path.c_str(), X_OK) != 0)
      continue;
    name_ = std::filesystem::path(program_.front()).filename();
    if (name_ == "ssh") program_.insert(program_.end(), std::begin(kOfSsh), std::end(kOfSsh));
    program_.front() = path;
    if (const Wish& by = choice.program.is_set() ? choice.program : choice.name; is_variable(by))
      name_ += fmt::format(" ({})", by.from);
    return {};
  }
  return base::fail(MPI_ERR_SPAWN,
                    "other hosts are reached by '{}' ({}), and there is no such program in PATH: install it, "
                    "or name another one by --launcher or --launcher-exec",
                    text,
                    choice.program.is_set()    ? choice.program.from
                    : is_variable(choice.name) ? choice.name.text()
                                               : "--launcher " + std::string(row_->name));
}

bool Launcher::asks_user() const { return row_->asks_user; }

bool Launcher::gives_stream() const { return row_->way != Way::kTask && row_->way != Way::kByHand; }

base::Status Launcher::check_hosts(const std::vector<std::string>& names) const {
  if (row_->way != Way::kTask) return {};
  const std::vector<std::string> list = pbs_hosts();
  const char* const path = std::getenv(kPbsHosts);
  for (const std::string& name : names)
    if (place_of(name, list) == list.size())
      return base::fail(
          MPI_ERR_ARG,
          "--launcher {}: {} is not among the hosts that PBS has given to this job ({}{}{}): name "
          "others, or choose another launcher",
          row_->name, name, kPbsHosts, path != nullptr ? "=" : " is not set", path != nullptr ? path : "");
  return {};
}

std::string Launcher::program_there() const {
  return prefix_.empty() ? own_program("mpiexec") : prefix_ + "/bin/mpiexec";
}

std::vector<std::string> Launcher::words_before(const std::string& host) const {
  std::vector<std::string> all = program_;
  for (const std::string_view given : row_->words) {
    std::string word(given);
    if (const std::size_t at = word.find("%h"); at != word.npos) word.replace(at, 2, host);
    if (word == "%n") word = std::to_string(place_of(host, pbs_hosts()));
    if (word == "%c") word = option_of_component(host);
    if (!word.empty()) all.push_back(std::move(word));
  }
  return all;
}

std::string Launcher::command_before(const std::string& host) const {
  std::string line;
  for (const std::string& word : words_before(host)) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

std::vector<std::string> Launcher::command(const std::string& host,
                                           const std::vector<std::string>& words) const {
  std::vector<std::string> there{"/bin/sh",
                                 "-c",
                                 fmt::format(kFindAndRun, kClumpNotFound),
                                 "sh",
                                 prefix_.empty() ? "" : prefix_ + "/bin/mpiexec",
                                 own_program("mpiexec")};
  there.insert(there.end(), words.begin(), words.end());
  std::vector<std::string> all = words_before(host);
  std::vector<std::string> without;
  for (const char* const name : row_->without)
    if (std::getenv(name) != nullptr) without.insert(without.end(), {"-u", name});
  if (!without.empty()) without.insert(without.begin(), "/usr/bin/env");
  all.insert(all.begin(), without.begin(), without.end());
  if (row_->way == Way::kWords || row_->way == Way::kTask) {
    all.insert(all.end(), there.begin(), there.end());
  } else {
    std::string line = "exec";
    for (const std::string& word : there) line += " " + shell_word(word);
    all.push_back(std::move(line));
  }
  return all;
}

base::Status find_width(int& width) {
  const char* const text = std::getenv(kWidthVariable);
  width = 32;
  if (text == nullptr || *text == '\0') return {};
  const char* const end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, width);
  if (error == std::errc() && rest == end && width > 0) return {};
  return base::fail(MPI_ERR_ARG, "{}={}: a number of hosts is needed, 1 at least", kWidthVariable, text);
}

namespace {

/// What helps against an error of ssh that a new user meets. It names no host: hosts with the same text are
/// told in one line.
std::string remedy(const std::string& host, const std::string& said) {
  const auto has = [&](const char* words) { return said.find(words) != said.npos; };
  if (has("Host key verification failed")) return "; 'ssh HOST' by hand asks once whether to trust a host";
  if (has("Permission denied ("))  // other launchers, and their systems, say it without a list
    return "; 'ssh HOST true' may not ask for a password: 'ssh-copy-id HOST' puts your key there (ssh-keygen "
           "makes one)";
  return addresses_of(host).empty() ? "; no address is known for it" : "";
}

}  // namespace

StartFailure why_not_started(const std::string& launcher, const std::string& host, int code,
                             const std::string& said) {
  if (code == kClumpNotFound || code == kCannotRun || code == kNotFound)
    return {true, fmt::format("Clump cannot be run there ({}): install it at the same path as here, or where "
                              "PATH of that host leads, or say where it is there by --prefix",
                              said)};
  // MPICH, Intel MPI and Open MPI say so of an option that they do not know.
  const bool is_refused =
      said.find("unknown option") != said.npos || said.find("unrecognized argument") != said.npos;
  if (is_refused && said.find("proxy") != said.npos)
    return {true,
            fmt::format("the mpiexec there is not Clump's ({}): say where Clump is there by --prefix", said)};
  return {false,
          fmt::format("{} does not reach it (exit code {}): {}{}", launcher, code, said, remedy(host, said))};
}

}  // namespace clump::tools
