// Libraries that define functions of the C library or of MPI: profiling tools (PMPI), wrappers of input and
// output, ...
//
// A program finds them before the libraries whose functions they wrap, whether they are preloaded or linked.
// mpiexec preloads the libraries that it brings along, so it names the interposers before them. Each rank has
// its own copy of an interposer. Allocators and sanitizers are not copied: they serve all ranks, and come
// after (is_shared_library()).
//
// Used by mpiexec and `clump explain`, which read files; link clump_inspect.
#pragma once

#include <string>
#include <vector>

namespace clump::image {

/// The entries of LD_PRELOAD.
struct Preloads {
  std::vector<std::string> own;     ///< each rank has a copy; in the order in which they are named
  std::vector<std::string> shared;  ///< one for all ranks: allocators, sanitizers
};

/// Divides the value of LD_PRELOAD. `library_path` stands for LD_LIBRARY_PATH. What cannot be found is in
/// `own` (ld.so says so). Blocks on file reads.
Preloads divide_preloads(const std::string& preloads, const std::string& library_path);

/// Those of a program's `libraries` (in load order) that define a C function which one of the files
/// `hidden_by` defines too. If the files in `hidden_by` are preloaded, these have to be preloaded before
/// them.
std::vector<std::string> interposers_among(const std::vector<std::string>& libraries,
                                           const std::vector<std::string>& hidden_by);

/// "a:b c" -> {a, b, c}, as ld.so reads LD_PRELOAD.
std::vector<std::string> split_preloads(const std::string& list);
/// The reverse.
std::string join_preloads(const std::vector<std::string>& parts);

}  // namespace clump::image
