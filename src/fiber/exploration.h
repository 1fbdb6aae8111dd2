// Exploration (mpiexec --seed): everything that the standard leaves open, and that speed decides otherwise,
// is drawn from a seed: which fiber runs next, what arrives when, which of several matching messages is
// found. So the same seed gives the same run of a deterministic program, and many seeds give many different
// runs (docs/decisions/020-exploration.md).
//
// There is one worker, and nothing depends on the clock or on other kernel threads. All functions here,
// except begin() and now(), are called only by the worker thread, and so by fibers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace clump::fiber {

struct Fiber;
struct Worker;

namespace exploration {

/// Whether this process explores. Set before anything runs, and not changed any more.
CLUMP_HOST_API extern constinit bool is_on;

/// Begins exploration with `fibers` fibers, none of which runs before all have come. Before there are
/// workers.
CLUMP_HOST_API void begin(std::uint64_t seed, int fibers);

/// Something that takes steps in turn with the fibers, such as the messages on their way from one rank to
/// another.
class Mover {
 public:
  /// Takes one step; never waits. False: there is nothing left to do until it is added again.
  virtual bool step() = 0;

 protected:
  ~Mover() = default;

 private:
  friend class Explorer;
  std::uint64_t priority_ = 0;  // 0: it was never added
};
/// Adds a mover that has something to do.
CLUMP_HOST_API void add(Mover& mover);

// What the standard leaves open. The answers are drawn.

/// A number from 0 to count - 1.
CLUMP_HOST_API std::size_t choose(std::size_t count);
/// Whether a message that may be copied leaves its sender before there is a receive for it.
CLUMP_HOST_API bool sends_early();
/// Whether a call that looks once, and does not wait, overlooks what is there.
CLUMP_HOST_API bool overlooks();
/// Called when the calling fiber begins something that takes an unknown time: others may run first.
CLUMP_HOST_API void may_lose_turn();

/// The time of the run: it grows with the number of steps, and a little with each call of this function.
CLUMP_HOST_API std::chrono::steady_clock::time_point now();

// Inside the fiber layer.

/// The fiber that runs next at the only worker; null if none can run. Inside a section.
Fiber* next(Worker& worker);
/// Called when `self` has polled in vain, or asks for it: all others run first, sooner or later.
void step_aside(Fiber& self);
void sleep_until(Fiber& self, std::chrono::steady_clock::time_point when);

}  // namespace exploration
}  // namespace clump::fiber
