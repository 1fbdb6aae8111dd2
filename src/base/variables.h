// Environments as lists of NAME=value entries, before they become a program's own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clump::base {

/// The value of a variable, in the list's memory; null: it is not there.
inline const char* value_in(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment)
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.c_str() + name.size() + 1;
  return nullptr;
}

/// The same, with an empty text for a variable that is not there.
inline std::string text_in(const std::vector<std::string>& environment, std::string_view name) {
  const char* const value = value_in(environment, name);
  return value != nullptr ? value : "";
}

}  // namespace clump::base
