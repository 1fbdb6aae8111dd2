// Functions whose state belongs to the process, and that Clump does not give to each rank of a shared
// process. If a program imports one of them, each of its ranks is a process: this is decided before it
// starts, from its import tables.
#pragma once

#include <functional>
#include <string_view>

namespace clump::image {

class ElfFile;

/// The reason why each rank of a program that calls `function` has to be a process, as the end of a sentence;
/// empty if there is none. `of_program`: the program itself imports it, and not one of its libraries.
std::string_view reason_for_processes(std::string_view function, bool of_program = true);

/// Looks at all functions that one file imports: some need processes only in combination, or because of what
/// their names begin with.
class ImportedNeed {
 public:
  /// `of_program`: as above.
  explicit ImportedNeed(bool of_program = true) : of_program_(of_program) {}

  void see(std::string_view function);
  /// The function, and the reason, as above; empty if there is none.
  std::string_view function() const { return function_; }
  std::string_view reason() const { return reason_; }

 private:
  std::string_view function_, reason_;
  std::string_view switches_;  ///< a function that switches contexts, with their signal masks
  bool of_program_;
  bool changes_masks_ = false;
};

/// Calls `is_wanted` with each function that the file imports from another file (a symbol that one of its
/// relocations names and that it does not define) until that returns true, and returns whether it has. Names
/// are valid as long as the file; a name may come more than once.
bool find_import(const ElfFile& file, const std::function<bool(std::string_view)>& is_wanted);

}  // namespace clump::image
