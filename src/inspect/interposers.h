// Interposers: libraries that define functions of the C library or of MPI, such as profiling tools (PMPI) and
// wrappers of input and output.
//
// An interposer has to come before the libraries whose functions it wraps, whether it is preloaded or linked.
// mpiexec preloads the libraries that it brings, so it names the interposers before them. Each rank has its
// own copy of an interposer. Allocators and sanitizers are not copied: they serve all ranks, and come after
// (is_shared_library()).
//
// Used by mpiexec and `clump explain`, which read files; link clump_inspect.
#pragma once

#include <string>
#include <vector>

namespace clump::image {

/// The entries of LD_PRELOAD.
struct Preloads {
  std::vector<std::string> own;     ///< those of which each rank has a copy, in their order
  std::vector<std::string> shared;  ///< those that all ranks share: allocators, sanitizers
};

/// Divides the value of LD_PRELOAD. `library_path` is the value of LD_LIBRARY_PATH. Libraries that cannot be
/// found are in `own` (ld.so reports them). Blocks on file reads.
Preloads divide_preloads(const std::string& preloads, const std::string& library_path);

/// Those of a program's `libraries` (in load order) that define a C function which one of the files
/// `hidden_by` defines, too. If the files in `hidden_by` are preloaded, these libraries have to be preloaded
/// before them.
std::vector<std::string> interposers_among(const std::vector<std::string>& libraries,
                                           const std::vector<std::string>& hidden_by);

/// Splits a value of LD_PRELOAD as ld.so does: "a:b c" -> {a, b, c}.
std::vector<std::string> split_preloads(const std::string& list);
/// The reverse of split_preloads().
std::string join_preloads(const std::vector<std::string>& parts);

}  // namespace clump::image
