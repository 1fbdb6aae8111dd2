// What starts a job on other hosts: PRRTE's prterun, and what runs a command there for it: ssh, or what the
// user names in its place.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace clump::tools {

/// The variable by which users of PRRTE name it: words, and alternatives between colons.
inline constexpr const char* kRemoteShellVariable = "PRTE_MCA_plm_ssh_agent";

/// Its value where it is not set.
inline constexpr const char* kUsualRemoteShell = "ssh : rsh";

/// Its words, to which the host and the command are added.
base::Status find_remote_shell(std::vector<std::string>& words);

/// The same for such a value.
base::Status find_remote_shell(const std::string& text, std::vector<std::string>& words);

/// The path of prterun: CLUMP_PRTERUN, or the first one in PATH.
base::Status find_prterun(std::string& path);
/// Where it lies if it brings its files along: it was moved from where it was built, and has to be told. Else
/// empty.
std::string prefix_of_prterun(const std::string& path);

}  // namespace clump::tools
