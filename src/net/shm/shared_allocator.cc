#include "net/shm/shared_allocator.h"

#include <bit>
#include <cstring>
#include <mutex>

#include "net/shm/shm_channel.h"

namespace clump::net {

namespace {

constexpr std::size_t kLeastBytes = 4096;

std::size_t rounded(std::size_t bytes) { return std::bit_ceil(bytes < kLeastBytes ? kLeastBytes : bytes); }

}  // namespace

// Sizes are rounded to powers of two. Memory that was given back is used again for the same size.
std::int64_t SharedAllocator::allocate(std::size_t bytes) {
  Segment::Common& common = channel_.segment().common();
  const std::size_t size = rounded(bytes);
  std::int64_t& first = common.free[std::countr_zero(size)];  // 1 + the place; 0: none
  common.mutex.lock();
  std::int64_t place = first - 1;
  if (place >= 0) {
    std::memcpy(&first, at(place), sizeof first);
  } else if (common.used + size <= Segment::kCommonBytes - common.missing) {
    place = static_cast<std::int64_t>(common.used);
    common.used += size;
  }
  common.mutex.unlock();
  return place;
}

// A region that some of its users have not found yet is in a list. The list is short, because a
// communicator's ranks come one soon after the other.
std::int64_t SharedAllocator::share(std::uint64_t key, int users, const Bytes& bytes) {
  Segment::Common& common = channel_.segment().common();
  const std::int64_t fresh = allocate(bytes.all);  // before the lock: allocate() locks, too
  // Its last owner may have been of another kind.
  if (fresh >= 0) std::memset(at(fresh) + kOwn, 0, bytes.zero - kOwn);
  const std::lock_guard lock(common.mutex);
  std::uint32_t* link = &common.forming;
  while (*link != 0 && common.regions[*link - 1].key != key) link = &common.regions[*link - 1].next;
  if (*link == 0) {
    std::uint32_t number = common.are_too_many ? 0 : common.unused_regions;
    if (number != 0) {
      common.unused_regions = common.regions[number - 1].next;
    } else if (!common.are_too_many && common.used_regions < Segment::kNamedRegions) {
      number = ++common.used_regions;
    } else {
      // This user of the key is not noted, so all that come later have to get the same answer.
      common.are_too_many = true;
      if (fresh >= 0) give_back(common, fresh, bytes.all);
      return -1;
    }
    common.regions[number - 1] = {key, fresh, 0, 0};
    *link = number;
  } else if (fresh >= 0) {
    give_back(common, fresh, bytes.all);
  }
  const std::uint32_t number = *link;
  Segment::NamedRegion& region = common.regions[number - 1];
  const std::int64_t place = region.place;
  if (++region.came == static_cast<std::uint32_t>(users)) {
    *link = region.next;
    region.next = common.unused_regions;
    common.unused_regions = number;
  }
  return place;
}

void SharedAllocator::give_back(Segment::Common& common, std::int64_t place, std::size_t bytes) {
  std::int64_t& first = common.free[std::countr_zero(rounded(bytes))];
  std::memcpy(at(place), &first, sizeof first);
  first = place + 1;
}

void SharedAllocator::release(std::int64_t place, std::size_t bytes) {
  Segment::Common& common = channel_.segment().common();
  const std::lock_guard lock(common.mutex);
  give_back(common, place, bytes);
}

std::byte* SharedAllocator::at(std::int64_t place) const {
  return channel_.segment().common_memory() + place;
}

int SharedAllocator::port_of(int rank) const { return channel_.port_of(rank); }

void SharedAllocator::wait(int rank, const std::atomic<std::uint32_t>& word, std::uint32_t old) {
  channel_.wait(rank, word, old);
}

void SharedAllocator::ring(std::span<const int> ports) { channel_.ring(ports); }

}  // namespace clump::net
