#include "datatype/fingerprint.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/readable.h"
#include "datatype/cursor.h"

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

/// The first packed byte of [begin, end) that differs from `packed`, which holds these; -1: none.
Count first_difference(const Layout& layout, Count begin, Count end, const std::byte* packed) {
  Count found = -1;
  if (begin == end) return found;
  look_at(layout, begin, end, [&](Count offset, const std::byte* data, std::size_t bytes) {
    const std::byte* const before = packed + (offset - begin);
    if (std::memcmp(data, before, bytes) == 0) return true;
    found = offset + (std::mismatch(data, data + bytes, before).first - data);
    return false;
  });
  return found;
}

/// Calls look(begin, end) for the packed bytes that are looked at.
template <typename Look>
void for_each_piece(Count bytes, Look look) {
  if (bytes == 0) return;
  if (bytes <= kMostLookedAt) return look(Count{0}, bytes);
  constexpr Count kSamples = kMostLookedAt / kSampleBytes;
  for (Count i = 0; i < kSamples; ++i) {
    const Count begin = (bytes - kSampleBytes) / (kSamples - 1) * i;
    const Count at = i + 1 == kSamples ? bytes - kSampleBytes : begin;
    look(at, at + kSampleBytes);
  }
}

/// The end of the packed bytes from `begin` on, before `end`, that can be read.
Count end_of_readable(const Layout& layout, Count begin, Count end) {
  constexpr std::intptr_t kPage = 4096;
  std::intptr_t known = -1;  // the page of the last byte that was asked for
  Cursor cursor(layout, begin);
  while (begin < end) {
    const Run& run = cursor.run();
    const Count bytes = std::min(run.block, end - begin);
    const std::intptr_t at = run.address(0), last = (at + bytes - 1) / kPage;
    const bool is_known = at / kPage == known && last == known;
    const Count readable = is_known ? bytes : base::readable_bytes(at, bytes);
    known = last;
    begin += readable;
    if (readable < bytes) break;
    cursor.skip_blocks(1);
  }
  return begin;
}

}  // namespace

std::uint64_t fingerprint(const Layout& layout) {
  const Count bytes = layout.bytes();
  std::uint64_t hash = static_cast<std::uint64_t>(bytes) * kOdd;
  const auto take = [&](Count, const std::byte* data, std::size_t size) {
    hash = mixed(hash, data, size);
    return true;
  };
  for_each_piece(bytes, [&](Count begin, Count end) { look_at(layout, begin, end, take); });
  return hash;
}

Count first_difference(const Layout& layout, const std::byte* packed) {
  return first_difference(layout, 0, layout.bytes(), packed);
}

Snapshot::Snapshot(const Layout& layout) {
  bool is_all = true;
  for_each_piece(layout.bytes(), [&](Count begin, Count end) {
    if (!is_all) return;
    const Count bytes = end_of_readable(layout, begin, end) - begin;
    is_all = bytes == end - begin;
    const std::size_t before = packed_.size();
    packed_.resize(before + static_cast<std::size_t>(bytes));
    pack(std::span(packed_).subspan(before), layout, begin);
    pieces_.push_back({begin, bytes});
  });
}

bool Snapshot::has_changed(const Layout& layout, Count bytes) const {
  const std::byte* packed = packed_.data();
  for (const Piece& piece : pieces_) {
    const Count end = std::min(piece.begin + piece.bytes, bytes);
    if (piece.begin < end && first_difference(layout, piece.begin, end, packed) >= 0) return true;
    packed += piece.bytes;
  }
  return false;
}

}  // namespace clump::datatype
