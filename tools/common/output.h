// What a tool writes to stdout and stderr.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>
#include <utility>

#include "base/printable.h"
#include "common/terminal.h"

namespace clump::tools {

/// main() of a tool: the exit code of `body`. If what it has printed could not all be written, that is said,
/// and the exit code is not 0. Where stdin, stdout or stderr is closed it is /dev/null. Where
/// SIGCHLD is ignored it gets its default action, also for the programs that the tool starts.
int run_tool(const char* name, const std::function<int()>& body);

/// fmt::print() of whole lines to stdout, made printable: names of programs, hosts and libraries may have
/// been chosen by others. On a terminal lines are as wide as that.
template <typename... Args>
void print_out(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = base::printable(fmt::format(format, std::forward<Args>(args)...));
  fmt::print("{}", fit_terminal(text, STDOUT_FILENO));
}
/// The same to stderr.
template <typename... Args>
void print_error(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = base::printable(fmt::format(format, std::forward<Args>(args)...));
  fmt::print(stderr, "{}", fit_terminal(text, STDERR_FILENO));
}

/// A command that users may copy: one line, however narrow the terminal is.
inline void print_command(std::FILE* file, const std::string& command) {
  fmt::print(file, "  {}\n", base::printable(command));
}

}  // namespace clump::tools
