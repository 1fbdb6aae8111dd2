// The processes below this one: its children, and the orphans that it adopts (PR_SET_CHILD_SUBREAPER).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace clump::mpiexec {

/// Which of them are ended.
enum class Sessions : std::uint8_t {
  kOwn,  ///< those of this process's session: the connection that ssh keeps for later (ControlPersist) stays
  kAll,
};

/// Kills all children, and theirs as they become this process's, until there is none. `known`: children that
/// were started, or not (-1); they are all that is killed where /proc does not tell what else there is.
void kill_descendants(const std::vector<pid_t>& known);

/// The same, but SIGTERM first, and SIGKILL for what is left after `grace`.
void end_descendants(std::chrono::milliseconds grace, Sessions sessions, std::vector<pid_t> known);

}  // namespace clump::mpiexec
