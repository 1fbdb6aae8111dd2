// The first blocks of a rank: what its libraries and MPI_Init allocate, some 10 KiB, and 72 KiB that the C++
// library asks for and hardly any program uses. mimalloc would lay them out by size, on 30 pages and more;
// here they lie side by side, so that a rank that allocates nothing else costs three. They are never used
// again.
//
// One chunk of memory for each rank, of one stretch of addresses. A rank's main thread takes blocks from its
// own; any thread may free them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace clump::young {

/// What a block of the C library's malloc() is aligned to; its size is written in front of it.
inline constexpr std::size_t kUnit = 16;

struct Chunk {
  char* next = nullptr;
  std::size_t left = 0;
};
extern constinit thread_local Chunk mine __attribute__((tls_model("initial-exec")));
extern constinit std::uintptr_t begin;
extern constinit std::size_t bytes;

inline bool holds(const void* block) { return reinterpret_cast<std::uintptr_t>(block) - begin < bytes; }

inline std::size_t size_of(const void* block) {
  return *reinterpret_cast<const std::size_t*>(static_cast<const char*>(block) - kUnit);
}

/// A block of zeros; null if the calling thread has no chunk, or no room in it. `alignment` is a power of
/// two.
inline void* take(std::size_t wanted, std::size_t alignment = kUnit) {
  if (wanted >= mine.left) [[likely]]
    return nullptr;
  const auto next = reinterpret_cast<std::uintptr_t>(mine.next);
  // At least a unit, so that the address of no block is the end of the chunk.
  const std::size_t size = wanted == 0 ? kUnit : (wanted + kUnit - 1) / kUnit * kUnit;
  const std::size_t skipped = (0 - (next + kUnit)) & (alignment - 1);
  if (skipped >= mine.left || skipped + kUnit + size > mine.left) return nullptr;
  char* const block = mine.next + skipped + kUnit;
  *reinterpret_cast<std::size_t*>(block - kUnit) = size;
  mine.next = block + size;
  mine.left -= skipped + kUnit + size;
  return block;
}

}  // namespace clump::young

extern "C" {
/// Makes room for so many ranks. Once, before the next is called, by the main thread of the first rank in
/// libclump_host.so.
__attribute__((visibility("default"))) void clump_malloc_prepare(std::size_t ranks);
/// The calling thread is the main thread of a rank; ranks are numbered from 0. By libclump_host.so.
__attribute__((visibility("default"))) void clump_malloc_begin(std::size_t rank);
/// The calling thread, which may be in no function of malloc()'s, allocates little from now on: memory that
/// it has freed goes back to the kernel, and what is left of its heap to other threads. By libclump_host.so.
__attribute__((visibility("default"))) void clump_malloc_end();
}
