#include "datatype/nest.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "datatype/move.h"
#include "datatype/plan.h"

namespace clump::datatype {
namespace {

constexpr std::size_t kMostLoops = 8;
// Fewer records are copied block by block: to make a plan would take longer.
constexpr Count kWorthPlanning = 6;
// A short inner loop becomes more blocks of a larger record if these are no more: what one pass of a plan may
// do.
constexpr Count kMostUnrolled = 4;
// Between blocks of different sizes that are this short on average, a detour through a packed form is faster
// than to look at every two of them.
constexpr Count kShortBlock = 64;
constexpr Count kPiece = 8192;

// The blocks of a record lie at offsets[0], offsets[1]... from where the loops put it.
struct Nest {
  struct Loop {
    Count count, stride;
  };

  std::intptr_t base = 0;
  Shape shape;
  const Count* offsets = nullptr;
  std::size_t depth = 0;
  std::array<Loop, kMostLoops> loops;  // the innermost one last
  // For shapes that are not in a type's program.
  std::array<Count, kMostPlannedBlocks + 1> own_begins;
  std::array<Count, kMostPlannedBlocks> own_offsets;

  bool describe(const Layout& layout);
  void become_solid(std::intptr_t start, const Nest& like);
  bool divided_as(const Nest& other, Count offset, Count bytes) const;

  bool has_short_loop() const {
    return depth > 1 && loops[depth - 2].count >= kWorthPlanning &&
           shape.blocks * loops[depth - 1].count <= kMostUnrolled;
  }
  void unroll();
  bool has_short_blocks() const { return shape.bytes() <= kShortBlock * shape.blocks; }

 private:
  bool add_loop(const Node& node);
  void set_equal_blocks(Count block, Count count, const Count* places);
};

bool Nest::add_loop(const Node& node) {
  if (depth == kMostLoops) return false;
  loops[depth++] = {node.count, node.stride};
  return true;
}

void Nest::set_equal_blocks(Count block, Count count, const Count* places) {
  own_offsets[0] = 0;
  for (Count i = 0; i <= count; ++i) own_begins[i] = i * block;
  shape = {own_begins.data(), count};
  offsets = places != nullptr ? places : own_offsets.data();
}

bool Nest::describe(const Layout& layout) {
  const Node outer = repeat(layout.type->root(), layout.count, layout.type->extent());
  const Node* node = &outer;
  base = reinterpret_cast<std::intptr_t>(layout.base) + node->offset;
  for (; node->kind == Node::Kind::kLoop; base += node->offset) {
    if (!add_loop(*node)) return false;
    node = node->children;
  }
  switch (node->kind) {
    case Node::Kind::kBlock:
      set_equal_blocks(node->bytes, 1, nullptr);
      break;
    case Node::Kind::kStrided:
      if (!add_loop(*node)) return false;
      set_equal_blocks(node->block, 1, nullptr);
      break;
    case Node::Kind::kGather:
      if (node->count > kMostPlannedBlocks) return false;
      set_equal_blocks(node->block, node->count, node->offsets);
      break;
    case Node::Kind::kBlocks:
      shape = {node->begins, node->count};
      offsets = node->offsets;
      break;
    default:
      return false;
  }
  return true;
}

void Nest::unroll() {
  const Loop inner = loops[--depth];
  const Count blocks = shape.blocks, bytes = shape.bytes();
  if (offsets != own_offsets.data()) std::copy_n(offsets, blocks, own_offsets.data());
  if (shape.begins != own_begins.data()) std::copy_n(shape.begins, blocks + 1, own_begins.data());
  for (Count i = blocks; i < blocks * inner.count; ++i) {
    own_offsets[i] = own_offsets[i - blocks] + inner.stride;
    own_begins[i + 1] = own_begins[i + 1 - blocks] + bytes;
  }
  offsets = own_offsets.data();
  shape = {own_begins.data(), blocks * inner.count};
}

// The packed form of such a nest is one without gaps.
void Nest::become_solid(std::intptr_t start, const Nest& like) {
  base = start;
  shape = like.shape;
  offsets = shape.begins;
  depth = like.depth;
  Count stride = shape.bytes();
  for (std::size_t i = depth; i-- > 0; stride *= like.loops[i].count)
    loops[i] = {like.loops[i].count, stride};
}

// Whether the packed bytes [offset, offset + bytes) are divided alike. Two ranks that make the same type have
// two lists.
bool Nest::divided_as(const Nest& other, Count offset, Count bytes) const {
  if (depth != other.depth || shape.blocks != other.shape.blocks || shape.bytes() != other.shape.bytes())
    return false;
  for (std::size_t i = 1; i < depth; ++i)  // how often the outermost loop is passed does not matter
    if (loops[i].count != other.loops[i].count) return false;
  if (shape.begins == other.shape.begins) return true;
  const Count size = shape.bytes(), last = offset + bytes - 1;
  const Count *from = shape.begins, *to = from + shape.blocks;
  if (offset / size == last / size) {  // of a long record only the blocks that are wanted
    from = std::upper_bound(from, to, offset % size) - 1;
    to = std::upper_bound(from, to, last % size);
  }
  return std::equal(from, to + 1, other.shape.begins + (from - shape.begins));
}

// A record of both nests.
class Place {
 public:
  Place(const Nest& to, const Nest& from, Count record)
      : to_nest_(to), from_nest_(from), to_(to.base), from_(from.base), depth_(to.depth) {
    for (std::size_t i = depth_; i-- > 0; record /= to.loops[i].count) {
      index_[i] = i == 0 ? record : record % to.loops[i].count;
      to_ += index_[i] * to.loops[i].stride;
      from_ += index_[i] * from.loops[i].stride;
    }
  }

  std::intptr_t to() const { return to_; }
  std::intptr_t from() const { return from_; }
  Grid to_grid() const { return grid(to_nest_, to_); }
  Grid from_grid() const { return grid(from_nest_, from_); }

  /// What of the next `records` records lies in a grid: the rest of a row, or whole rows.
  Extent extent(Count records) const {
    const Count inner = to_nest_.loops[depth_ - 1].count, left = left_in(depth_ - 1);
    if (depth_ == 1 || left < inner || records < inner) return {1, std::min(left, records)};
    return {std::min(left_in(depth_ - 2), records / inner), inner};
  }
  void skip(Extent extent) {
    if (extent.rows == 1) {
      skip_in(depth_ - 1, extent.records);
    } else {
      skip_in(depth_ - 2, extent.rows);
    }
  }
  void skip_one() { skip_in(depth_ - 1, 1); }

 private:
  Grid grid(const Nest& nest, std::intptr_t base) const {
    return {base, depth_ > 1 ? nest.loops[depth_ - 2].stride : 0, nest.loops[depth_ - 1].stride};
  }
  Count left_in(std::size_t loop) const { return to_nest_.loops[loop].count - index_[loop]; }

  // Some iterations of a loop forward, and of those around it if that is its end.
  void skip_in(std::size_t loop, Count iterations) {
    for (std::size_t i = loop + 1; i-- > 0; iterations = 1) {
      const Nest::Loop &to = to_nest_.loops[i], &from = from_nest_.loops[i];
      index_[i] += iterations;
      to_ += iterations * to.stride;
      from_ += iterations * from.stride;
      if (index_[i] < to.count || i == 0) return;
      index_[i] = 0;
      to_ -= to.count * to.stride;
      from_ -= from.count * from.stride;
    }
  }

  const Nest& to_nest_;
  const Nest& from_nest_;
  std::intptr_t to_, from_;
  std::size_t depth_;
  std::array<Count, kMostLoops> index_;
};

// Copies the packed bytes [first, last) of one record.
void copy_part(const Nest& to, const Nest& from, const Place& place, Count first, Count last) {
  const Shape& shape = to.shape;
  Count block = 0;
  if (first > 0)
    block = std::upper_bound(shape.begins, shape.begins + shape.blocks, first) - shape.begins - 1;
  for (; block < shape.blocks && shape.begins[block] < last; ++block) {
    const Count skipped = std::max<Count>(0, first - shape.begins[block]);
    const Count bytes = std::min(shape.begins[block + 1], last) - shape.begins[block] - skipped;
    move_short(place.to() + to.offsets[block] + skipped, place.from() + from.offsets[block] + skipped, bytes);
  }
}

void copy_one_by_one(const Nest& to, const Nest& from, Place& place, Count records) {
  const Shape shape = to.shape;
  for (; records > 0; --records, place.skip_one()) {
    for (Count i = 0; i < shape.blocks; ++i) {
      move_short(place.to() + to.offsets[i], place.from() + from.offsets[i],
                 shape.begins[i + 1] - shape.begins[i]);
    }
  }
}

// As many rows at once as there are.
void copy_rows(const Nest& to, const Nest& from, Place& place, Count records) {
  const Plan plan(to.shape, to.offsets, from.offsets);
  while (records > 0) {
    const Extent extent = place.extent(records);
    plan.run(place.to_grid(), place.from_grid(), extent);
    place.skip(extent);
    records -= extent.rows * extent.records;
  }
}

void copy_alike(const Nest& to, const Nest& from, Count offset, Count bytes) {
  const Count size = to.shape.bytes(), first = offset / size, skipped = offset % size;
  Place place(to, from, first);
  if (skipped > 0) {
    const Count part = std::min(bytes, size - skipped);
    copy_part(to, from, place, skipped, skipped + part);
    bytes -= part;
    place.skip_one();
  }
  const Count records = bytes / size;
  if (records < kWorthPlanning || to.shape.blocks > kMostPlannedBlocks) {
    copy_one_by_one(to, from, place, records);
  } else {
    copy_rows(to, from, place, records);
  }
  if (const Count rest = bytes % size; rest > 0) copy_part(to, from, place, 0, rest);
}

// Packs and unpacks pieces that stay in the cache.
void copy_by_pieces(const Nest& to, const Nest& from, Count offset, Count bytes) {
  std::array<std::byte, kPiece> buffer;
  const auto start = reinterpret_cast<std::intptr_t>(buffer.data());
  Nest packed;
  for (Count done = 0; done < bytes; done += kPiece) {
    const Count piece = std::min(kPiece, bytes - done), at = offset + done;
    packed.become_solid(start - at, from);
    copy_alike(packed, from, at, piece);
    packed.become_solid(start - at, to);
    copy_alike(to, packed, at, piece);
  }
}

}  // namespace

bool copy_nests(const Layout& to, const Layout& from, Count offset, Count bytes) {
  Nest target, source;
  if (!target.describe(to) || !source.describe(from)) return false;
  if (!target.divided_as(source, offset, bytes)) {
    if (!target.has_short_blocks() || !source.has_short_blocks()) return false;
    copy_by_pieces(target, source, offset, bytes);
    return true;
  }
  while (target.has_short_loop()) {
    target.unroll();
    source.unroll();
  }
  copy_alike(target, source, offset, bytes);
  return true;
}

bool pack_nest(std::intptr_t to, const Layout& from, Count offset, Count bytes) {
  Nest target, source;
  if (!source.describe(from)) return false;
  while (source.has_short_loop()) source.unroll();
  target.become_solid(to - offset, source);
  copy_alike(target, source, offset, bytes);
  return true;
}

bool unpack_nest(const Layout& to, std::intptr_t from, Count offset, Count bytes) {
  Nest target, source;
  if (!target.describe(to)) return false;
  while (target.has_short_loop()) target.unroll();
  source.become_solid(from - offset, target);
  copy_alike(target, source, offset, bytes);
  return true;
}

}  // namespace clump::datatype
