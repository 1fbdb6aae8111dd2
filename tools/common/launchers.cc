#include "common/launchers.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "common/places.h"
#include "common/reach.h"

namespace clump::tools {

/// How a launcher takes the command for the other host.
enum class Way {
  kLine,      ///< one word, for a shell there
  kWords,     ///< as it is
  kHere,      ///< it starts processes on this host only
  kNoStream,  ///< its standard input does not reach the other host
};

struct LauncherRow {
  std::string_view name, program;
  std::vector<std::string_view> words;  ///< %h is the host
  Way way = Way::kLine;
  bool asks_user = false;
};

namespace {

constexpr std::string_view kUsualProgram = "ssh : rsh";
/// No windows, no terminal there, and no minutes for a host that does not answer: for a program of this name.
constexpr std::string_view kOfSsh[] = {"-x", "-T", "-o", "ConnectTimeout=30"};

// slurm: a step for each host, beside others in the same allocation, with all cores of it.
// clang-format off
const LauncherRow kRows[] = {
    {"ssh", "ssh", {"%h"}, Way::kLine, true},
    {"rsh", "rsh", {"%h"}, Way::kLine, true},
    {"fork", "", {}, Way::kHere},
    {"slurm", "srun", {"--nodes=1", "--ntasks=1", "--nodelist=%h", "--overlap", "--cpu-bind=none", "--mpi=none"}, Way::kWords},
    {"sge", "qrsh", {"-inherit", "-V", "%h"}, Way::kLine},
    {"lsf", "blaunch", {"%h"}, Way::kLine},
    {"pbs", "pbsdsh", {}, Way::kNoStream},
    {"manual", "", {}, Way::kNoStream},
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
  if (row_->way == Way::kNoStream)
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                      "{}: this launcher is not built yet: choose ssh, slurm, sge or lsf",
                      choice.name.text());
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
    return {};
  }
  return base::fail(MPI_ERR_SPAWN,
                    "other hosts are reached by '{}' ({}), and there is no such program in PATH: install it, "
                    "or name another one by --launcher or --launcher-exec",
                    text,
                    choice.program.is_set() ? choice.program.from : "--launcher " + std::string(row_->name));
}

bool Launcher::asks_user() const { return row_->asks_user; }

std::vector<std::string> Launcher::command(const std::string& host,
                                           const std::vector<std::string>& words) const {
  std::vector<std::string> there{"/bin/sh",
                                 "-c",
                                 fmt::format(kFindAndRun, kClumpNotFound),
                                 "sh",
                                 prefix_.empty() ? "" : prefix_ + "/bin/mpiexec",
                                 own_program("mpiexec")};
  there.insert(there.end(), words.begin(), words.end());
  std::vector<std::string> all = program_;
  for (const std::string_view given : row_->words) {
    std::string word(given);
    if (const std::size_t at = word.find("%h"); at != word.npos) word.replace(at, 2, host);
    all.push_back(std::move(word));
  }
  if (row_->way == Way::kWords) {
    all.insert(all.end(), there.begin(), there.end());
  } else {
    std::string line = "exec";
    for (const std::string& word : there) line += " " + shell_word(word);
    all.push_back(std::move(line));
  }
  return all;
}

StartFailure why_not_started(const std::string& launcher, const std::string& host, int code,
                             const std::string& said) {
  if (code == kClumpNotFound || code == kCannotRun || code == kNotFound)
    return {true, fmt::format("Clump cannot be run there ({}): install it at the same path as here, or where "
                              "PATH of that host leads, or say where it is there by --prefix",
                              said)};
  return {false, fmt::format("{} does not reach it (exit code {}): {}{}", launcher, code, said,
                             addresses_of(host).empty() ? "; no address is known for it" : "")};
}

}  // namespace clump::tools
