#include "common/path_list.h"

#include <fmt/format.h>

#include "common/places.h"

namespace clump::tools {

namespace {

/// What the shell takes for ":$NAME", if the variable is set and not empty; nothing otherwise.
std::string rest_of(std::string_view name) { return fmt::format("${{{0}:+:${0}}}", name); }

}  // namespace

std::string prepend_in_shell(std::string_view name, const std::string& folder) {
  return fmt::format("{}={}{}", name, shell_word(folder), rest_of(name));
}

}  // namespace clump::tools
