// An owned object that one thread sets while others look for it.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace clump::base {

/// Like std::unique_ptr, but any thread may look while another one sets it; a thread that finds the object
/// finds it whole. Set once at most, by a thread at a time. Moved, and destroyed, only when no other thread
/// looks.
template <typename T>
class Published {
 public:
  Published() = default;
  explicit Published(std::unique_ptr<T> object) noexcept : object_(object.release()) {}
  Published(Published&& other) noexcept
      : object_(other.object_.exchange(nullptr, std::memory_order_relaxed)) {}
  Published& operator=(std::unique_ptr<T> object) noexcept {
    object_.store(object.release(), std::memory_order_release);  // release: pairs with the acquire in get()
    return *this;
  }
  ~Published() { delete object_.load(std::memory_order_relaxed); }
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;
  Published& operator=(Published&&) = delete;

  T* get() const noexcept { return object_.load(std::memory_order_acquire); }
  T* operator->() const noexcept { return get(); }
  T& operator*() const noexcept { return *get(); }
  bool operator==(std::nullptr_t) const noexcept { return get() == nullptr; }

 private:
  std::atomic<T*> object_{nullptr};
};

}  // namespace clump::base
