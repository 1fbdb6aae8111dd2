// Memory for tables that change in functions that POSIX lets a signal handler call: see mapped.h.
#pragma once

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cstddef>
#include <new>
#include <vector>

namespace clump::image {

/// Blocks of memory that come from the kernel, and are used again when they are freed. Takes no lock: the
/// lock of the tables guards the heap, and no handler runs while it is held. `Tag` names these tables: each
/// heap has one lock.
template <typename Tag>
class MappedHeap {
 public:
  static void* take(std::size_t bytes) {
    const unsigned power = power_of(bytes);
    if (power > kLargest) return map(bytes);
    if (Free*& first = free_[power]; first != nullptr) {
      Free* const block = first;
      first = block->next;
      return block;
    }
    const std::size_t size = std::size_t{1} << power;
    if (left_ < size) {
      next_ = static_cast<std::byte*>(map(kChunk));  // what was left of the last one is never used
      left_ = kChunk;
    }
    std::byte* const block = next_;
    next_ += size;
    left_ -= size;
    return block;
  }
  static void give(void* block, std::size_t bytes) noexcept {
    const unsigned power = power_of(bytes);
    if (power > kLargest) {
      ::syscall(SYS_munmap, block, bytes);
      return;
    }
    auto* const freed = static_cast<Free*>(block);
    freed->next = free_[power];
    free_[power] = freed;
  }

 private:
  struct Free {
    Free* next;
  };
  static constexpr unsigned kSmallest = 6, kLargest = 15;
  static constexpr std::size_t kChunk = std::size_t{64} << 10;

  static unsigned power_of(std::size_t bytes) {
    const auto power = static_cast<unsigned>(std::bit_width(bytes > 0 ? bytes - 1 : 0));
    return power < kSmallest ? kSmallest : power;
  }
  static void* map(std::size_t bytes) {
    const long made =
        ::syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == -1) throw std::bad_alloc();
    return reinterpret_cast<void*>(made);
  }

  static inline constinit Free* free_[kLargest + 1] = {};
  static inline constinit std::byte* next_ = nullptr;
  static inline constinit std::size_t left_ = 0;
};

/// The heap for the containers of the C++ library.
template <typename T, typename Tag>
struct MappedAllocator {
  using value_type = T;
  template <typename U>
  struct rebind {
    using other = MappedAllocator<U, Tag>;
  };

  MappedAllocator() = default;
  template <typename U>
  MappedAllocator(const MappedAllocator<U, Tag>&) noexcept {}
  T* allocate(std::size_t count) { return static_cast<T*>(MappedHeap<Tag>::take(count * sizeof(T))); }
  void deallocate(T* block, std::size_t count) noexcept { MappedHeap<Tag>::give(block, count * sizeof(T)); }
  bool operator==(const MappedAllocator&) const { return true; }
};

template <typename T, typename Tag>
using MappedVector = std::vector<T, MappedAllocator<T, Tag>>;

}  // namespace clump::image
