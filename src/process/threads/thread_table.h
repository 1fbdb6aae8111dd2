// Where a thread that joins another one finds it. For joining.cc.
#pragma once

#include <pthread.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace clump::image {

/// Finds an object of a running thread by its pthread_t, in a time that does not depend on how many there
/// are. A thread adds and removes its object without taking memory; the thread that makes it has made room.
/// One lock of the user's guards all functions but make().
///
/// `Object` has a thread_, and for the table an Object* next_ and an Object** link_, both null at first.
template <typename Object>
class ThreadTable {
 public:
  using Places = std::unique_ptr<Object*[]>;

  /// How many more places so many threads at the same time need; 0: none.
  std::size_t wanted(std::size_t threads) const { return threads <= count_ ? 0 : std::bit_ceil(2 * threads); }
  /// Empty if there is no memory: then the table stays as it is, and works.
  static Places make(std::size_t wanted) { return Places(new (std::nothrow) Object*[wanted]()); }
  /// Takes these places, of which make() has made `count`. Returns those that it does not need, to be freed
  /// without the lock.
  Places grow(Places fresh, std::size_t count) {
    if (!fresh || count <= count_) return fresh;
    Object** const old = places_;
    const std::size_t old_count = std::exchange(count_, count);
    places_ = fresh.get();
    for (std::size_t i = 0; i < old_count; ++i)
      for (Object* one = old[i]; one != nullptr;) add(*std::exchange(one, one->next_));
    std::swap(owned_, fresh);
    return fresh;
  }

  void add(Object& object) {
    Object*& first = places_[place_of(object.thread_)];
    object.next_ = first;
    object.link_ = &first;
    if (first != nullptr) first->link_ = &object.next_;
    first = &object;
  }
  /// Does nothing with an object that was never added.
  static void remove(Object& object) {
    if (object.next_ != nullptr) object.next_->link_ = object.link_;
    if (object.link_ != nullptr) *object.link_ = object.next_;
  }
  /// Null: there is none.
  Object* find(pthread_t thread) const {
    Object* found = places_[place_of(thread)];
    while (found != nullptr && !(found->thread_ == thread)) found = found->next_;
    return found;
  }

 private:
  static constexpr std::size_t kFirst = 64;

  /// The upper bits of a product depend on all bits of the address, which lie at equal distances (Knuth, The
  /// Art of Computer Programming, volume 3, section 6.4).
  template <typename Thread>
  std::size_t place_of(const Thread& thread) const {
    constexpr std::uint64_t kGolden = 0x9e37'79b9'7f4a'7c15;
    const auto number = static_cast<std::uint64_t>(thread);
    return static_cast<std::size_t>(number * kGolden >> (64 - std::countr_zero(count_)));
  }

  Object* first_places_[kFirst] = {};
  Object** places_ = first_places_;
  std::size_t count_ = kFirst;  // a power of two
  Places owned_;                // null: those of first_places_
};

}  // namespace clump::image
