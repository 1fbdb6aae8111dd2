#include "common/remote_shell.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "common/places.h"

namespace clump::tools {

namespace {

/// For /bin/sh; $1 is where mpiexec is here. In PATH there may be that of another MPI. No single quote and no
/// '!' is in it: csh would read them.
constexpr const char* kFindAndRun =
    R"(m=$1; shift; test -x "$m" && exec "$m" "$@"; p=$(command -v mpiexec) && )"
    R"(case $("$p" --version </dev/null 2>/dev/null) in *Clump*) exec "$p" "$@";; esac; )"
    R"(echo "$m: not found, and no mpiexec of Clump is in PATH" >&2; exit {})";

}  // namespace

std::string remote_shell() {
  const char* const named = std::getenv(kRemoteShellVariable);
  return named != nullptr && *named != '\0' ? named : kUsualRemoteShell;
}

base::Status find_remote_shell(const std::string& text, std::vector<std::string>& words) {
  std::istringstream alternatives(text);
  for (std::string one; std::getline(alternatives, one, ':');) {
    std::istringstream split(one);
    words.clear();
    for (std::string word; split >> word;) words.push_back(word);
    std::string path;
    if (words.empty() || !find_program(words.front(), current_directory(), path).ok() ||
        ::access(path.c_str(), X_OK) != 0)
      continue;
    // No windows, no terminal there, and no minutes for a host that does not answer.
    if (std::filesystem::path(words.front()).filename() == "ssh")
      words.insert(words.end(), {"-x", "-T", "-o", "ConnectTimeout=30"});
    words.front() = path;
    return {};
  }
  return base::fail(
      MPI_ERR_SPAWN,
      "other hosts are reached by '{}' ({}), and there is no such program in PATH: install ssh, "
      "or name another one in the variable",
      text, kRemoteShellVariable);
}

std::string mpiexec_there(const std::vector<std::string>& words) {
  std::string command =
      fmt::format("exec /bin/sh -c {} sh {}", shell_word(fmt::format(kFindAndRun, kClumpNotFound)),
                  shell_word(own_program("mpiexec")));
  for (const std::string& word : words) command += " " + shell_word(word);
  return command;
}

std::string why_not_there(const std::string& said) {
  return fmt::format(
      "Clump cannot be run there ({}): install it at the same path as here, or where PATH of that host leads",
      said);
}

}  // namespace clump::tools
