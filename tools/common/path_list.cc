#include "common/path_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/places.h"

namespace clump::tools {

namespace {

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// What the shell takes for ":$NAME", if the variable is set and not empty; nothing otherwise.
std::string rest_of(std::string_view name) { return fmt::format("${{{0}:+:${0}}}", name); }

}  // namespace

std::string prepend_in_shell(std::string_view name, const std::string& folder) {
  return fmt::format("{}={}{}", name, shell_word(folder), rest_of(name));
}

std::string without_empty_elements(std::string command) {
  for (std::size_t at = 0; (at = command.find(":$", at)) != command.npos;) {
    const std::size_t name = at + 2;
    const auto end =
        std::find_if_not(command.begin() + static_cast<std::ptrdiff_t>(name), command.end(), is_of_name);
    const std::string variable(command.begin() + static_cast<std::ptrdiff_t>(name), end);
    const std::size_t blank = command.find_last_of(" \t\n;&|(", at);
    const std::size_t word = blank == command.npos ? 0 : blank + 1;
    const std::string rest = rest_of(variable);
    if (!variable.empty() && command.compare(word, variable.size() + 1, variable + "=") == 0) {
      command.replace(at, 2 + variable.size(), rest);
      at += rest.size();
    } else {
      at = name;
    }
  }
  return command;
}

}  // namespace clump::tools
