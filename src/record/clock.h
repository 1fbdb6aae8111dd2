// The clock of records: the processor's counter, which costs a third of a system clock. All processes of a
// node read the same one; how many ticks a nanosecond has is found out by who reads the records, who looks at
// both clocks before the job and after it.
#pragma once

#include <cstdint>
#include <ctime>

#ifdef __x86_64__
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace clump::record {

inline std::uint64_t system_nanoseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// Whether the counter runs evenly, and the same on all cores.
inline bool counter_is_steady() {
#ifdef __x86_64__
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d >> 8 & 1) != 0;
#elif defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

/// `by_counter` is counter_is_steady(), found out once.
[[gnu::always_inline]] inline std::uint64_t ticks(bool by_counter) {
  if (!by_counter) [[unlikely]]
    return system_nanoseconds();
#ifdef __x86_64__
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t now = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(now));
  return now;
#else
  return system_nanoseconds();
#endif
}

}  // namespace clump::record
