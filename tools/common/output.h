// The standard output of a tool.
#pragma once

#include <functional>

namespace clump::tools {

/// main() of a tool: the exit code of `body`. If what it has printed could not all be written, that is said,
/// and the exit code is not 0. Where stdin, stdout or stderr is closed it is /dev/null. Where
/// SIGCHLD is ignored it gets its default action, also for the programs that the tool starts.
int run_tool(const char* name, const std::function<int()>& body);

}  // namespace clump::tools
