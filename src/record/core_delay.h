// How long a kernel thread could have run and had no core, as the kernel counts it: the second number of
// /proc/thread-self/schedstat. A look costs some three microseconds, so it is taken where much time has gone
// by.
#pragma once

#include <cstdint>

namespace clump::record {

class CoreDelay {
 public:
  /// Nanoseconds since the last look, if that was at the same kernel thread; otherwise 0. `is_told` becomes
  /// false where the kernel does not count.
  std::uint64_t look(bool& is_told);

 private:
  long thread_ = 0;
  std::uint64_t nanoseconds_ = 0;
};

}  // namespace clump::record
