// Functions whose state belongs to the process, and that Clump does not give to each rank of a shared
// process. A program that imports one of them gets a process for each rank: decided before it starts, from
// its import tables.
#pragma once

#include <functional>
#include <string_view>

namespace clump::image {

class ElfFile;

/// Why a program that calls `function` needs a process for each rank, as the end of a sentence; empty if it
/// does not. `of_program`: the program itself imports it, and not a library of its.
std::string_view reason_for_processes(std::string_view function, bool of_program = true);

/// Looks at all functions that one file imports: some need processes together, or by what their names begin
/// with.
class ImportedNeed {
 public:
  /// `of_program`: as above.
  explicit ImportedNeed(bool of_program = true) : of_program_(of_program) {}

  void see(std::string_view function);
  /// The function, and why, as above; empty if there is none.
  std::string_view function() const { return function_; }
  std::string_view reason() const { return reason_; }

 private:
  std::string_view function_, reason_;
  std::string_view switches_;  ///< a function that switches contexts, with their signal masks
  bool of_program_;
  bool changes_masks_ = false;
};

/// Calls `is_wanted` with each function that the file takes from another file (a symbol that one of its
/// relocations names and that it does not define) until that returns true, and tells whether it has. Names
/// are valid as long as the file; one may come more than once.
bool find_import(const ElfFile& file, const std::function<bool(std::string_view)>& is_wanted);

}  // namespace clump::image
