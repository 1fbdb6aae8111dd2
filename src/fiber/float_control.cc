#include "fiber/float_control.h"

#include <cfloat>

namespace clump::fiber::detail {

// The numbers of bits are those of MXCSR.
void trap_float_exceptions([[maybe_unused]] std::uint32_t exceptions) noexcept {
#if defined(__x86_64__)
  const volatile double zero = 0, one = 1, three = 3, least = DBL_MIN, most = DBL_MAX;
  volatile double result;
  const auto met = [exceptions](unsigned bit) { return (exceptions >> bit & 1) != 0; };
  if (met(0)) result = zero / zero;
  if (met(1)) result = least / 2 * one;
  if (met(2)) result = one / zero;
  if (met(3)) result = most * most;
  if (met(4)) result = least * least;
  if (met(5)) result = one / three;
  static_cast<void>(result);
#endif
}

}  // namespace clump::fiber::detail
