#include "net/shm/segment.h"

#include <algorithm>
#include <mutex>

#include "net/staging_buffers.h"

namespace clump::net {

namespace {

// As in the self channel: with very many lanes, smaller ones.
constexpr Lane::Size kLaneSize{128, 32 * 1024}, kSmallLaneSize{64, 16 * 1024};
constexpr int kManyPorts = 64;

}  // namespace

std::size_t Segment::whole_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

Segment::Segment(int ports, int ranks)
    : ports_(static_cast<std::size_t>(ports)),
      ranks_(static_cast<std::size_t>(ranks)),
      size_(ports < kManyPorts ? kLaneSize : kSmallLaneSize),
      entries_at_(whole_pages(ports_ * sizeof(List))),
      lanes_at_(entries_at_ + whole_pages(ports_ * ports_ * sizeof(Entry))),
      ranks_at_(lanes_at_ + whole_pages(ports_ * ports_ * Lane::footprint(size_))),
      staging_at_(ranks_at_ + whole_pages(ranks_)),
      common_at_(staging_at_ +
                 ports_ * StagingBuffers::kOfWorker * static_cast<std::size_t>(kStagingBuffer)) {}

bool Segment::set_base(std::byte* base, std::size_t common_bytes) {
  base_ = base;
  if (common_bytes == kCommonBytes) return true;
  Common& all = common();
  const std::lock_guard lock(all.mutex);
  all.missing = std::max<std::uint64_t>(all.missing, kCommonBytes - common_bytes);
  return all.used <= common_bytes;
}

Lane& Segment::open(int from, int to) const {
  Lane& made = Lane::make_at(&lane(from, to), size_);
  const std::uint32_t i = list(to).count.fetch_add(1, std::memory_order_acq_rel);
  entry(to, static_cast<int>(i)).store(static_cast<std::uint32_t>(from) + 1, std::memory_order_release);
  return made;
}

int Segment::claim_part(int port, std::uint64_t ticket, std::uint32_t parts, End end) const {
  std::atomic<std::uint64_t>& claims = this->claims(port, ticket);
  std::uint64_t now = claims.load(std::memory_order_relaxed);
  do {
    if (now >> kCounts != ticket) return -1;
    if (counted(now, End::kFront) + counted(now, End::kBack) == parts) return -1;
  } while (
      !claims.compare_exchange_weak(now, now + (std::uint64_t{1} << shift(end)), std::memory_order_relaxed));
  const std::uint32_t before = counted(now, end);
  return static_cast<int>(end == End::kFront ? before : parts - 1 - before);
}

}  // namespace clump::net
