// Cache lines that will be written soon.
#pragma once

namespace clump::base {

/// Fetches a line so that the caller's core has it alone, and goes on. For a line that others write it is a
/// transfer each time, so only for one that is the caller's turn to write next.
inline void fetch_for_writing(void* line) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<char*>(line)));  // __builtin_prefetch is one for reading
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace clump::base
