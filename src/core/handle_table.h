// Handles: the values that the user holds instead of pointers.
//
// A handle of the ABI is pointer-sized, but its value is a small int here. Values below 4096 are the ABI's
// predefined handles. Others are a slot of a table of the rank that made the handle, with a generation in the
// bits above. So a handle that was freed, that belongs to another table or that was never written is
// recognised, and MPI_Comm_toint and its family are the identity.
//
//   bit 30..24 generation | bit 23..0 slot + 4096
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>
#include <new>
#include <type_traits>
#include <vector>

#include "base/mutex.h"

namespace clump::core {

inline constexpr std::intptr_t kPredefinedHandles = 4096;

template <typename Handle>
std::intptr_t value_of(Handle handle) {
  return reinterpret_cast<std::intptr_t>(handle);
}
template <typename Handle>
Handle handle_of(std::intptr_t value) {
  return reinterpret_cast<Handle>(value);
}

/// Maps handle values to objects of one kind. Does not own them. find() takes no lock; slots never move.
template <typename T>
class HandleTable {
 private:
  struct Slot {
    std::atomic<T*> object{nullptr};
    /// Written with the table's lock, or by the rank's only thread. relaxed: another thread reads an old one
    /// only for a handle that is freed meanwhile, which is an error of the program.
    std::atomic<std::int32_t> generation{0};
    std::uint32_t next_free = 0;
  };

 public:
  HandleTable() = default;
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;
  ~HandleTable() {
    for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
  }

  /// The object of a handle value; null if there is none, or no longer one.
  [[gnu::always_inline]] T* find(std::intptr_t value) const {
    const std::uint64_t index = index_of(value);
    if (index >= kFirstChunk) [[unlikely]]
      return find_beyond(value);
    const Slot* const slots = chunks_[0].load(std::memory_order_acquire);  // acquire: pairs with grow()
    return slots != nullptr ? find_in(slots[index], value) : nullptr;
  }

  /// A new handle value for `object`. Any thread of the rank; `alone`: the caller is the rank's only thread.
  /// Throws std::bad_alloc when all kMaxHandles are in use.
  [[gnu::always_inline]] std::intptr_t insert(T* object, bool alone = false) {
    const Lock lock(mutex_, alone);
    if (first_free_ == kNone) [[unlikely]]
      grow();
    const std::uint32_t index = first_free_;
    Slot* slot = slot_at(index);
    first_free_ = slot->next_free;
    slot->object.store(object, std::memory_order_release);  // release: pairs with the acquire in find()
    ++live_;
    return (generation_of(*slot) << kIndexBits) | (index + kPredefinedHandles);
  }

  /// Ends a handle and returns its object; null if the value is no handle.
  T* remove(std::intptr_t value) {
    const Lock lock(mutex_, false);
    T* object = find(value);
    if (object != nullptr) give_back(value);
    return object;
  }

  /// The same for a value that is known to be a handle.
  [[gnu::always_inline]] void forget(std::intptr_t value, bool alone) {
    const Lock lock(mutex_, alone);
    give_back(value);
  }

  // For an owner that uses objects again. Such an object keeps its place while it has no handle, so that no
  // other object gets the place. Only if the caller is the rank's only thread. live() goes on counting the
  // object.

  /// The slot of an object that has, or had, a handle.
  class Place {
   public:
    Place() = default;

   private:
    friend class HandleTable;
    Slot* slot_ = nullptr;
  };
  Place place_of(std::intptr_t value) const {
    Place place;
    place.slot_ = slot_at(index_of(value));
    return place;
  }
  /// Ends the handle of the object at `place`.
  void vacate(Place place) { end_generation(*place.slot_); }
  /// A new handle value for an object that has this place. `former` is its last value.
  std::intptr_t occupy(Place place, std::intptr_t former, T* object) {
    Slot& slot = *place.slot_;
    slot.object.store(object, std::memory_order_release);  // release: as in insert()
    return (generation_of(slot) << kIndexBits) | (former & kIndexMask);
  }

  /// Ends the handles of all objects for which `chosen(object)` is true, and returns these objects.
  template <typename Chosen>
  std::vector<T*> remove_if(Chosen chosen) {
    std::vector<T*> removed;
    const Lock lock(mutex_, false);
    for (std::uint32_t index = 0; index < capacity_; ++index) {
      T* const object = slot_at(index)->object.load(std::memory_order_relaxed);
      if (object == nullptr || !chosen(*object)) continue;
      give_back(static_cast<std::intptr_t>(index) + kPredefinedHandles);
      removed.push_back(object);
    }
    return removed;
  }

  /// The first object for which `chosen(object)` is true; null if there is none. No thread may remove that
  /// object meanwhile.
  template <typename Chosen>
  T* find_if(Chosen chosen) {
    const Lock lock(mutex_, false);
    for (std::uint32_t index = 0; index < capacity_; ++index) {
      T* const object = slot_at(index)->object.load(std::memory_order_relaxed);
      if (object != nullptr && chosen(*object)) return object;
    }
    return nullptr;
  }

  /// `take(object)` of each object. The rank has several threads, or no thread of it runs but the caller.
  /// `take` is called with the lock held: it is short, does not allocate, and takes no other lock. An object
  /// that is inserted or removed meanwhile may be missed.
  template <typename Take>
  auto snapshot(Take take) const {
    constexpr std::uint32_t kAtOnce = 64;
    std::vector<std::invoke_result_t<Take, T&>> all;
    for (std::uint32_t first = 0;; first += kAtOnce) {
      if (all.capacity() - all.size() < kAtOnce) all.reserve(2 * all.size() + kAtOnce);
      const Lock lock(mutex_, false);
      if (first >= capacity_) return all;
      for (std::uint32_t index = first; index < std::min(first + kAtOnce, capacity_); ++index)
        if (T* const object = slot_at(index)->object.load(std::memory_order_relaxed))
          all.push_back(take(*object));
    }
  }

  /// Calls `visit(value)` for the value of each handle. No thread may insert or remove meanwhile.
  template <typename Visit>
  void for_each_handle(Visit visit) const {
    for (std::uint32_t index = 0; index < capacity_; ++index)
      if (const Slot* slot = slot_at(index); slot->object.load(std::memory_order_acquire) != nullptr)
        visit((generation_of(*slot) << kIndexBits) | (index + kPredefinedHandles));
  }

  std::size_t live() const {
    const Lock lock(mutex_, false);
    return live_;
  }

  /// Calls `visit(object)` for each live object. No thread may insert or remove meanwhile.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::uint32_t index = 0; index < capacity_; ++index)
      if (T* object = slot_at(index)->object.load(std::memory_order_acquire)) visit(*object);
  }

 private:
  using Lock = base::LockUnlessAlone;

  /// The slot's number; for a predefined handle a number that no slot has.
  static std::uint32_t index_of(std::intptr_t value) {
    return static_cast<std::uint32_t>((value & kIndexMask) - kPredefinedHandles);
  }
  [[gnu::always_inline]] static std::intptr_t generation_of(const Slot& slot) {
    return slot.generation.load(std::memory_order_relaxed);
  }
  [[gnu::always_inline]] static T* find_in(const Slot& slot, std::intptr_t value) {
    if (generation_of(slot) != (value >> kIndexBits)) [[unlikely]]
      return nullptr;
    return slot.object.load(std::memory_order_acquire);  // acquire: pairs with the release in insert()
  }
  [[gnu::noinline]] T* find_beyond(std::intptr_t value) const {
    const std::uint32_t index = index_of(value);
    const Slot* const slot = index < kMaxHandles ? slot_beyond(index) : nullptr;
    return slot != nullptr ? find_in(*slot, value) : nullptr;
  }
  static void end_generation(Slot& slot) {
    slot.object.store(nullptr, std::memory_order_relaxed);
    const std::intptr_t next = (generation_of(slot) + 1) & kGenerationMask;
    slot.generation.store(static_cast<std::int32_t>(next), std::memory_order_relaxed);
  }

  [[gnu::always_inline]] void give_back(std::intptr_t value) {
    const std::uint32_t index = index_of(value);
    Slot* const slot = slot_at(index);
    if (slot == nullptr) __builtin_unreachable();  // the value is a handle
    end_generation(*slot);
    slot->next_free = first_free_;
    first_free_ = index;
    --live_;
  }

  static constexpr std::uint32_t kNone = ~0u;
  static constexpr int kIndexBits = 24;
  static constexpr std::intptr_t kIndexMask = (1 << kIndexBits) - 1;
  static constexpr std::intptr_t kGenerationMask = 127;
  static constexpr std::uint32_t kFirstChunk =
      64;  // chunk k holds kFirstChunk << k slots, the last chunk as many as still have a number
  static constexpr int kChunks = 18;
  static constexpr std::uint32_t kMaxHandles =
      (1u << kIndexBits) - static_cast<std::uint32_t>(kPredefinedHandles);
  static_assert(kMaxHandles > kFirstChunk * ((1u << (kChunks - 1)) - 1) &&
                kMaxHandles <= kFirstChunk * ((1u << kChunks) - 1));

  [[gnu::always_inline]] Slot* slot_at(std::uint32_t index) const {
    if (index >= kFirstChunk) [[unlikely]]
      return slot_beyond(index);
    Slot* const slots = chunks_[0].load(std::memory_order_acquire);  // acquire: pairs with grow()
    return slots == nullptr ? nullptr : slots + index;
  }
  // Chunk k starts at index kFirstChunk * (2^k - 1).
  [[gnu::noinline]] Slot* slot_beyond(std::uint32_t index) const {
    const std::uint32_t scaled = index / kFirstChunk + 1;
    const int chunk = std::bit_width(scaled) - 1;
    if (chunk >= kChunks) return nullptr;
    Slot* slots = chunks_[chunk].load(std::memory_order_acquire);  // acquire: pairs with grow()
    return slots == nullptr ? nullptr : slots + (index - kFirstChunk * ((1u << chunk) - 1));
  }

  [[gnu::noinline]] void grow() {
    if (capacity_ == kMaxHandles) throw std::bad_alloc();
    const int chunk = std::bit_width(capacity_ / kFirstChunk + 1) - 1;
    const std::uint32_t added = std::min(kFirstChunk << chunk, kMaxHandles - capacity_);
    Slot* const slots = new Slot[added];
    for (std::uint32_t i = 0; i < added; ++i) slots[i].next_free = i + 1 < added ? capacity_ + i + 1 : kNone;
    chunks_[chunk].store(slots, std::memory_order_release);  // release: pairs with slot_at()
    first_free_ = capacity_;
    capacity_ += added;
  }

  mutable base::ShortMutex mutex_;
  std::uint32_t first_free_ = kNone;  // the slot that was freed last
  std::array<std::atomic<Slot*>, kChunks> chunks_{};
  std::uint32_t capacity_ = 0;
  std::size_t live_ = 0;
};

}  // namespace clump::core
