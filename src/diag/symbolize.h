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

/// What is known about a place in the code; empty or 0 what is not.
struct Place {
  std::string function;  ///< demangled
  std::string file;
  int line = 0;
};

/// Keeps the files that it has opened. One thread at a time.
class Symbolizer {
 public:
  /// Debugging information may lie in the file itself, or in others that belong to it. To look for those,
  /// libdw has to be told by the environment not to ask the network: only in a process that is our own.
  enum class Search : std::uint8_t { kFileItself, kOtherFilesToo };
  explicit Symbolizer(Search search);
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  Place place(const pmi::Frame& frame);

 private:
  /// One debugging session per file, so that no two files' addresses meet.
  struct Object {
    Dwfl* session = nullptr;
    Dwfl_Module* module = nullptr;
    std::uint64_t bias = 0;  ///< what the session adds to the addresses of the file
  };
  const Object& open(const std::string& path);

  const Search search_;
  std::map<std::string, Object> objects_;
};

/// The function of MPI that the user has called, by the name of one in the MPI library, which may be
/// "PMPI_Recv.localalias", or what that goes on in: "Recv(char const*, ...)", "checked_Recv(...)". "MPI"
/// where the name does not tell.
std::string mpi_call(std::string function);

}  // namespace clump::diag
