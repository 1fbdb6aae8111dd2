// Slots: memory for objects of one kind, taken and given back without locks.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <new>

namespace clump::fiber {

/// Memory for kMost objects that never moves and is never unmapped. Any thread may take and give back, also a
/// signal handler that interrupts a thread in one of these calls. To be zero-initialised.
template <typename T, std::uint32_t kMost>
class Slots {
 public:
  /// Allocates the memory. Before the first take(), by one thread. Without it, or if there is no memory,
  /// there are no slots.
  void prepare() {
    void* memory = ::mmap(nullptr, sizeof(Slot) * kMost, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) slots_ = static_cast<Slot*>(memory);
  }

  /// Takes a slot; null if all are in use.
  T* take() {
    if (slots_ == nullptr) return nullptr;
    // acquire: pairs with the release in give_back(), so that `next` is the value written there.
    std::uint64_t head = idle_.load(std::memory_order_acquire);
    while (index_in(head) != 0) {
      Slot& first = slots_[index_in(head) - 1];
      const std::uint32_t next = first.next.load(std::memory_order_relaxed);
      if (idle_.compare_exchange_weak(head, with_index(head, next), std::memory_order_acquire))
        return new (&first.object) T;
    }
    std::uint32_t fresh = used_.load(std::memory_order_relaxed);
    do {
      if (fresh == kMost) return nullptr;
    } while (!used_.compare_exchange_weak(fresh, fresh + 1, std::memory_order_relaxed));
    return new (&slots_[fresh].object) T;
  }

  void give_back(T* object) {
    auto* const slot = reinterpret_cast<Slot*>(object);
    const auto index = static_cast<std::uint32_t>(slot - slots_) + 1;
    std::uint64_t head = idle_.load(std::memory_order_relaxed);
    do {
      slot->next.store(index_in(head), std::memory_order_relaxed);
      // release: pairs with the acquire in take().
    } while (!idle_.compare_exchange_weak(head, with_index(head, index), std::memory_order_release,
                                          std::memory_order_relaxed));
  }

 private:
  struct Slot {
    T object;  ///< first, so that a T* from here is its Slot*
    std::atomic<std::uint32_t> next;
  };
  // The upper half counts changes: a slot that was taken and given back meanwhile is not mistaken for one
  // that has stayed.
  static std::uint32_t index_in(std::uint64_t head) { return static_cast<std::uint32_t>(head); }
  static std::uint64_t with_index(std::uint64_t head, std::uint32_t index) {
    return ((head >> 32) + 1) << 32 | index;
  }

  Slot* slots_ = nullptr;
  std::atomic<std::uint32_t> used_{0};
  std::atomic<std::uint64_t> idle_{0};  ///< 1 + the number of the first idle slot; 0: none
};

}  // namespace clump::fiber
