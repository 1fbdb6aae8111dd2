#include "record/core_delay.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "base/core_delay.h"

namespace clump::record {

std::uint64_t CoreDelay::look(bool& is_told) {
  const std::optional<std::chrono::nanoseconds> time = base::read_core_delay();
  is_told = time.has_value();
  if (!is_told) return 0;
  const auto now = static_cast<std::uint64_t>(time->count());
  const long thread = ::syscall(SYS_gettid);
  const bool same = std::exchange(thread_, thread) == thread;
  const std::uint64_t before = std::exchange(nanoseconds_, now);
  return same && now > before ? now - before : 0;
}

}  // namespace clump::record
