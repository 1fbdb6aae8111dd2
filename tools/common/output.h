// What a tool writes to stdout and stderr.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <utility>

#include "base/printable.h"

namespace clump::tools {

/// main() of a tool: the exit code of `body`. If what it has printed could not all be written, that is said,
/// and the exit code is not 0. Where stdin, stdout or stderr is closed it is /dev/null. Where
/// SIGCHLD is ignored it gets its default action, also for the programs that the tool starts.
int run_tool(const char* name, const std::function<int()>& body);

/// fmt::print() to stdout, made printable: names of programs, hosts and libraries may have been chosen by
/// others.
template <typename... Args>
void print_out(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print("{}", base::printable(fmt::format(format, std::forward<Args>(args)...)));
}
/// The same to stderr.
template <typename... Args>
void print_error(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(stderr, "{}", base::printable(fmt::format(format, std::forward<Args>(args)...)));
}

}  // namespace clump::tools
