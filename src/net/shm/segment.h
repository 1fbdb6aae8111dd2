// What the shm channel has in the memory of the node: for each pair of ports a lane, for each port a list of
// the lanes that lead to it and some staging buffers, for each rank whether it takes more messages that
// no receive waits for.
//
// All zero is the state at the start, and a page takes memory when it is first touched: lanes that are not
// used cost addresses only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/mutex.h"
#include "net/lane.h"

namespace clump::net {

class Segment {
 public:
  Segment(int ports, int ranks);

  /// With so much memory for other uses, which is at the end.
  std::size_t bytes(std::size_t common = kCommonBytes) const {
    return common_at_ + whole_pages(sizeof(Common)) + common;
  }
  /// Where its memory is in this process. With less for other uses than kCommonBytes no process takes more
  /// from now on; false if one has done so already.
  bool set_base(std::byte* base, std::size_t common = kCommonBytes);

  int ports() const { return static_cast<int>(ports_); }
  Lane::Size lane_size() const { return size_; }
  /// A lane that is not in use yet, and is from now on: by the producer, before the first message.
  Lane& open(int from, int to) const;
  /// How many lanes lead to a port; they are never removed.
  int count(int to) const { return static_cast<int>(list(to).count.load(std::memory_order_acquire)); }
  /// Where the i-th of them comes from; negative: it is being opened.
  int source(int to, int i) const {
    // acquire: pairs with open(), which has made the lane before.
    return static_cast<int>(entry(to, i).load(std::memory_order_acquire)) - 1;
  }
  Lane& lane(int from, int to) const {
    return *reinterpret_cast<Lane*>(base_ + lanes_at_ + index(to, from) * Lane::footprint(size_));
  }

  /// Where a staging buffer's bytes are (staging_buffers.h).
  std::byte* staging_buffer(std::uint32_t number) const {
    return base_ + staging_at_ + number * static_cast<std::size_t>(kStagingBuffer);
  }
  static constexpr Count kStagingBuffer = 64 * 1024;

  /// Memory for other uses (shared_allocator.h), and its books.
  static constexpr std::size_t kCommonBytes = std::size_t{1} << 30;
  static constexpr std::size_t kLeastCommonBytes = std::size_t{1} << 20;  ///< where limits leave no more
  /// A place that not all who share it have found yet; linked by 1 + the number of the next.
  struct NamedRegion {
    std::uint64_t key;
    std::int64_t place;
    std::uint32_t came, next;
  };
  static constexpr std::uint32_t kNamedRegions = 16384;
  struct Common {
    base::ShortMutex mutex;
    std::uint64_t used, missing;  // of kCommonBytes
    std::int64_t
        free[64];  // by the size's power of two; 1 + the place of the first, in which the next one stands
    std::uint32_t forming, unused_regions;  // linked
    std::uint32_t used_regions;             // so many were used at some time
    NamedRegion regions[kNamedRegions];
  };
  Common& common() const { return *reinterpret_cast<Common*>(base_ + common_at_); }
  std::byte* common_memory() const { return base_ + common_at_ + whole_pages(sizeof(Common)); }

  // Which side moves a message that a port has asked for: the one that claims the ticket, which was put here
  // before. Of two claims one is successful. Or both sides move it, a part at a time, each from its end.
  // relaxed, all of it: the bytes, and that they are there, are told about elsewhere.

  static constexpr std::uint64_t kTickets = 64;
  bool issue(int port, std::uint64_t ticket) const {
    std::uint64_t none = 0;
    // By release of the lane through which the other side hears of it.
    return claims(port, ticket).compare_exchange_strong(none, ticket << kCounts, std::memory_order_relaxed);
  }
  bool claim(int port, std::uint64_t ticket) const {
    std::uint64_t untouched = ticket << kCounts;
    return claims(port, ticket).compare_exchange_strong(untouched, 0, std::memory_order_relaxed);
  }
  enum class End : std::uint8_t { kFront, kBack };
  static constexpr std::uint32_t kMostParts = 255;  // of a message
  /// The number of a part that is the caller's to move; negative: there is none, or the ticket is not valid
  /// any more.
  int claim_part(int port, std::uint64_t ticket, std::uint32_t parts, End end) const;
  /// How many were claimed from an end.
  std::uint32_t claimed(int port, std::uint64_t ticket, End end) const {
    return counted(claims(port, ticket).load(std::memory_order_relaxed), end);
  }
  /// By the port that has asked, when all parts were claimed.
  void end(int port, std::uint64_t ticket) const { claims(port, ticket).store(0, std::memory_order_relaxed); }

  /// Too much waits at a rank: senders shall keep what they have. A hint.
  std::atomic<bool>& crowded(int rank) const {
    return reinterpret_cast<std::atomic<bool>*>(base_ + ranks_at_)[rank];
  }

 private:
  struct alignas(64) List {
    std::atomic<std::uint32_t> count;
    std::atomic<std::uint64_t> claims[kTickets];
  };
  static constexpr std::size_t kPage = 4096;
  using Entry = std::atomic<std::uint32_t>;  // 1 + the port that the lane comes from

  // A claim is a ticket, and how many parts were claimed from each end.
  static constexpr int kCounts = 16;
  static int shift(End end) { return end == End::kFront ? 0 : kCounts / 2; }
  static std::uint32_t counted(std::uint64_t claim, End end) {
    return static_cast<std::uint32_t>(claim >> shift(end)) & kMostParts;
  }

  static std::size_t whole_pages(std::size_t bytes);
  List& list(int to) const { return reinterpret_cast<List*>(base_)[to]; }
  std::atomic<std::uint64_t>& claims(int port, std::uint64_t ticket) const {
    return list(port).claims[ticket % kTickets];
  }
  Entry& entry(int to, int i) const { return reinterpret_cast<Entry*>(base_ + entries_at_)[index(to, i)]; }
  std::size_t index(int to, int from) const {
    return static_cast<std::size_t>(to) * ports_ + static_cast<std::size_t>(from);
  }

  const std::size_t ports_, ranks_;
  const Lane::Size size_;
  std::size_t entries_at_, lanes_at_, ranks_at_, staging_at_, common_at_;
  std::byte* base_ = nullptr;
};

}  // namespace clump::net
