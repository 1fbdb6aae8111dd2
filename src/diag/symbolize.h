// From an address in a file to function and line, with libdw. In mpiexec, and in libclump_places.so
// (places.h). Reads files; never asks the network.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "pmi/control.h"

struct Dwfl;
struct Dwfl_Module;

namespace clump::diag {

/// What is known about a place in the code; a member that is empty or 0 is unknown.
struct Place {
  std::string function;  ///< demangled
  std::string file;
  int line = 0;
};

/// Finds places. Keeps the files that it has opened. One thread at a time.
class Symbolizer {
 public:
  /// Where to look for debugging information. It may lie in the file itself, or in other files that belong to
  /// it. For those, an environment variable has to keep libdw from asking the network, and it may be set only
  /// in a process of Clump's own.
  enum class Search : std::uint8_t { kFileItself, kOtherFilesToo };
  explicit Symbolizer(Search search);
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  /// That of an interpreted program is known.
  Place place(const pmi::Frame& frame);

 private:
  /// A file and its debugging session. Each file has a session of its own, so that addresses of two files
  /// never mix.
  struct Object {
    Dwfl* session = nullptr;
    Dwfl_Module* module = nullptr;
    std::uint64_t bias = 0;  ///< what the session adds to an address of the file
  };
  const Object& open(const std::string& path);

  const Search search_;
  std::map<std::string, Object> objects_;
};

/// The function of MPI that the user has called. `function` is the name of a function of the MPI library,
/// such as "PMPI_Recv.localalias", or one below the entry point: "Recv(char const*, ...)",
/// "checked_Recv(...)". "MPI" if the name does not tell.
std::string mpi_call(std::string function);

}  // namespace clump::diag
