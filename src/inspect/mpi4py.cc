#include "inspect/mpi4py.h"

#include <dirent.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "inspect/mpi_library.h"
#include "inspect/search.h"

namespace clump::image {

namespace {

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
std::vector<std::string> package_folders(const std::string& python, const char* python_path,
                                         const char* home) {
  std::vector<std::string> folders;
  if (python_path != nullptr) {
    for (std::string_view rest = python_path; !rest.empty();) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      if (end > 0) folders.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  std::vector<std::string> prefixes{parent_of(parent_of(python))};
  if (char* const real = ::realpath(python.c_str(), nullptr); real != nullptr) {
    prefixes.push_back(parent_of(parent_of(real)));
    std::free(real);
  }
  if (home != nullptr) prefixes.push_back(std::string(home) + "/.local");
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

/// By its name: "python", "python3.13t". Not "python_solver", which may well be linked to Python's library.
bool is_python(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (!name.starts_with("python")) return false;
  const std::string_view more = name.substr(std::min(name.find_first_not_of("0123456789.", 6), name.size()));
  return more.empty() || more == "t" || more == "d" || more == "-dbg";
}

}  // namespace

std::string python_of(const std::string& program) {
  if (is_python(program)) return program;
  std::ifstream file(program);
  std::string interpreter;
  if (file.get() != '#' || file.get() != '!' || !(file >> interpreter) || !is_python(interpreter)) return {};
  return interpreter;
}

std::string module_for_mpi4py(const std::string& python, const char* python_path, const char* home) {
  if (python.empty() || facade_for("libmpi.so.12").empty()) return {};
  return needs_mpich(package_folders(python, python_path, home)) ? "mpich" : "";
}

std::string library_path_of_children(const std::string& module, const char* library_path) {
  const std::string name = module == "mpich" ? "libmpi.so.12" : module == "openmpi" ? "libmpi.so.40" : "";
  const std::string facade = facade_for(name);
  const std::string before = library_path != nullptr ? library_path : "";
  if (facade.empty() || !find_library(name, {}, {}, before).empty()) return {};
  return (before.empty() ? "" : before + ":") + parent_of(facade);
}

}  // namespace clump::image
