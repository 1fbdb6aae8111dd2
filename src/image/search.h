// Where ld.so would find a library, told without asking ld.so, and which libraries ranks share.
#pragma once

#include <string>
#include <vector>

namespace clump::image {

/// The paths that a file brings along for the libraries it needs, $ORIGIN already replaced.
struct SearchPaths {
  std::vector<std::string> rpath;    ///< DT_RPATH: empty if the file has DT_RUNPATH
  std::vector<std::string> runpath;  ///< DT_RUNPATH: for the file's own needs only
  bool has_runpath = false;
};

class ElfFile;
SearchPaths search_paths_of(const ElfFile& file, const std::string& path);

/// "a:b;c" -> {a, b, c}; an empty part is the working directory, as for ld.so.
std::vector<std::string> split_path(const std::string& list);

/// The path of library `name`, needed by a file with `paths`; `inherited` are the DT_RPATHs of those that
/// loaded the file, nearest first. Empty if there is none for this machine. Blocks on file reads. Any thread.
std::string find_library(const std::string& name, const SearchPaths& paths,
                         const std::vector<std::string>& inherited, const std::string& library_path);

/// Libraries of which all ranks of a process share one: the C library's own, the MPI library, and those that
/// keep books per thread or per process and cannot be doubled (OpenMP runtimes, sanitizers).
bool is_shared_library(const char* name);

}  // namespace clump::image
