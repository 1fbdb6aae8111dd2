#include "p2p/joint_copy.h"

#include <algorithm>
#include <cstdint>

#include "datatype/stream.h"
#include "fiber/help.h"

namespace clump::p2p {

namespace {

// Below, a helper would arrive when everything is done: it takes a third of a microsecond to notice and to
// fetch the description.
constexpr Count kLeast = 8 * 1024;
// Parts: short enough to share a small message, long enough not to wait for the tickets' cache line.
constexpr Count kSmallestPart = 8 * 1024;
constexpr Count kLargestPart = 32 * 1024;
constexpr Count kParts = 128;
// For so many bytes one worker more is woken.
constexpr Count kWorthWaking = 1024 * 1024;
constexpr Count kMostWoken = 3;
constexpr Count kLine = 64;

std::uint32_t part_size(Count bytes) {
  const Count size = std::clamp(bytes / kParts, kSmallestPart, kLargestPart);
  return static_cast<std::uint32_t>(size / kLine * kLine);
}

// A message, and how it is divided.
struct Parts {
  Count bytes;
  std::uint32_t size;
  /// The first part is so much shorter, so that parts of a solid buffer meet between cache lines.
  std::uint32_t shift;
  // The last part may be half a part longer or shorter. So it depends on the size alone, but for a cache
  // line, where the middle of a message is, and what goes to and fro is divided in the same way each time.
  std::uint32_t count = static_cast<std::uint32_t>(std::max<Count>(1, (bytes + size / 2) / size));

  Count begin(std::uint32_t part) const { return part == 0 ? 0 : Count{part} * size - shift; }
  Count end(std::uint32_t part) const { return part + 1 == count ? bytes : begin(part + 1); }
};

// One cache line that helpers read.
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

// Both sides dense, larger than the caches.
struct StreamPart {
  std::byte* to;
  const std::byte* from;
  Parts parts;
  void operator()(std::uint32_t part) const {
    const Count begin = parts.begin(part);
    datatype::stream(to + begin, from + begin, parts.end(part) - begin);
  }
};

}  // namespace

void joint_copy(const datatype::Layout& to, const datatype::Layout& from, Count offset, Count bytes) {
  if (bytes < kLeast) return datatype::copy(to, from, offset, bytes);
  if (bytes >= kWorthWaking)
    fiber::wake_helpers(static_cast<int>(std::min(bytes / kWorthWaking, kMostWoken)));
  Parts parts{bytes, part_size(bytes), 0};
  if (to.type->is_dense())
    parts.shift = static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(to.base) + offset) % kLine);
  if (to.type->is_dense() && from.type->is_dense() && datatype::is_streamed(bytes)) {
    const StreamPart stream{static_cast<std::byte*>(to.base) + offset,
                            static_cast<const std::byte*>(from.base) + offset, parts};
    return fiber::do_together(parts.count, stream);
  }
  const Whole whole{to, from, offset};
  fiber::do_together(parts.count, CopyPart{&whole, parts});
}

}  // namespace clump::p2p
