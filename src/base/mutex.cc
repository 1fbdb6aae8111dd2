#include "base/mutex.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace clump::base {

namespace {

constexpr int kSpins = 200;   // longer than any such section takes
constexpr int kYields = 100;  // then the holder's core is wanted by somebody who does not give it away
constexpr long kSleepNanoseconds = 50'000;

void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

// The system calls are made directly: the functions of the C library let another fiber run, which might want
// the same lock, and would not find the holder any faster.
void ShortMutex::wait_a_moment(int moments_before) noexcept {
  if (moments_before < kSpins) {
    pause_cpu();
  } else if (moments_before < kSpins + kYields) {
    syscall(SYS_sched_yield);
  } else {
    const timespec nap{0, kSleepNanoseconds};
    syscall(SYS_nanosleep, &nap, nullptr);
  }
}

}  // namespace clump::base
