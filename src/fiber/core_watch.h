// Who wants to know for how long threads of control could go on and had no core, because their worker ran
// other fibers meanwhile (mpiexec --profile). Of kernel threads the kernel knows.
#pragma once

#include <cstdint>

#include "base/types.h"

namespace clump::fiber {

class CoreWatch {
 public:
  /// The watcher's clock. Any thread.
  virtual std::uint64_t now() const noexcept = 0;
  /// The calling fiber, of a rank that is watched (rank_callbacks.h), goes on. It could have since then, by
  /// now().
  virtual void had_no_core(std::uint64_t since) noexcept = 0;

  /// Null: none. Set once, before the first rank is watched.
  CLUMP_HOST_API static CoreWatch* watch;

 protected:
  ~CoreWatch() = default;
};

}  // namespace clump::fiber
