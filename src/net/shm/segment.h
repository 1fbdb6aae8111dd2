// The layout of the shm channel's memory, which all processes of the node share. It has a lane for each pair
// of ports; for each port which process it belongs to, a list of the lanes that lead to it and some staging
// buffers; and for each rank whether it takes more messages that no receive waits for.
//
// All zero is the initial state, and a page takes memory when it is first touched: lanes that are not used
// take address space only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/mutex.h"
#include "net/lane.h"
#include "net/shm/remote_memory.h"

namespace clump::net {

class Segment {
 public:
  Segment(int ports, int ranks);

  /// The size of all, with `common` bytes of memory for other uses, which is at the end.
  std::size_t bytes(std::size_t common = kCommonBytes) const {
    return common_at_ + whole_pages(sizeof(Common)) + common;
  }
  /// Sets where the memory is in this process. If `common` is less than kCommonBytes, no process takes more
  /// than that from now on; false if one has done so already.
  bool set_base(std::byte* base, std::size_t common = kCommonBytes);

  int ports() const { return static_cast<int>(ports_); }
  Lane::Size lane_size() const { return size_; }
  /// Opens a lane that is not in use yet. The producer calls it before its first message.
  Lane& open(int from, int to) const;
  /// How many lanes lead to a port. Lanes are never removed.
  int count(int to) const { return static_cast<int>(list(to).count.load(std::memory_order_acquire)); }
  /// The port that the i-th of them comes from; negative: it is being opened.
  int source(int to, int i) const {
    // acquire: pairs with open(), which has made the lane before.
    return static_cast<int>(entry(to, i).load(std::memory_order_acquire)) - 1;
  }
  Lane& lane(int from, int to) const {
    return *reinterpret_cast<Lane*>(base_ + lanes_at_ + index(to, from) * Lane::footprint(size_));
  }

  /// The process that a port belongs to. It says so before it sends a message from there; other processes
  /// ask when a message has come from the port, and no process changes it after that.
  RemoteProcess& owner(int port) const { return list(port).owner; }

  /// The address of a staging buffer's bytes (staging_buffers.h).
  std::byte* staging_buffer(std::uint32_t number) const {
    return base_ + staging_at_ + number * static_cast<std::size_t>(kStagingBuffer);
  }
  static constexpr Count kStagingBuffer = 64 * 1024;

  /// The memory for other uses (shared_allocator.h), and its administration.
  static constexpr std::size_t kCommonBytes = std::size_t{1} << 30;
  static constexpr std::size_t kLeastCommonBytes = std::size_t{1} << 20;  ///< the least, where limits leave
                                                                          ///< no more
  /// A region that some of its users have not found yet. Linked by 1 + the number of the next.
  struct NamedRegion {
    std::uint64_t key;
    std::int64_t place;
    std::uint32_t came, next;
  };
  static constexpr std::uint32_t kNamedRegions = 16384;
  struct Common {
    base::ShortMutex mutex;
    std::uint64_t used, missing;  // of kCommonBytes: taken so far, and not available
    std::int64_t
        free[64];  // by the size's power of two; 1 + the place of the first, in which the next one stands
    std::uint32_t forming, unused_regions;  // heads of linked lists
    std::uint32_t used_regions;             // the most that were used at a time
    bool are_too_many;                      // once there were more: from then on no key gets a region
    NamedRegion regions[kNamedRegions];
  };
  Common& common() const { return *reinterpret_cast<Common*>(base_ + common_at_); }
  std::byte* common_memory() const { return base_ + common_at_ + whole_pages(sizeof(Common)); }

  // The right to move a message that a port has asked for. The port issues a ticket here first; then one side
  // claims it and moves the message: of two claims one succeeds. Or both sides move it, a part at a time,
  // each from its end. relaxed, all of it: the bytes, and the news that they are there, are ordered
  // elsewhere.

  static constexpr std::uint64_t kTickets = 64;
  bool issue(int port, std::uint64_t ticket) const {
    std::uint64_t none = 0;
    // Ordered by the release of the lane through which the other side gets the ticket.
    return claims(port, ticket).compare_exchange_strong(none, ticket << kCounts, std::memory_order_relaxed);
  }
  bool claim(int port, std::uint64_t ticket) const {
    std::uint64_t untouched = ticket << kCounts;
    return claims(port, ticket).compare_exchange_strong(untouched, 0, std::memory_order_relaxed);
  }
  enum class End : std::uint8_t { kFront, kBack };
  static constexpr std::uint32_t kMostParts = 255;  // in a message
  /// Claims the next part from an end; the caller has to move it. Negative: there is none, or the ticket is
  /// no longer valid.
  int claim_part(int port, std::uint64_t ticket, std::uint32_t parts, End end) const;
  /// How many parts were claimed from an end.
  std::uint32_t claimed(int port, std::uint64_t ticket, End end) const {
    return counted(claims(port, ticket).load(std::memory_order_relaxed), end);
  }
  /// Ends a ticket. Called by the port that has asked, when all parts were claimed.
  void end(int port, std::uint64_t ticket) const { claims(port, ticket).store(0, std::memory_order_relaxed); }

  /// Whether too many messages wait at a rank: senders shall keep theirs. A hint.
  std::atomic<bool>& crowded(int rank) const {
    return reinterpret_cast<std::atomic<bool>*>(base_ + ranks_at_)[rank];
  }

 private:
  struct alignas(64) List {
    std::atomic<std::uint32_t> count;
    RemoteProcess owner;  // its process writes it; the release of the first message orders it for others
    std::atomic<std::uint64_t> claims[kTickets];
  };
  static constexpr std::size_t kPage = 4096;
  using Entry = std::atomic<std::uint32_t>;  // 1 + the port that the lane comes from

  // A claim is a ticket, and the number of parts claimed from each end.
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
