// posix_spawn() of a process that gets what belongs to a rank and the kernel keeps for the process that ranks
// share: resource limits, and, for the successor of a rank, its timers and its pending signals.
#pragma once

#include <spawn.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <cstdint>

#include "process/signals/state.h"

namespace clump::image {

/// The limits of a rank that are not the kernel's of this process.
struct RankLimits {
  std::uint32_t differ = 0;  ///< a bit for each that is in `all`
  rlimit all[RLIM_NLIMITS] = {};
};

/// The runtime's part. Any thread; both allocate nothing.
struct LimitsHooks {
  /// Those of the calling thread's rank.
  void (*of_caller)(RankLimits& limits) noexcept;
  /// Called in a child of a rank that has its parent's memory, as that of vfork(), before it executes a
  /// program: sets its rank's limits, but for those that the child has changed. Elsewhere it does nothing.
  void (*take_in_child)() noexcept;
};
/// Once, before there are several ranks. `hooks` lives as long as the process.
void set_limits_hooks(const LimitsHooks& hooks);
/// Called in a child before it executes a program. In one that has its parent's memory, as that of vfork(),
/// it sets the limits of its rank, and ignores what its rank ignores. Elsewhere it does nothing.
/// Async-signal-safe.
void prepare_child_for_exec() noexcept;

/// What exec() leaves to a program besides.
struct KeptByExec {
  itimerval timers[3] = {};  ///< by ITIMER_REAL and so on
  siginfo_t pending[signals::kMostPending];
  int count = 0;             ///< of `pending`
  signals::Set ignored = 0;  ///< besides those that the rank ignores
};

struct ToSpawn {
  const char* path = nullptr;
  const posix_spawn_file_actions_t* actions = nullptr;  ///< may be null
  const posix_spawnattr_t* attributes = nullptr;        ///< may be null
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const KeptByExec* kept = nullptr;  ///< may be null
};
/// Does what posix_spawn() does. 0, or an error number.
int spawn_for_rank(pid_t* child, const ToSpawn& wanted);

}  // namespace clump::image
