// A stop-the-world snapshot: which threads of control are blocked, and where, for reports about what a job
// waits for (docs/decisions/018-who-waits-for-whom.md). While no report is asked for, a thread that blocks
// writes down next to nothing: a kernel thread, where it goes to sleep.
#pragma once

#include <cstdint>
#include <ctime>
#include <vector>

#include "base/types.h"
#include "fiber/identity.h"

namespace clump::fiber {

/// What a suspended thread of control goes on with, as far as an unwinder needs it. The assembly knows this
/// layout.
struct Registers {
  std::uintptr_t stack = 0;
  std::uintptr_t program_counter = 0;
#if defined(__x86_64__)
  std::uintptr_t kept[6] = {};  ///< rbx, rbp, r12 to r15
#elif defined(__aarch64__)
  std::uintptr_t kept[11] = {};  ///< x19 to x29
#endif
};

extern "C" {
/// The caller's, as they are when this returns.
void clump_note_registers(Registers* registers);
/// Calls `function(argument)` so that an unwinder in it finds the frames of the suspended thread of control
/// behind it, instead of the caller's.
CLUMP_HOST_API void clump_call_behind(const Registers* registers, void (*function)(void*), void* argument);
}

/// A thread of control of a rank that does not run.
struct BlockedThread {
  const void* who = nullptr;  ///< as Completion::sleeper() names it
  const Identity* rank = nullptr;
  Registers registers;
  const void* waits = nullptr;  ///< its innermost_wait
};

/// While one lives, no thread of control goes on that does not run; those that run go on until they wait.
/// One at a time, by a thread that is none of a rank's.
class WorldStop {
 public:
  CLUMP_HOST_API WorldStop();
  CLUMP_HOST_API ~WorldStop();
  WorldStop(const WorldStop&) = delete;
  WorldStop& operator=(const WorldStop&) = delete;

  CLUMP_HOST_API std::vector<BlockedThread> blocked_threads() const;
};

/// How many kernel threads sleep, other than for a worker, and were not woken. At any time.
CLUMP_HOST_API int sleeping_threads();
/// Whether the one that looks out for messages of other processes does, if there has to be one
/// (progress_sleeper.h).
CLUMP_HOST_API bool progress_sleeper_sleeps() noexcept;

namespace detail {
/// What the calling thread of control tells about its wait; what it is belongs to core.
CLUMP_HOST_API extern constinit thread_local const void* innermost_wait;
/// The same of another one.
const void* innermost_wait_of(const void* thread_pointer);
/// Returns when there is no WorldStop.
void stay_while_stopped() noexcept;
bool is_stopped() noexcept;
}  // namespace detail

/// A thread that has slept for so long sleeps for long.
inline constexpr timespec kUntilLong{0, 50'000'000};
/// What listens if a thread is going to sleep for long: most that sleep are woken sooner. Called by that
/// thread, which counts as asleep already.
CLUMP_HOST_API void on_long_sleep(void (*listener)());
void sleeps_for_long();

}  // namespace clump::fiber
