// Intrusive reference counting for the objects behind MPI handles: the handle, and everything that still uses
// the object, hold a Ref.
#pragma once

#include <atomic>
#include <utility>

namespace clump::base {

class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  /// From here on Refs to it are not counted: for what nearly every operation uses and its owner outlives.
  /// With false its owner, who must hold the only Ref that is left, has them counted again.
  void outlive_references(bool outlive) const {
    references_.store(outlive ? kNotCounted : 1, std::memory_order_relaxed);
  }

 protected:
  virtual ~RefCounted() = default;

 private:
  template <typename T>
  friend class Ref;
  static constexpr int kNotCounted = -1;
  bool counted() const { return references_.load(std::memory_order_relaxed) != kNotCounted; }
  mutable std::atomic<int> references_{0};
};

/// Owns one reference to a T (or to none). Copies may be made and dropped by any thread.
template <typename T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object) { acquire(); }
  Ref(const Ref& other) : object_(other.object_) { acquire(); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <typename U>
  Ref(const Ref<U>& other) : object_(other.get()) {  // NOLINT: as between pointers
    acquire();
  }
  template <typename U>
  Ref(Ref<U>&& other) noexcept : object_(other.release_to_owner()) {}  // NOLINT: as between pointers
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { release(); }

  /// For one that owns none.
  void fill(T* object) {
    object_ = object;
    acquire();
  }

  T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

  /// Hands the reference to the caller, for places that keep raw pointers (handle tables). adopt() takes it
  /// back.
  T* release_to_owner() { return std::exchange(object_, nullptr); }
  static Ref adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }

 private:
  void acquire() {
    if (object_ != nullptr && object_->counted())
      object_->references_.fetch_add(1, std::memory_order_relaxed);
  }
  void release() {
    // acq_rel: the last one sees all that others did to the object before they dropped their references.
    if (object_ != nullptr && object_->counted() &&
        object_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete object_;
  }
  T* object_ = nullptr;
};

template <typename T, typename... Args>
Ref<T> make_ref(Args&&... args) {
  return Ref<T>(new T(std::forward<Args>(args)...));
}

}  // namespace clump::base
