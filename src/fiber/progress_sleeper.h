// The progress sleeper of a process without workers: the one kernel thread that sleeps on the bell that other
// processes ring (base/bell.h), and takes in the messages that come for all ranks of the process.
//
// The other kernel threads sleep on their own words. When the progress sleeper has what it waits for, it
// wakes one of them, which takes its place.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/bell.h"

namespace clump::fiber {

class Waiter;

namespace progress_sleeper {

/// Whether there has to be one: there are other processes, and no workers.
bool is_kept() noexcept;
/// From now on there is one. Before anything waits.
void keep(base::Bell& bell) noexcept;

/// Called when `waiter` is going to sleep. True: it is the progress sleeper now. end() must follow in both
/// cases.
bool begin(Waiter& waiter);
/// Sleeps as the progress sleeper while `state` is `asleep`; takes in what comes.
void sleep_while(const std::atomic<std::uint32_t>& state, std::uint32_t asleep);
/// Whether the progress sleeper sleeps. It does nothing before it has counted its wake (awake_threads.h).
bool is_asleep() noexcept;
/// Called after the progress sleeper's `state` was changed, with seq_cst: wakes it, so that it checks the
/// state.
void wake_up() noexcept;
void end(Waiter& waiter, bool watched);

}  // namespace progress_sleeper
}  // namespace clump::fiber
