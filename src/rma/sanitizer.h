// What ThreadSanitizer is told of windows, where the program is built with it (-fsanitize=thread). The
// library is not, so the sanitizer does not see what orders the loads and stores of ranks that are threads of
// one process.
#pragma once

extern "C" {
// NOLINTBEGIN: the sanitizer's names; null without it
[[gnu::weak]] void __tsan_acquire(void* object);
[[gnu::weak]] void __tsan_release(void* object);
// NOLINTEND
}

namespace clump::rma {

/// What the calling thread has done is ordered before all that threads do after a later call with this
/// object.
inline void tell_sanitizer_of_order(const void* object) {
  if (__tsan_release == nullptr) [[likely]]
    return;
  __tsan_release(const_cast<void*>(object));
  __tsan_acquire(const_cast<void*>(object));
}

}  // namespace clump::rma
