// Files that a user names: hosts, options, rules.
#pragma once

#include <string>

namespace clump::tools {

/// The bytes of a file. False: `why` says why not. A pipe of the user's own ("<(...)", a FIFO) is read until
/// its writers have closed it. A FIFO that has no writer, or is another user's, is refused and not waited
/// for. Calls poll(): for tools that are reading their command line.
bool read_file(const std::string& path, std::string& text, std::string& why);

}  // namespace clump::tools
