#include "datatype/fingerprint.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace clump::datatype {

namespace {

constexpr Count kSampleBytes = 64 << 10;
constexpr std::size_t kRoom = 8 << 10;  // a thread of control may have little of a stack

constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * kOdd;
  return hash ^ hash >> 32;
}

/// Four at a time do not wait for one another.
std::uint64_t mixed(std::uint64_t hash, const std::byte* data, std::size_t bytes) {
  std::array<std::uint64_t, 4> lanes{hash, hash + 1, hash + 2, hash + 3}, words;
  for (; bytes >= sizeof words; data += sizeof words, bytes -= sizeof words) {
    std::memcpy(words.data(), data, sizeof words);
    for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = mixed(lanes[i], words[i]);
  }
  words = {};
  if (bytes > 0) std::memcpy(words.data(), data, bytes);
  for (std::size_t i = 0; i < lanes.size(); ++i) hash = mixed(hash ^ lanes[i], words[i]);
  return hash;
}

/// Calls look(offset, data, bytes) for the packed bytes [begin, end), in pieces, until it returns false.
template <typename Look>
void look_at(const Layout& layout, Count begin, Count end, Look look) {
  if (layout.type->is_dense()) {
    const auto* const data = static_cast<const std::byte*>(layout.base) + begin;
    look(begin, data, static_cast<std::size_t>(end - begin));
    return;
  }
  std::array<std::byte, kRoom> room;
  while (begin < end) {
    const auto bytes = static_cast<std::size_t>(std::min<Count>(end - begin, kRoom));
    pack({room.data(), bytes}, layout, begin);
    if (!look(begin, room.data(), bytes)) return;
    begin += static_cast<Count>(bytes);
  }
}

}  // namespace

std::uint64_t fingerprint(const Layout& layout) {
  const Count bytes = layout.bytes();
  std::uint64_t hash = static_cast<std::uint64_t>(bytes) * kOdd;
  const auto take = [&](Count, const std::byte* data, std::size_t size) {
    hash = mixed(hash, data, size);
    return true;
  };
  if (bytes == 0) return hash;
  if (bytes <= kMostLookedAt) {
    look_at(layout, 0, bytes, take);
    return hash;
  }
  constexpr Count kSamples = kMostLookedAt / kSampleBytes;
  for (Count i = 0; i < kSamples; ++i) {
    const Count begin = (bytes - kSampleBytes) / (kSamples - 1) * i;
    const Count at = i + 1 == kSamples ? bytes - kSampleBytes : begin;
    look_at(layout, at, at + kSampleBytes, take);
  }
  return hash;
}

Count first_difference(const Layout& layout, const std::byte* packed) {
  Count found = -1;
  if (layout.bytes() == 0) return found;
  look_at(layout, 0, layout.bytes(), [&](Count offset, const std::byte* data, std::size_t bytes) {
    if (std::memcmp(data, packed + offset, bytes) == 0) return true;
    found = offset + (std::mismatch(data, data + bytes, packed + offset).first - data);
    return false;
  });
  return found;
}

}  // namespace clump::datatype
