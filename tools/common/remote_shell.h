// What runs Clump on other hosts: ssh, or what the user names in its place.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace clump::tools {

/// The variable by which users of PRRTE name it: words, and alternatives between colons.
inline constexpr const char* kRemoteShellVariable = "PRTE_MCA_plm_ssh_agent";

/// Its value where it is not set.
inline constexpr const char* kUsualRemoteShell = "ssh : rsh";

/// Its value, or the usual one.
std::string remote_shell();

/// The words of such a value, to which the host and the command are added.
base::Status find_remote_shell(const std::string& text, std::vector<std::string>& words);

/// For the login shell of another host, whichever that is: runs Clump's mpiexec there, with these words. It
/// is where this host has it, or in PATH of that host.
std::string mpiexec_there(const std::vector<std::string>& words);

/// What that ends with where there is none.
inline constexpr int kClumpNotFound = 99;

/// ssh's exit code where it fails itself, or its connection is lost.
inline constexpr int kConnectionLost = 255;

/// Why mpiexec_there() has ended with another code; `said` is what the host has written.
std::string why_not_there(const std::string& said);

}  // namespace clump::tools
