// Signals of a rank: disposition, blocked and pending signals, timers. Ranks of one process share the
// kernel's, so the kernel has handlers of ours, and each rank has a table of what it wants.
// docs/decisions/028-signals-per-rank.md says how signals come to a rank. For the runtime and for the files
// of this layer that interpose what programs call.
//
// A plain process keeps the kernel's own signals: there begin() is not called, and all of this is off.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>

#include "base/types.h"
#include "fiber/identity.h"

namespace clump::image::signals {

/// A set of signals as the kernel has it.
using Set = std::uint64_t;
constexpr Set bit_of(int number) { return Set{1} << (number - 1); }

/// What the runtime does for this layer.
struct Runtime {
  int ranks = 0;  ///< of this process
  /// The i-th of them; null if it has ended.
  fiber::Identity* (*rank)(int i) noexcept = nullptr;
  /// The same, whether it has ended or not.
  fiber::Identity& (*any_rank)(int i) noexcept = nullptr;
  /// Of its main thread: what has lent its stack to the fiber, and sleeps until the process ends.
  pid_t (*kernel_thread)(const fiber::Identity& rank) noexcept = nullptr;
  /// Whether this is the number of one of the job's processes on this node whose ranks have images.
  bool (*is_of_job)(pid_t process) noexcept = nullptr;
  /// The kernel's handler of faults; calls take_fault() first.
  void (*on_fault)(int, siginfo_t*, void*) = nullptr;
  /// The default action of a signal ends `rank`, and with it the job. `here`: it is the calling thread that
  /// has caused the signal, and its stack tells why; from `context` on, or null.
  void (*end_rank)(const fiber::Identity& rank, int number, const siginfo_t& info, bool here,
                   const void* context) = nullptr;
  bool quit_asks = false;  ///< SIGQUIT from outside is a question of mpiexec's, and no end
};

/// Ranks have signals of their own from here on. After capture(), before the program's constructors.
void begin(const Runtime& runtime);
/// From here on threads can be made; starts one where the native rank's constructors have asked for signals.
/// Before the first rank's main().
void allow_threads();
/// The calling thread is the main thread of its rank, at its final place.
void begin_main_thread();
/// The calling thread, which belongs to a rank, has been made by a thread that blocks `blocked`.
void begin_thread();
/// It ends.
void end_thread() noexcept;
/// In the child of a fork(): the kernel gets what the rank had. Async-signal-safe.
void become_process() noexcept;

/// While one lives, the kernel ignores what the calling rank ignores, so that a program which it starts by
/// posix_spawn() inherits that. Others of the process may lose such a signal that comes in this moment.
class WithIgnoredOfRank {
 public:
  WithIgnoredOfRank() noexcept;
  ~WithIgnoredOfRank();
  WithIgnoredOfRank(const WithIgnoredOfRank&) = delete;
  WithIgnoredOfRank& operator=(const WithIgnoredOfRank&) = delete;

 private:
  Set ignored_ = 0;
};

/// What comes for the calling rank from outside of the process goes to `successor`, which runs in its place.
void pass_on_to(pid_t successor);

/// A fault, or a signal that the C library's abort() has sent: runs the rank's handler. False if it has none
/// (or has returned to abort()): then the rank ends. `overflow`: its stack is used up. By the kernel's
/// handler of faults.
bool take_fault(int number, siginfo_t* info, void* context, bool overflow);

/// Whether any rank has a timer, which may send a signal. Any thread.
bool any_timer() noexcept;

/// Whether the caller is a thread of a rank whose signals are ours to keep.
bool is_ours() noexcept;
/// sigaction() of a rank: 0, or an error number.
int set_action(int number, const struct sigaction* wanted, struct sigaction* before);

/// The kernel's own actions, past those of ranks. The C library's results.
int kernel_action(int number, const struct sigaction* wanted, struct sigaction* before) noexcept;

}  // namespace clump::image::signals
