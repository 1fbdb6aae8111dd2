// Python whose mpi4py is a binary wheel. Such a wheel has a module for each family of MPI libraries, and asks
// the library in the process which one fits: ours has the standard's ABI, for which wheels have none so far.
// They have one for MPICH's ABI, which our facade serves, so it is the one that Python is told to take.
#include <dirent.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "host/state.h"
#include "inspect/mpi_library.h"

namespace clump::host {

namespace {

constexpr const char* kVariable = "MPI4PY_MPIABI";

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const opened = ::opendir(folder.c_str());
  if (opened == nullptr) return names;
  while (const dirent* const entry = ::readdir(opened)) names.emplace_back(entry->d_name);
  ::closedir(opened);
  return names;
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

/// The folders that Python looks through for packages, as far as they follow from its path and its
/// environment.
std::vector<std::string> package_folders(const std::string& python) {
  std::vector<std::string> folders;
  if (const char* const path = base::variable("PYTHONPATH"); path != nullptr) {
    for (std::string_view rest = path; !rest.empty();) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      if (end > 0) folders.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  std::vector<std::string> prefixes{parent_of(parent_of(python))};
  if (const char* const home = base::variable("HOME"); home != nullptr)
    prefixes.push_back(std::string(home) + "/.local");
  prefixes.emplace_back("/usr/local");
  prefixes.emplace_back("/usr");
  for (const std::string& prefix : prefixes) {
    for (const std::string& name : names_in(prefix + "/lib")) {
      if (!name.starts_with("python3")) continue;
      for (const char* const last : {"/site-packages", "/dist-packages"})
        folders.push_back(prefix + "/lib/" + name + last);
    }
  }
  return folders;
}

/// Whether the first mpi4py there has a module for MPICH's ABI and none for the standard's.
bool needs_mpich(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    bool has_mpich = false;
    bool has_other = false;
    for (const std::string& name : names_in(folder + "/mpi4py")) {
      has_mpich = has_mpich || name.starts_with("MPI.mpich.");
      has_other = has_other || name.starts_with("MPI.mpiabi.") || name.starts_with("MPI.cpython") ||
                  name.starts_with("MPI.abi3");
    }
    if (has_mpich || has_other) return has_mpich && !has_other;
  }
  return false;
}

}  // namespace

bool choose_module_of_mpi4py() {
  if (base::has_rights_of_file()) return false;  // the variable is the caller's, and not asked for
  const auto path = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  if (path == nullptr || base::variable(kVariable) != nullptr) return false;
  const std::string_view name = std::string_view(path).substr(std::string_view(path).rfind('/') + 1);
  if (!name.starts_with("python") || image::facade_for("libmpi.so.12").empty()) return false;
  return needs_mpich(package_folders(path)) && ::setenv(kVariable, "mpich", 1) == 0;
}

}  // namespace clump::host
