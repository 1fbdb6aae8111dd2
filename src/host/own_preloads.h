// The libraries that mpiexec has put into LD_PRELOAD, apart from those that the program has there. Not for
// other layers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clump::host {

class OwnPreloads {
 public:
  /// `folder`: of Clump's libraries. `added`: what mpiexec has put there besides them (CLUMP_PRELOADED);
  /// parts of a text that lives longer.
  OwnPreloads(std::string_view folder, std::vector<std::string_view> added);

  bool has(std::string_view library) const;

  /// Of a list of libraries, those of mpiexec besides `host` and `mpi`, as texts to be put around these.
  struct Around {
    std::string front;  ///< "a:b:": facades, sanitizers and the interposers that the program has
    std::string back;   ///< ":c": an allocator
  };
  Around around(std::span<const std::string_view> libraries) const;
  /// A list of libraries without all of these, as LD_PRELOAD has it; empty: none is left.
  std::string without(std::span<const std::string_view> libraries) const;

  const std::string host, mpi;

 private:
  const std::vector<std::string_view> added_;
};

}  // namespace clump::host
