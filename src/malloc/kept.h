// Blocks of 16 to 32 MiB that a rank has freed: temporary arrays that come and go. mimalloc gives them back
// to the kernel at once, and the next one takes all its pages anew; the C library's allocator keeps blocks up
// to 32 MiB, and is ten times as fast there. A rank's main thread keeps two, which is what the C library
// keeps at the end of an arena.
#pragma once

#include <mimalloc.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace clump::kept {

/// All of them are this large, so that one fits for another. What is not touched takes no memory.
inline constexpr std::size_t kLeast = std::size_t{16} << 20, kMost = std::size_t{32} << 20;

/// mimalloc's segments begin at multiples of this, and a block that has one to itself lies at a certain
/// distance from there.
inline constexpr std::uintptr_t kSegment = std::size_t{32} << 20;
inline constinit std::atomic<std::uintptr_t> place{0};

struct Blocks {
  bool wanted = false;  ///< the thread is a rank's main thread
  void* all[2] = {};
};
extern constinit thread_local Blocks mine __attribute__((tls_model("initial-exec")));

inline bool fits(std::size_t bytes) { return bytes > kLeast && bytes <= kMost; }

[[gnu::noinline]] inline void* take() {
  for (void*& block : mine.all) {
    if (block != nullptr) return std::exchange(block, nullptr);
  }
  void* const made = mi_malloc(kMost);
  // relaxed: always the same value
  if (made != nullptr)
    place.store(reinterpret_cast<std::uintptr_t>(made) % kSegment, std::memory_order_relaxed);
  return made;
}

/// Frees what the calling thread keeps, and keeps nothing from now on.
inline void give_up() {
  mine.wanted = false;
  for (void*& block : mine.all)
    if (block != nullptr) mi_free(std::exchange(block, nullptr));
}

/// Also true for a few others.
inline bool may_be_one(const void* block) {
  return reinterpret_cast<std::uintptr_t>(block) % kSegment == place.load(std::memory_order_relaxed) &&
         block != nullptr;
}

/// False if it is none, or there are enough.
[[gnu::noinline]] inline bool keep(void* block) {
  const std::size_t bytes = mine.wanted ? mi_usable_size(block) : 0;
  if (bytes < kMost || bytes >= kMost + kMost / 8) return false;
  for (void*& room : mine.all) {
    if (room != nullptr) continue;
    room = block;
    return true;
  }
  return false;
}

}  // namespace clump::kept
