// Memory that the processes of a node have in common, for what is no message: the shared state of
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
  /// In the memory of `channel`, which outlives this.
  explicit SharedAllocator(ShmChannel& channel) : channel_(channel) {}

  /// So many bytes, aligned to pages but for the first kOwn, which belong to the allocator. All zero, or
  /// as the last owner has left them. The result says where, in every process; negative: there is no room.
  /// Any thread.
  std::int64_t allocate(std::size_t bytes);
  void release(std::int64_t place, std::size_t bytes);
  /// The same place for the next `users` callers with this key, in any order; after them the key is
  /// free again. All of them ask for as many bytes.
  std::int64_t share(std::uint64_t key, int users, std::size_t bytes);
  std::byte* at(std::int64_t place) const;
  static constexpr std::size_t kOwn = 64;

  /// Where a rank's messages come in; negative: it is on another node.
  int port_of(int rank) const;
  /// Blocks until `word` is not `old` any more, which the thread that changes it tells by ring(). By a thread
  /// of `rank`.
  void wait(int rank, const std::atomic<std::uint32_t>& word, std::uint32_t old);
  /// Something that a thread may wait for has changed.
  void ring(std::span<const int> ports);

 private:
  void give_back(Segment::Common& common, std::int64_t place, std::size_t bytes);

  ShmChannel& channel_;
};

}  // namespace clump::net
