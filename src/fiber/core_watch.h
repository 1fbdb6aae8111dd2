// An observer of how long threads of control that could run had no core, because their worker ran other
// fibers (mpiexec --profile). For kernel threads the kernel knows this.
#pragma once

#include <cstdint>

#include "base/types.h"

namespace clump::fiber {

class CoreWatch {
 public:
  /// The watcher's clock. Any thread.
  virtual std::uint64_t now() const noexcept = 0;
  /// Called by a fiber of a watched rank (rank_callbacks.h) when it goes on. It could have gone on at
  /// `since`, a time by now().
  virtual void had_no_core(std::uint64_t since) noexcept = 0;

  /// The watcher; null: none. Set once, before the first rank is watched.
  CLUMP_HOST_API static CoreWatch* watch;

 protected:
  ~CoreWatch() = default;
};

}  // namespace clump::fiber
