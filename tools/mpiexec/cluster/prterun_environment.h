// The environment of prterun and of the proxies that it starts. Ranks have another one, which the plan
// carries.
#pragma once

#include <string>
#include <vector>

namespace clump::mpiexec {

/// Out of `own`, mpiexec's: without what prterun would take for its own of a job around this one, and without
/// long values, for which a system call has no room besides its own.
std::vector<std::string> prterun_environment(const char* const* own);

/// Has the daemon of PRRTE that this process starts use only these interfaces of this host, and tell only
/// their addresses to other daemons: sets the environment's kNetworkVariable to network_for_prrte(). Does
/// nothing and returns false if the user has chosen interfaces by a variable of PRRTE's.
bool limit_network(const std::vector<std::string>& interfaces);
inline constexpr const char* kNetworkVariable = "PRTE_MCA_prte_if_include";
/// The same as a word behind --prtemca.
inline constexpr const char* kNetworkParameter = "prte_if_include";

/// The name to which PRRTE can be limited where these interfaces are needed. Empty: to none; PRRTE uses all.
/// PRRTE 3.0 takes one name only: two end it by SIGSEGV (https://github.com/openpmix/prrte/issues/2553).
std::string network_for_prrte(std::vector<std::string> interfaces);

/// The environment variable with the words that follow the command of --run-daemon (run_daemon.h): it calls
/// limit_network() on its host. Empty if mpiexec has not done so.
inline constexpr const char* kWayVariable = "CLUMP_DAEMON_WAY";

/// The settings in `environment` that are PRRTE's and not mpiexec's, separated by ", ": where a job does not
/// start, they may be left over from another one.
std::string prrte_settings(const std::vector<std::string>& environment);

}  // namespace clump::mpiexec
