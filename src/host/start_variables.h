// What the environment of a starting process says, before the C library's functions can be asked. Not for
// other layers.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace clump::host {

/// The value of a variable; null if it is not there.
const char* value_of(char* const* environment, std::string_view name);
/// Its number; -1 if it is not there, or is no number.
int number_in(char* const* environment, std::string_view name);
/// The numbers of a list like "3,4,-2"; nothing if it is not one. `list` may be null: no numbers.
std::optional<std::vector<int>> numbers_of(const char* list);
/// The libraries that a variable like LD_PRELOAD lists; `list` may be null. They are parts of it.
std::vector<std::string_view> libraries_of(const char* list);

/// A launcher that knows nothing of Clump, and by which variable it was seen.
struct ForeignLauncher {
  const char* name;
  std::string_view variable;
  const char* value;
};
/// The one that has started several of these processes, none of which would know of the others; nothing: none
/// has.
std::optional<ForeignLauncher> find_foreign_launcher(char* const* environment);

}  // namespace clump::host
