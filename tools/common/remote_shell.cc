#include "common/remote_shell.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "common/places.h"

namespace clump::tools {

base::Status find_remote_shell(std::vector<std::string>& words) {
  const char* const named = std::getenv(kRemoteShellVariable);
  return find_remote_shell(named != nullptr && *named != '\0' ? named : kUsualRemoteShell, words);
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
    // As PRRTE does: daemons open no windows.
    if (std::filesystem::path(words.front()).filename() == "ssh") words.emplace_back("-x");
    words.front() = path;
    return {};
  }
  return base::fail(
      MPI_ERR_SPAWN,
      "other hosts are reached by '{}' ({}), and there is no such program in PATH: install ssh, "
      "or name another one in the variable",
      text, kRemoteShellVariable);
}

base::Status find_prterun(std::string& path) {
  if (const char* const named = std::getenv("CLUMP_PRTERUN")) {
    path = named;
    // A name alone would be that of a file in the working folder.
    if (path.find('/') == path.npos)
      return base::fail(MPI_ERR_SPAWN, "CLUMP_PRTERUN={}: give the path of prterun, with its folder", named);
    if (::access(named, X_OK) == 0) return {};
    return base::fail(MPI_ERR_SPAWN, "CLUMP_PRTERUN={}: {}", named, std::strerror(errno));
  }
  if (find_program("prterun", current_directory(), path).ok()) return {};
  return base::fail(
      MPI_ERR_SPAWN,
      "a job on several hosts is started by PRRTE's prterun, and there is none in PATH: install prrte, "
      "or the Python package openmpi in an environment of its own, and name its bin/prterun in "
      "CLUMP_PRTERUN");
}

std::string prefix_of_prterun(const std::string& path) {
  const std::filesystem::path prefix = std::filesystem::path(path).parent_path().parent_path();
  std::error_code none;
  return std::filesystem::exists(prefix / "share" / "prte", none) ? prefix.string() : std::string();
}

}  // namespace clump::tools
