// Exploration (mpiexec --seed): whatever the standard leaves open, and speed decides otherwise, is drawn from
// a seed: which fiber runs next, what arrives when, which of several things that are there is found. So the
// same seed gives the same run of a deterministic program, and many seeds give many different ones
// (docs/decisions/020-exploration.md).
//
// There is one worker, and nothing of what happens depends on the clock or on other kernel threads. All that
// stands here is for its worker thread alone, and so for fibers, but for begin() and now().
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace clump::fiber {

struct Fiber;
struct Worker;

namespace exploration {

/// Whether this process explores: for good, and set before anything runs.
CLUMP_HOST_API extern constinit bool is_on;

/// `fibers` will come, and none runs before all are there. Before there are workers.
CLUMP_HOST_API void begin(std::uint64_t seed, int fibers);

/// What takes steps in turn with the fibers, such as messages that are on their way from one rank to another.
class Mover {
 public:
  /// Takes one step; never waits. False: nothing is left to do, until it is added again.
  virtual bool step() = 0;

 protected:
  ~Mover() = default;

 private:
  friend class Explorer;
  std::uint64_t priority_ = 0;  // 0: it was never added
};
/// It has something to do.
CLUMP_HOST_API void add(Mover& mover);

// What is left open. The answers are drawn.

/// One of so many: 0 to count - 1.
CLUMP_HOST_API std::size_t choose(std::size_t count);
/// Whether a message that may be copied leaves its sender before there is a receive for it.
CLUMP_HOST_API bool sends_early();
/// Whether a call that looks once, and does not wait, does not see yet what is there.
CLUMP_HOST_API bool overlooks();
/// The calling fiber begins something that takes an unknown time: others may run first.
CLUMP_HOST_API void may_lose_turn();

/// The time, in which everything takes as long as there are steps in it. What asks for it goes on a little.
CLUMP_HOST_API std::chrono::steady_clock::time_point now();

// Inside the fiber layer.

/// The fiber that runs next at the only worker; null if none can. Inside a section.
Fiber* next(Worker& worker);
/// `self` has polled for nothing, or asks for it: all others run first, sooner or later.
void step_aside(Fiber& self);
void sleep_until(Fiber& self, std::chrono::steady_clock::time_point when);

}  // namespace exploration
}  // namespace clump::fiber
