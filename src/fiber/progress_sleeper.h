// The progress sleeper of a process without workers: the one kernel thread that sleeps where other processes
// ring (base/bell.h), and takes in the messages that come for all ranks of the process.
//
// The other kernel threads sleep for themselves. When the progress sleeper has what it waits for, it wakes
// one of them, which takes its place.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/bell.h"

namespace clump::fiber {

class Waiter;

namespace progress_sleeper {

/// Whether there is anything to look out for: there are other processes, and no workers.
bool is_kept() noexcept;
/// From now on. Before anything waits.
void keep(base::Bell& bell) noexcept;

/// `waiter` is going to sleep: true if it is the watcher now. end() must follow.
bool begin(Waiter& waiter);
/// The watcher's sleep, while `state` is `asleep`; takes in what comes.
void sleep_while(const std::atomic<std::uint32_t>& state, std::uint32_t asleep);
/// Whether the watcher sleeps: it does nothing before it has counted its wake (awake_threads.h).
bool is_asleep() noexcept;
/// The watcher's `state` has changed, with seq_cst: it looks at it.
void wake_up() noexcept;
void end(Waiter& waiter, bool watched);

}  // namespace progress_sleeper
}  // namespace clump::fiber
