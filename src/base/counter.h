// A number that tools read (MPI-5.0 section 15.3.7) and that costs its writer nothing to speak of.
#pragma once

#include <atomic>
#include <cstdint>

namespace clump::base {

/// add() is a load, an addition and a store, no atomic operation: of two threads that add at the same moment
/// one may be lost, so a counter belongs to one thread of control, or to a lock that its writer holds anyway.
/// Any thread may read it.
class Counter {
 public:
  // relaxed: nothing else is told by it.
  [[gnu::always_inline]] void add(std::uint64_t more = 1) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace clump::base
