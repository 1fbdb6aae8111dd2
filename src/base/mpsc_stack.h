// A list that any thread pushes to, and of which one takes all at once, the oldest first.
#pragma once

#include <atomic>

namespace clump::base {

template <auto kNext>
class MpscStack;

/// Intrusive: T has a pointer `kNext` for it. An object is in one such list at a time. All zero: empty.
template <typename T, T* T::*kNext>
class MpscStack<kNext> {
 public:
  bool empty() const noexcept { return newest_.load(std::memory_order_relaxed) == nullptr; }
  /// `order` is that of the push: at least release, which pairs with the acquire in take_all().
  void push(T& one, std::memory_order order = std::memory_order_release) noexcept {
    T* newest = newest_.load(std::memory_order_relaxed);
    do {
      one.*kNext = newest;
    } while (!newest_.compare_exchange_weak(newest, &one, order, std::memory_order_relaxed));
  }
  /// All that are in it, linked by `kNext`, the oldest first; null if there are none. Any thread.
  T* take_all() noexcept {
    if (empty()) return nullptr;
    T* oldest = nullptr;
    for (T* one = newest_.exchange(nullptr, std::memory_order_acquire); one != nullptr;) {
      T* const next = one->*kNext;
      one->*kNext = oldest;
      oldest = one;
      one = next;
    }
    return oldest;
  }

 private:
  std::atomic<T*> newest_{nullptr};
};

}  // namespace clump::base
