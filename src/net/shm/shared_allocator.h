// Memory that the processes of a node share, for other things than messages: the shared state of
// communicators (coll/node/node_team.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/shm/segment.h"

namespace clump::net {

class ShmChannel;

class SharedAllocator {
 public:
  /// Uses the memory of `channel`, which outlives this.
  explicit SharedAllocator(ShmChannel& channel) : channel_(channel) {}

  /// Memory of `bytes` bytes, aligned to pages but for the first kOwn bytes, which belong to the allocator.
  /// All zero, or as the last owner has left it. The result is the place, the same in every process;
  /// negative: there is no room. Any thread.
  std::int64_t allocate(std::size_t bytes);
  void release(std::int64_t place, std::size_t bytes);
  struct Bytes {
    std::size_t all;
    std::size_t zero;  ///< so many at the start are zero, but for the first kOwn
  };
  /// Returns the same place to the next `users` callers with this key, in any order; after them the key is
  /// free again. All of them ask for the same number of bytes. Negative, and the same for all of them: there
  /// is no room.
  std::int64_t share(std::uint64_t key, int users, const Bytes& bytes);
  std::byte* at(std::int64_t place) const;
  static constexpr std::size_t kOwn = 64;

  /// The port at which a rank's messages arrive; negative: the rank is on another node.
  int port_of(int rank) const;
  /// Blocks until `word` differs from `old`. The thread that changes it calls ring(). By a thread of `rank`.
  void wait(int rank, const std::atomic<std::uint32_t>& word, std::uint32_t old);
  /// Wakes the threads that may wait for a change at these ports.
  void ring(std::span<const int> ports);

 private:
  void give_back(Segment::Common& common, std::int64_t place, std::size_t bytes);

  ShmChannel& channel_;
};

}  // namespace clump::net
