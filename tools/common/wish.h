// What users say by an option or by a variable of the environment.
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <string>

namespace clump::tools {

struct Wish {
  std::string from;   ///< the option as typed, or the variable
  std::string value;  ///< empty: nothing is said

  bool is_set() const { return !value.empty(); }
  /// For messages: "--iface ib0" or "HYDRA_IFACE=ib0".
  std::string text() const { return from + (from.starts_with('-') ? " " : "=") + value; }
};

/// The option if it is given, or the first of these variables that is not empty.
inline Wish first_set(const Wish& option, std::initializer_list<const char*> variables) {
  if (option.is_set()) return option;
  for (const char* const name : variables)
    if (const char* const value = std::getenv(name); value != nullptr && *value != '\0') return {name, value};
  return {};
}

}  // namespace clump::tools
