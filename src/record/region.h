// The memory of a node that records lie in: a memfd that mpiexec makes, and hands to the host processes by
// its descriptor (CLUMP_RECORD_FD). It has no name, so nothing is left behind. It is as long as the records
// of the largest job might be, and takes the memory of what was written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "record/layout.h"

namespace clump::record {

/// Takes `bytes` of a memory of `size` bytes, of which `used` are taken; the offset of what it took, or 0 if
/// they do not fit. Then `used` stays as it is: were it raised and lowered again, a caller in between would
/// be refused what fits, and what callers lower could be what others have got. Any thread.
template <typename Atomic>
std::uint64_t reserve(Atomic& used, std::size_t bytes, std::size_t size) {
  std::uint64_t at = used.load(std::memory_order_relaxed);
  do {
    if (at > size || bytes > size - at) return 0;
  } while (!used.compare_exchange_weak(at, at + bytes, std::memory_order_relaxed));
  return at;
}

class Region {
 public:
  /// A new one, for a job of so many ranks; each may keep so many events.
  static base::Status make(int ranks, std::int64_t events, int& descriptor);
  /// Where `descriptor` is mapped; the mapping stays until the process ends.
  base::Status map(int descriptor);
  /// Fails with MPI_ERR_ARG if what is mapped is no region for a job of so many ranks.
  base::Status check(int ranks) const;
  /// Over a copy of the first bytes of a region, as long as these stay.
  base::Status read(std::span<std::byte> copy);

  bool is_there() const { return begin_ != nullptr; }
  Header& header() const { return *reinterpret_cast<Header*>(begin_); }
  RankRecord& rank(int number) const {
    return reinterpret_cast<RankRecord*>(begin_ + sizeof(Header))[number];
  }
  /// Null for offset 0, and for what is not in the region.
  template <typename Record>
  Record* at(std::uint64_t offset, std::size_t more = 0) const {
    if (offset == 0 || offset > size_ || size_ - offset < sizeof(Record) + more) return nullptr;
    return reinterpret_cast<Record*>(begin_ + offset);
  }
  /// Offsets of a thread's chunks of peers.
  std::span<std::atomic<std::uint64_t>> peers_of(ThreadRecord& thread) const {
    return {reinterpret_cast<std::atomic<std::uint64_t>*>(&thread + 1), peer_chunks()};
  }
  std::size_t peer_chunks() const { return (header().ranks + kPeersInChunk - 1) / kPeersInChunk; }

  /// Zeros for a record, and what lies behind it; 0 if there is no more room. Any thread.
  template <typename Record>
  std::uint64_t allocate(std::size_t more = 0) const {
    return allocate_bytes(sizeof(Record) + more);
  }

 private:
  std::uint64_t allocate_bytes(std::size_t bytes) const;
  std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace clump::record
