// MatchQueue: entries in the order in which they came, found by (context, source, tag) in constant time.
//
// Both sides of matching use it: posted receives without wildcards, and unexpected messages. It is intrusive,
// so nothing is allocated per entry. Entries of one key are found first come, first served (MPI-5.0
// section 3.5: messages do not overtake). Not thread-safe: the matcher holds its lock.
#pragma once

#include <cstdint>
#include <vector>

namespace clump::p2p {

struct MatchKey {
  std::uint32_t context = 0;
  int source = 0;
  int tag = 0;
  friend bool operator==(const MatchKey&, const MatchKey&) = default;

  std::uint32_t hash() const {
    std::uint64_t h = context;
    h = (h * 0x9E3779B97F4A7C15u) ^ static_cast<std::uint32_t>(source);
    h = (h * 0x9E3779B97F4A7C15u) ^ static_cast<std::uint32_t>(tag);
    h *= 0x9E3779B97F4A7C15u;
    return static_cast<std::uint32_t>(h >> 32);
  }
};

/// What an entry derives from.
class MatchEntry {
 public:
  MatchKey key;
  std::uint64_t sequence = 0;  ///< arrival order among all entries of a matcher
  bool queued = false;

 private:
  template <typename Entry>
  friend class MatchQueue;
  struct Links {
    MatchEntry* previous = nullptr;
    MatchEntry* next = nullptr;
  };
  Links in_order_, in_bucket_;
};

template <typename Entry>
class MatchQueue {
 public:
  void push(Entry& entry) {
    if (size_ >= buckets_.size()) grow();
    append(order_, entry, &MatchEntry::in_order_);
    append(bucket_of(entry.key), entry, &MatchEntry::in_bucket_);
    entry.queued = true;
    ++size_;
  }

  /// The oldest entry of a key; null if there is none.
  Entry* find(const MatchKey& key) const {
    if (size_ == 0) return nullptr;
    for (MatchEntry* e = buckets_[key.hash() & (buckets_.size() - 1)].first; e != nullptr;
         e = e->in_bucket_.next)
      if (e->key == key) return static_cast<Entry*>(e);
    return nullptr;
  }

  /// The oldest entry whose key satisfies `matches`; null if there is none.
  template <typename Predicate>
  Entry* find_if(Predicate matches) const {
    for (MatchEntry* e = order_.first; e != nullptr; e = e->in_order_.next)
      if (matches(*static_cast<Entry*>(e))) return static_cast<Entry*>(e);
    return nullptr;
  }

  void remove(Entry& entry) {
    unlink(order_, entry, &MatchEntry::in_order_);
    unlink(bucket_of(entry.key), entry, &MatchEntry::in_bucket_);
    entry.queued = false;
    --size_;
  }

  std::size_t size() const { return size_; }

 private:
  struct List {
    MatchEntry* first = nullptr;
    MatchEntry* last = nullptr;
  };
  using Hook = MatchEntry::Links MatchEntry::*;

  static void append(List& list, MatchEntry& entry, Hook hook) {
    entry.*hook = {list.last, nullptr};
    (list.last == nullptr ? list.first : (list.last->*hook).next) = &entry;
    list.last = &entry;
  }

  static void unlink(List& list, MatchEntry& entry, Hook hook) {
    auto& [previous, next] = entry.*hook;
    (previous == nullptr ? list.first : (previous->*hook).next) = next;
    (next == nullptr ? list.last : (next->*hook).previous) = previous;
  }

  List& bucket_of(const MatchKey& key) { return buckets_[key.hash() & (buckets_.size() - 1)]; }

  /// Appending in arrival order keeps each bucket in arrival order.
  void grow() {
    buckets_.assign(buckets_.empty() ? kFirstBuckets : buckets_.size() * 2, List{});
    for (MatchEntry* e = order_.first; e != nullptr; e = e->in_order_.next)
      append(bucket_of(e->key), *e, &MatchEntry::in_bucket_);
  }

  static constexpr std::size_t kFirstBuckets = 16;
  List order_;
  std::vector<List> buckets_;
  std::size_t size_ = 0;
};

}  // namespace clump::p2p
