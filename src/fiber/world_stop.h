// A stop-the-world snapshot: which threads of control are blocked, and where, for reports about what a job
// waits for (docs/decisions/018-who-waits-for-whom.md). While no report is asked for, it costs next to
// nothing: a kernel thread that goes to sleep notes where.
#pragma once

#include <cstdint>
#include <ctime>
#include <vector>

#include "base/types.h"
#include "fiber/identity.h"

namespace clump::fiber {

/// The registers with which a suspended thread of control goes on, as far as an unwinder needs them. The
/// assembly code knows this layout.
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
/// The caller's registers, as they are when this returns.
void clump_note_registers(Registers* registers);
/// Calls `function(argument)`. An unwinder in it finds the frames of the suspended thread of control behind
/// it, instead of the caller's.
CLUMP_HOST_API void clump_call_behind(const Registers* registers, void (*function)(void*), void* argument);
}

/// A thread of control of a rank that does not run.
struct BlockedThread {
  const void* who = nullptr;  ///< as Completion::sleeper() returns it
  const Identity* rank = nullptr;
  Registers registers;
  const void* waits = nullptr;  ///< its innermost_wait
  const void* thread_pointer = nullptr;
};

/// While one lives, no thread of control that waits goes on; those that run go on until they wait. One at a
/// time, by a thread that belongs to no rank.
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
/// Whether the progress sleeper (progress_sleeper.h) sleeps, if there has to be one.
CLUMP_HOST_API bool progress_sleeper_sleeps() noexcept;

namespace detail {
/// What the calling thread of control says about its wait; its type belongs to core.
CLUMP_HOST_API extern constinit thread_local const void* innermost_wait;
/// The same of another thread.
const void* innermost_wait_of(const void* thread_pointer);
/// Returns when there is no WorldStop.
void stay_while_stopped() noexcept;
bool is_stopped() noexcept;
}  // namespace detail

/// A thread that has slept for so long is said to sleep for long.
inline constexpr timespec kUntilLong{0, 50'000'000};
/// Sets the function that is called when a thread is going to sleep for long: most threads that sleep are
/// woken sooner. Called by that thread, which counts as asleep already.
CLUMP_HOST_API void on_long_sleep(void (*listener)());
void sleeps_for_long();

}  // namespace clump::fiber
