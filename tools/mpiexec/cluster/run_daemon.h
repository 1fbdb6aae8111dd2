// PRRTE's daemon on another host, and what it has started, end with the connection by which it was started.
//
//   start_host -- ssh ... sshd -- mpiexec --run-daemon -- supervisor -- sh -- prted -- mpiexec --proxy -- ...
//
// prted makes a session of its own. Killed while the job starts, prterun or another host's prted leave it behind:
// it has no connection yet whose end would tell it. Standard output and error of mpiexec --run-daemon are the
// connection: start_host.h reads them as long as the job is there. When nobody does any more, because
// start_host, ssh or sshd has ended by whatever means, the supervisor ends prted. It does so, too, when prted's
// command fails or mpiexec --run-daemon is killed; and that one does when the supervisor is killed.
#pragma once

#include <string>
#include <vector>

namespace clump::mpiexec {

/// The first word of mpiexec's command line then. A command for a shell follows, and if the daemon is to use
/// only the interface by which it reaches mpiexec: the network of mpiexec (common/ways.h), and its addresses.
inline constexpr const char* kRunDaemon = "--run-daemon";

/// ssh's exit code where it fails itself, or its connection is lost.
inline constexpr int kConnectionLost = 255;

/// Chooses a folder for the files of a daemon of PRRTE, which it leaves behind when it is killed, and sets the
/// environment's `variable` to it. Empty where the user has chosen one. The daemon makes it, so that nothing is
/// left if the caller is killed before another process knows of it. Nobody can guess its name.
std::string choose_folder(const char* variable);

/// Returns when the command and all that it has started have ended. The exit code: that of the command, or 128 +
/// the signal that ended it; 255 if the connection ends before.
int run_daemon(const std::vector<std::string>& words);

}  // namespace clump::mpiexec
