// What a program that is made for MPICH's ABI or Open MPI's names of MPI, and neither Clump's facade nor a
// library of the program has. Reads files only; part of clump_inspect.
#pragma once

#include <string>
#include <vector>

namespace clump::image {

struct Lacks {
  std::vector<std::string> names;  ///< functions and variables, in the order in which files name them
  std::string at_start;     ///< one that ld.so looks up before the program begins, also in lazy binding
  std::string at_start_in;  ///< path of the file that names it
  bool binds_now = false;   ///< why: that file is linked with -z now; false: it takes the name's address

  bool any() const { return !names.empty(); }
  /// The first of the names, and how many more there are: "MPIX_A, MPIX_B, MPIX_C and 2 more".
  std::string list() const;
};

/// `libraries` are the paths of what ld.so loads with the program, facades and preloaded libraries included.
/// A name that is weak in its file does not count: the program can do without it.
Lacks find_lacks(const std::string& program, const std::vector<std::string>& libraries);

}  // namespace clump::image
