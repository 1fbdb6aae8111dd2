// MatchQueue: entries in their order of arrival, found by (context, source, tag) in constant time.
//
// Both sides of matching use it: posted receives without wildcards, and unexpected messages. It is intrusive,
// so nothing is allocated for an entry. Entries with the same key are found in their order of arrival
// (MPI-5.0 section 3.5: messages do not overtake). Not thread-safe, except size() and empty(): the matcher
// holds its lock.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

namespace clump::p2p {

struct MatchKey {
  std::uint32_t context = 0;
  int source = 0;
  int tag = 0;
  friend bool operator==(const MatchKey&, const MatchKey&) = default;

  /// The three multiplications are independent of each other. The upper bits are the best mixed ones; they
  /// become the lower bits, by which a table selects its bucket.
  std::uint32_t hash() const {
    const std::uint32_t h = context * 0x9E3779B1u + static_cast<std::uint32_t>(source) * 0xD6E8FEB9u +
                            static_cast<std::uint32_t>(tag) * 0xA0761D65u;
    return std::rotr(h, 16);
  }
};

/// The base of an entry.
class MatchEntry {
 public:
  MatchKey key;
  bool queued = false;
  std::uint64_t sequence;  ///< while queued: arrival order among all entries of one part of a matcher

 private:
  template <typename Entry>
  friend class MatchList;
  template <typename Entry>
  friend class MatchTable;
  struct Links {
    MatchEntry** from;  // the pointer to this entry
    MatchEntry* next;
  };
  struct List {
    List() = default;
    List(const List&) = delete;
    List& operator=(const List&) = delete;
    MatchEntry* first = nullptr;
    MatchEntry** end = &first;  // the pointer that the next entry sets
  };
  using Hook = Links MatchEntry::*;

  static void append(List& list, MatchEntry& entry, Hook hook) {
    entry.*hook = {list.end, nullptr};
    *list.end = &entry;
    list.end = &(entry.*hook).next;
  }

  static void unlink(List& list, MatchEntry& entry, Hook hook) {
    const auto [from, next] = entry.*hook;
    *from = next;
    (next == nullptr ? list.end : (next->*hook).from) = from;
  }

  // Written when the entry is queued.
  Links in_order_, in_bucket_;
  std::uint32_t hash_;
};

/// The number of entries. Only the holder of the lock changes it; any thread may read it.
class EntryCount {
 public:
  // relaxed: see Matcher::is_empty().
  std::uint32_t value() const { return value_.load(std::memory_order_relaxed); }
  void one_more() { value_.store(value() + 1, std::memory_order_relaxed); }
  void one_less() { value_.store(value() - 1, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> value_{0};
};

/// Entries in their order of arrival.
template <typename Entry>
class MatchList {
 public:
  void push(Entry& entry) {
    MatchEntry::append(list_, entry, &MatchEntry::in_order_);
    entry.queued = true;
    count_.one_more();
  }
  void remove(Entry& entry) {
    MatchEntry::unlink(list_, entry, &MatchEntry::in_order_);
    entry.queued = false;
    count_.one_less();
  }
  bool empty() const { return count_.value() == 0; }
  template <typename Visit>
  void for_each(Visit visit) const {
    for (MatchEntry* e = list_.first; e != nullptr; e = e->in_order_.next) visit(*static_cast<Entry*>(e));
  }

  /// The oldest entry that satisfies `matches`; null if there is none.
  template <typename Predicate>
  Entry* find_if(Predicate matches) const {
    for (MatchEntry* e = list_.first; e != nullptr; e = e->in_order_.next)
      if (matches(*static_cast<Entry*>(e))) return static_cast<Entry*>(e);
    return nullptr;
  }

 private:
  MatchEntry::List list_;
  EntryCount count_;
};

/// Entries by key.
template <typename Entry>
class MatchTable {
 public:
  void push(Entry& entry) {
    if (is_full()) [[unlikely]]
      grow();
    push_into_room(entry);
  }
  /// Whether the next push() has to grow the table, which takes long.
  bool is_full() const { return size() == buckets_; }
  /// push() for a table that is not full.
  void push_into_room(Entry& entry) {
    MatchEntry& base = entry;
    base.hash_ = entry.key.hash();
    MatchEntry::append(bucket(base.hash_), entry, &MatchEntry::in_bucket_);
    entry.queued = true;
    count_.one_more();
  }

  /// The oldest entry of a key; null if there is none.
  Entry* find(const MatchKey& key) const {
    for (MatchEntry* e = bucket(key.hash()).first; e != nullptr; e = e->in_bucket_.next)
      if (e->key == key) return static_cast<Entry*>(e);
    return nullptr;
  }

  /// The same, and removes the entry.
  Entry* take(const MatchKey& key) {
    MatchEntry::List& list = bucket(key.hash());
    for (MatchEntry* e = list.first; e != nullptr; e = e->in_bucket_.next) {
      if (!(e->key == key)) continue;
      MatchEntry::unlink(list, *e, &MatchEntry::in_bucket_);
      e->queued = false;
      count_.one_less();
      return static_cast<Entry*>(e);
    }
    return nullptr;
  }

  void remove(Entry& entry) {
    const MatchEntry& base = entry;
    MatchEntry::unlink(bucket(base.hash_), entry, &MatchEntry::in_bucket_);
    entry.queued = false;
    count_.one_less();
  }

  std::uint32_t size() const { return count_.value(); }
  /// Visits all entries, in no particular order.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::uint32_t i = 0; i < buckets_; ++i)
      for (MatchEntry* e = lists_[i].first; e != nullptr; e = e->in_bucket_.next)
        visit(*static_cast<Entry*>(e));
  }

 private:
  MatchEntry::List& bucket(std::uint32_t hash) const { return lists_[hash & mask_]; }

  /// Doubles the number of buckets. The entries of one bucket go into two, each in the old order.
  [[gnu::noinline]] void grow() {
    const std::uint32_t old_buckets = buckets_;
    const auto old_lists = std::move(owned_);
    buckets_ = old_buckets == 0 ? kFirstBuckets : old_buckets * 2;
    mask_ = buckets_ - 1;
    owned_ = std::make_unique<MatchEntry::List[]>(buckets_);
    lists_ = owned_.get();
    for (std::uint32_t i = 0; i < old_buckets; ++i)
      for (MatchEntry* e = old_lists[i].first; e != nullptr;) {
        MatchEntry* const next = e->in_bucket_.next;
        MatchEntry::append(bucket(e->hash_), *e, &MatchEntry::in_bucket_);
        e = next;
      }
  }

  static constexpr std::uint32_t kFirstBuckets = 16;
  static inline MatchEntry::List nothing_;  // the only bucket of tables that never had an entry; stays empty
  MatchEntry::List* lists_ = &nothing_;
  std::uint32_t mask_ = 0;  // buckets are a power of two
  EntryCount count_;
  std::uint32_t buckets_ = 0;  // that the table owns
  std::unique_ptr<MatchEntry::List[]> owned_;
};

/// Entries by key and in their order of arrival.
template <typename Entry>
class MatchQueue {
 public:
  void push(Entry& entry) {
    order_.push(entry);
    table_.push(entry);
  }
  void remove(Entry& entry) {
    order_.remove(entry);
    table_.remove(entry);
  }
  Entry* find(const MatchKey& key) const { return table_.find(key); }
  template <typename Predicate>
  Entry* find_if(Predicate matches) const {
    return order_.find_if(matches);
  }
  template <typename Visit>
  void for_each(Visit visit) const {
    order_.for_each(visit);
  }
  std::uint32_t size() const { return table_.size(); }

 private:
  MatchList<Entry> order_;
  MatchTable<Entry> table_;
};

}  // namespace clump::p2p
