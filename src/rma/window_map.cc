#include "rma/window_map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "base/memory_file.h"
#include "datatype/cursor.h"
#include "datatype/overlap.h"
#include "net/shm/shared_allocator.h"
#include "rma/coverage.h"

namespace clump::rma {

void Attached::list(const std::vector<Piece>& all) {
  const std::lock_guard lock(mutex);
  count = static_cast<std::int32_t>(std::min<std::size_t>(all.size(), kMost));
  unlisted = static_cast<std::int32_t>(all.size()) - count;
  std::copy_n(all.begin(), count, pieces.begin());
}

bool covers(std::span<const Attached::Piece> pieces, std::uintptr_t begin, std::uintptr_t end) {
  while (begin < end) {
    const auto piece = std::ranges::find_if(
        pieces, [&](const Attached::Piece& one) { return one.begin <= begin && begin < one.end; });
    if (piece == pieces.end()) return false;
    begin = piece->end;
  }
  return true;
}

bool covers_blocks(std::span<const Attached::Piece> pieces, const datatype::Layout& place) {
  const Count bytes = place.bytes();
  if (bytes == 0) return true;
  datatype::Cursor cursor(place, 0);
  for (Count done = 0; done < bytes;) {
    const datatype::Run& run = cursor.run();
    const Count count = run.count;
    for (Count i = 0; i < count; ++i) {
      const auto begin = static_cast<std::uintptr_t>(run.address(i));
      if (!covers(pieces, begin, begin + static_cast<std::uintptr_t>(run.block))) return false;
    }
    done += count * run.block;
    if (done < bytes) cursor.skip_blocks(count);
  }
  return true;
}

bool Attached::holds(const datatype::Layout& place) {
  const datatype::Reach reach = datatype::reach_of(place);
  std::array<Piece, kMost> known;
  std::span<const Piece> listed;
  {
    const std::lock_guard lock(mutex);
    listed = std::span(pieces).first(static_cast<std::size_t>(count));
    if (unlisted > 0 ||
        covers(listed, static_cast<std::uintptr_t>(reach.begin), static_cast<std::uintptr_t>(reach.end)))
      return true;
    if (place.type->is_dense()) return false;
    // Other ranks attach and look while this one goes through the blocks.
    std::ranges::copy(listed, known.begin());
    listed = std::span(known).first(listed.size());
  }
  return covers_blocks(listed, place);
}

// The first bytes of memory of the node belong to its allocator.
struct NodeControls::Head {
  std::byte allocator[net::SharedAllocator::kOwn];
  std::atomic<std::int32_t> gone;  // processes that do not use it any more
};

std::size_t NodeControls::Shape::bytes() const {
  static_assert(sizeof(LockWaiter) == 8 && alignof(Attached) <= 64);
  const auto places = static_cast<std::size_t>(window + 7) / 8 * 8;
  return kHead + static_cast<std::size_t>(ranks) * (sizeof(Control) + (dynamic ? sizeof(Attached) : 0)) +
         places * sizeof(LockWaiter);
}

std::int64_t NodeControls::make(const Shape& shape, net::SharedAllocator* allocator) {
  static_assert(sizeof(Head) <= kHead);
  shape_ = shape;
  const std::size_t bytes = (shape.bytes() + 63) / 64 * 64;
  if (shape.processes == 1 || allocator == nullptr) {
    base_ = static_cast<std::byte*>(std::aligned_alloc(64, bytes));
    if (base_ == nullptr) return -1;
    std::memset(base_, 0, bytes);
    return 0;
  }
  place_ = allocator->allocate(bytes);
  if (place_ < 0) return -1;
  allocator_ = allocator;
  base_ = allocator->at(place_);
  std::memset(base_ + net::SharedAllocator::kOwn, 0, bytes - net::SharedAllocator::kOwn);
  return place_;
}

void NodeControls::open(const Shape& shape, net::SharedAllocator& allocator, std::int64_t place) {
  shape_ = shape;
  place_ = place;
  allocator_ = &allocator;
  base_ = allocator.at(place);
}

void NodeControls::abandon() {
  if (allocator_ == nullptr)
    std::free(base_);
  else
    allocator_->release(place_, (shape_.bytes() + 63) / 64 * 64);
  base_ = nullptr;
}

NodeControls::~NodeControls() {
  if (base_ == nullptr) return;
  // acq_rel: the last one to leave comes after all that the others did here.
  if (allocator_ == nullptr ||
      reinterpret_cast<Head*>(base_)->gone.fetch_add(1, std::memory_order_acq_rel) + 1 == shape_.processes)
    abandon();
}

int SharedMapping::map(const Size& size, int flags) {
  constexpr std::size_t kPage = 4096;
  constexpr int kAccess = PROT_READ | PROT_WRITE;
  void* base = nullptr;
  if (size.alignment <= kPage) {
    base = ::mmap(nullptr, size.bytes, kAccess, flags, file_, 0);
  } else {
    // The kernel aligns to pages. So: more addresses than needed, the memory over them, and the rest back.
    const std::size_t reserved = size.bytes + size.alignment;
    void* const room =
        ::mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return errno;
    auto* const first = static_cast<std::byte*>(room);
    const std::size_t before =
        (size.alignment - reinterpret_cast<std::uintptr_t>(room)) & (size.alignment - 1);
    base = ::mmap(first + before, size.bytes, kAccess, flags | MAP_FIXED, file_, 0);
    const int error = errno;
    if (base == MAP_FAILED) {
      ::munmap(room, reserved);
      return error;
    }
    if (before > 0) ::munmap(first, before);
    ::munmap(first + before + size.bytes, size.alignment - before);
  }
  if (base == MAP_FAILED) return errno;
  base_ = static_cast<std::byte*>(base);
  bytes_ = size.bytes;
  return 0;
}

int SharedMapping::make(const Size& size, bool shared) {
  if (!shared) return map(size, MAP_PRIVATE | MAP_ANONYMOUS);
  file_ = base::memory_file("clump-window");
  if (file_ < 0 || !base::set_size(file_, size.bytes)) return errno;
  return map(size, MAP_SHARED);
}

int SharedMapping::open(const base::OpenFile& there, const Size& size, bool& is_found) {
  file_ = base::open_file_of(there);
  is_found = file_ >= 0;
  return file_ < 0 ? errno : map(size, MAP_SHARED);
}

void SharedMapping::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

SharedMapping::~SharedMapping() {
  close();
  if (base_ != nullptr) ::munmap(base_, bytes_);
}

}  // namespace clump::rma
