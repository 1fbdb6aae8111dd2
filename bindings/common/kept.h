// Memory for what a callback of the program needs to be called with its own arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace clump::facade {

/// A copy of `value`, which the caller frees; null if there is no memory.
template <typename T>
T* kept(const T& value) {
  auto* const place = static_cast<T*>(std::malloc(sizeof(T)));
  if (place != nullptr) *place = value;
  return place;
}

/// Copies of values, one for all that are equal, which live as long as the rank: of those whose last use MPI
/// does not tell. So what a program makes and frees again and again takes memory once. Any thread of the rank
/// may call it: its list only grows, and a copy is not changed.
template <typename T>
class KeptOnce {
 public:
  /// Null if there is no memory.
  T* copy_of(const T& value) {
    Node** const first = &buckets_[hash(value) % kBuckets];
    Node* made = nullptr;
    // acquire: pairs with the release of the thread that has put the copy there
    Node* head = __atomic_load_n(first, __ATOMIC_ACQUIRE);
    for (;;) {
      for (Node* node = head; node != nullptr; node = node->next) {
        if (std::memcmp(&node->value, &value, sizeof value) != 0) continue;
        std::free(made);
        return &node->value;
      }
      if (made == nullptr) made = static_cast<Node*>(std::malloc(sizeof(Node)));
      if (made == nullptr) return nullptr;
      *made = {value, head};
      if (__atomic_compare_exchange_n(first, &head, made, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
        return &made->value;
    }
  }

 private:
  static_assert(std::has_unique_object_representations_v<T>, "equal values have equal bytes");
  struct Node {
    T value;
    Node* next;
  };
  static constexpr std::size_t kBuckets = 64;
  static std::size_t hash(const T& value) {
    std::uintptr_t words[sizeof(T) / sizeof(std::uintptr_t)];
    std::memcpy(words, &value, sizeof words);
    std::uintptr_t all = 0;
    for (const std::uintptr_t word : words) all = (all ^ word) * 0x9e3779b97f4a7c15u;
    return all >> 32;
  }
  Node* buckets_[kBuckets] = {};
};

}  // namespace clump::facade
