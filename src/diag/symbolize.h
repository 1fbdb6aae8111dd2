// From an address in a file to function and line, with libdw. In mpiexec only. Reads files; never asks the
// network.
#pragma once

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
  Symbolizer();
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

  std::map<std::string, Object> objects_;
};

}  // namespace clump::diag
