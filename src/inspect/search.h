// Finds the path at which ld.so would find a library, without asking ld.so, and knows which libraries ranks
// share.
#pragma once

#include <string>
#include <vector>

namespace clump::image {

/// The search paths in a file for the libraries that it needs, with $ORIGIN already replaced.
struct SearchPaths {
  std::vector<std::string> rpath;    ///< DT_RPATH: empty if the file has DT_RUNPATH
  std::vector<std::string> runpath;  ///< DT_RUNPATH: only for what the file itself needs
  bool has_runpath = false;
};

class ElfFile;
SearchPaths search_paths_of(const ElfFile& file, const std::string& path);

/// Splits a list of folders: "a:b;c" -> {a, b, c}. An empty part is the working directory, as for ld.so.
std::vector<std::string> split_path(const std::string& list);

/// The path of library `name`, which a file with `paths` needs; `inherited` are the DT_RPATHs of the files
/// that have loaded the file, nearest first. Empty if there is none for this machine. Blocks on file reads.
/// Any thread.
std::string find_library(const std::string& name, const SearchPaths& paths,
                         const std::vector<std::string>& inherited, const std::string& library_path);

/// Whether all ranks of a process share a library: libraries of the C library, the MPI library, and libraries
/// that keep records for each thread or for the process and cannot be there twice (OpenMP runtimes,
/// sanitizers).
bool is_shared_library(const char* name);

}  // namespace clump::image
