#include "net/joint_work.h"

#include <algorithm>
#include <cstdint>

#include "datatype/stream.h"

namespace clump::net {

namespace {

// The least bytes for which other threads are asked to help. With less, a helper would come too late: it
// takes a third of a microsecond to notice the work and to fetch its description.
constexpr Count kLeast = 8 * 1024;
// The sizes of parts: short enough to share a small message, long enough not to wait for the tickets' cache
// line.
constexpr Count kSmallestPart = 8 * 1024;
constexpr Count kLargestPart = 32 * 1024;
constexpr Count kParts = 128;
constexpr Count kMostWoken = 3;  // a few cores saturate the memory
constexpr Count kLine = 64;

std::uint32_t part_size(Count bytes) {
  const Count size = std::clamp(bytes / kParts, kSmallestPart, kLargestPart);
  return static_cast<std::uint32_t>(size / kLine * kLine);
}

// A message, and how it is divided into parts.
struct Parts {
  Count bytes;
  std::uint32_t size;
  /// The first part is shorter by this, so that the parts of a contiguous buffer meet between cache lines.
  std::uint32_t shift;
  // The last part may be half a part longer or shorter. So the middle of a message depends on its size alone,
  // except for a cache line, and data that go back and forth are divided in the same way each time.
  std::uint32_t count = static_cast<std::uint32_t>(std::max<Count>(1, (bytes + size / 2) / size));

  Count begin(std::uint32_t part) const { return part == 0 ? 0 : Count{part} * size - shift; }
  Count end(std::uint32_t part) const { return part + 1 == count ? bytes : begin(part + 1); }
};

// The description that helpers read, in one cache line.
struct alignas(64) Whole {
  datatype::Layout to, from;
  Count offset;
};

struct CopyPart {
  const Whole* whole;
  Parts parts;
  void operator()(std::uint32_t part) const {
    const Count begin = parts.begin(part);
    datatype::copy(whole->to, whole->from, whole->offset + begin, parts.end(part) - begin);
  }
};

// Copies parts of messages that are dense on both sides and larger than the caches.
struct StreamPart {
  std::byte* to;
  const std::byte* from;
  Parts parts;
  void operator()(std::uint32_t part) const {
    const Count begin = parts.begin(part);
    datatype::stream(to + begin, from + begin, parts.end(part) - begin);
    datatype::drain_streams();
  }
};

}  // namespace

void wake_helpers(Count bytes) noexcept {
  if (bytes >= kWorthWaking)
    fiber::wake_helpers(static_cast<int>(std::min(bytes / kWorthWaking, kMostWoken)));
}

void joint_copy(const datatype::Layout& to, const datatype::Layout& from, Count offset, Count bytes,
                fiber::Sides sides) {
  if (bytes >= kWorthWaking) sides = {};
  const bool is_alone = sides.one == sides.other && sides.one >= 0;  // at one worker
  if (bytes < kLeast || is_alone) return datatype::copy(to, from, offset, bytes);
  wake_helpers(bytes);
  Parts parts{bytes, part_size(bytes), 0};
  if (to.type->is_dense())
    parts.shift = static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(to.base) + offset) % kLine);
  if (to.type->is_dense() && from.type->is_dense() && datatype::is_streamed_alone(2 * bytes)) {
    const StreamPart stream{static_cast<std::byte*>(to.base) + offset,
                            static_cast<const std::byte*>(from.base) + offset, parts};
    return fiber::do_together(parts.count, stream, fiber::Computes::kNo);
  }
  const Whole whole{to, from, offset};
  fiber::do_together(parts.count, CopyPart{&whole, parts}, fiber::Computes::kNo, sides);
}

void joint_pack(std::span<std::byte> out, const datatype::Layout& from, Count offset) {
  const auto bytes = static_cast<Count>(out.size());
  if (bytes < kLeast) return datatype::pack(out, from, offset);
  // The packed bytes before `offset` would lie before `out`; they are never accessed.
  const auto begin = reinterpret_cast<std::intptr_t>(out.data()) - offset;
  joint_copy({reinterpret_cast<void*>(begin), offset + bytes, datatype::predefined(MPI_BYTE)}, from, offset,
             bytes);
}

void joint_unpack(const datatype::Layout& to, Count offset, std::span<const std::byte> in) {
  const auto bytes = static_cast<Count>(in.size());
  if (bytes < kLeast) return datatype::unpack(to, offset, in);
  const auto begin = reinterpret_cast<std::intptr_t>(in.data()) - offset;
  joint_copy(to, {reinterpret_cast<void*>(begin), offset + bytes, datatype::predefined(MPI_BYTE)}, offset,
             bytes);
}

void joint_combine(datatype::Kernel kernel, const void* in, void* inout, Count count,
                   const datatype::Datatype& type) {
  const Count extent = type.extent(), bytes = count * extent;
  if (bytes < kLeast) return kernel(in, inout, inout, count);
  const auto* const operand = static_cast<const std::byte*>(in);
  auto* const result = static_cast<std::byte*>(inout);
  const Count step = std::max<Count>(part_size(bytes) / extent, 1);
  joint_work(count, step, bytes, [=](Count first, Count some) {
    std::byte* const there = result + first * extent;
    kernel(operand + first * extent, there, there, some);
  });
}

}  // namespace clump::net
