#include "net/shm/commons.h"

#include <bit>
#include <cstring>

#include "net/shm/shm_channel.h"

namespace clump::net {

namespace {

constexpr std::size_t kLeast = 4096;

std::size_t rounded(std::size_t bytes) { return std::bit_ceil(bytes < kLeast ? kLeast : bytes); }

}  // namespace

// Sizes are powers of two, and what was given back is used for the same size again.
std::int64_t Commons::allocate(std::size_t bytes) {
  Segment::Common& common = channel_.segment().common();
  const std::size_t size = rounded(bytes);
  std::int64_t& first = common.free[std::countr_zero(size)];  // 1 + the place; 0: none
  common.mutex.lock();
  std::int64_t place = first - 1;
  if (place >= 0) {
    std::memcpy(&first, at(place), sizeof first);
  } else if (common.used + size <= Segment::kCommonBytes) {
    place = static_cast<std::int64_t>(common.used);
    common.used += size;
  }
  common.mutex.unlock();
  return place;
}

void Commons::release(std::int64_t place, std::size_t bytes) {
  Segment::Common& common = channel_.segment().common();
  std::int64_t& first = common.free[std::countr_zero(rounded(bytes))];
  common.mutex.lock();
  std::memcpy(at(place), &first, sizeof first);
  first = place + 1;
  common.mutex.unlock();
}

std::byte* Commons::at(std::int64_t place) const { return channel_.segment().common_memory() + place; }

int Commons::port_of(int rank) const { return channel_.port_of(rank); }

void Commons::wait(int rank, const std::atomic<std::uint32_t>& word, std::uint32_t old) {
  channel_.wait(rank, word, old);
}

void Commons::ring(std::span<const int> ports) { channel_.ring(ports); }

}  // namespace clump::net
