#include "datatype/records.h"

#include <algorithm>

#include "datatype/move.h"

namespace clump::datatype {
namespace {

// Records of so many blocks or fewer are copied a block of many records at a time, so that sizes are
// constants in the loops.
constexpr Count kFewBlocks = 16;
// As many records are treated so at a time: what the first block's loop has loaded is still in the cache for
// the last one's.
constexpr Count kBatch = 128;

// How a record is divided: block i has the packed bytes begins[i] to begins[i + 1].
struct Shape {
  const Count* begins;
  Count blocks;
  Count bytes() const { return begins[blocks]; }
};

// Where the blocks of one side lie: block b of record r at base + r * stride + offsets[b].
struct Side {
  std::intptr_t base;
  Count stride;
  const Count* offsets;
  std::intptr_t address(Count record, Count block) const { return base + record * stride + offsets[block]; }
};

// Copies the packed bytes [from_byte, to_byte) of one record.
void copy_part(const Side& to, const Side& from, const Shape& shape, Count record, Count from_byte,
               Count to_byte) {
  Count block = 0;
  if (from_byte > 0)
    block = std::upper_bound(shape.begins, shape.begins + shape.blocks, from_byte) - shape.begins - 1;
  for (; block < shape.blocks && shape.begins[block] < to_byte; ++block) {
    const Count skipped = std::max<Count>(0, from_byte - shape.begins[block]);
    const Count bytes = std::min(shape.begins[block + 1], to_byte) - shape.begins[block] - skipped;
    move_short(to.address(record, block) + skipped, from.address(record, block) + skipped, bytes);
  }
}

void copy_whole(const Side& to, const Side& from, const Shape& shape, Count first, Count last) {
  if (shape.blocks > kFewBlocks || last - first < 4) {
    for (Count record = first; record < last; ++record) copy_part(to, from, shape, record, 0, shape.bytes());
    return;
  }
  for (Count record = first; record < last; record += kBatch) {
    const Count count = std::min(kBatch, last - record);
    for (Count block = 0; block < shape.blocks; ++block) {
      move_blocks(Steps{to.address(record, block), to.stride},
                  Steps{from.address(record, block), from.stride},
                  shape.begins[block + 1] - shape.begins[block], count);
    }
  }
}

void copy_sides(const Side& to, const Side& from, const Shape& shape, Count offset, Count bytes) {
  const Count size = shape.bytes(), end = offset + bytes;
  Count record = offset / size;
  if (const Count start = record * size; start < offset) {
    copy_part(to, from, shape, record, offset - start, std::min(size, end - start));
    ++record;
  }
  const Count whole = end / size;
  if (record < whole) {
    copy_whole(to, from, shape, record, whole);
    record = whole;
  }
  if (record * size < end) copy_part(to, from, shape, record, 0, end - record * size);
}

// The packed form of such records: a record that has no gaps.
Side solid(std::intptr_t base, const Shape& shape) { return {base, shape.bytes(), shape.begins}; }

// The records that a layout consists of; no blocks if it does not.
Shape records_in(const Layout& layout, Side& side) {
  const Node outer = repeat(layout.type->root(), layout.count, layout.type->extent());
  const Node& record = outer.kind == Node::Kind::kLoop ? outer.children[0] : outer;
  if (record.kind != Node::Kind::kBlocks) return {nullptr, 0};
  Count offset = record.offset;
  if (&record != &outer) offset += outer.offset;
  side = Side{reinterpret_cast<std::intptr_t>(layout.base) + offset, outer.stride, record.offsets};
  return {record.begins, record.count};
}

// Whether both divide the records that hold the packed bytes [offset, offset + bytes) alike. Two ranks that
// make the same type have two lists.
bool divided_alike(const Shape& a, const Shape& b, Count offset, Count bytes) {
  if (a.begins == b.begins) return true;
  if (a.blocks != b.blocks || a.bytes() != b.bytes()) return false;
  const Count size = a.bytes(), last = offset + bytes - 1;
  const Count *from = a.begins, *to = a.begins + a.blocks;
  if (offset / size == last / size) {  // of a long record only the blocks that are wanted
    from = std::upper_bound(from, to, offset % size) - 1;
    to = std::upper_bound(from, to, last % size);
  }
  return std::equal(from, to + 1, b.begins + (from - a.begins));
}

}  // namespace

bool copy_records(const Layout& to, const Layout& from, Count offset, Count bytes) {
  Side target, source;
  const Shape shape = records_in(to, target);
  if (shape.blocks == 0) return false;
  const Shape other = records_in(from, source);
  if (other.blocks == 0 || !divided_alike(shape, other, offset, bytes)) return false;
  copy_sides(target, source, shape, offset, bytes);
  return true;
}

bool pack_records(std::intptr_t to, const Layout& from, Count offset, Count bytes) {
  Side source;
  const Shape shape = records_in(from, source);
  if (shape.blocks == 0) return false;
  copy_sides(solid(to - offset, shape), source, shape, offset, bytes);
  return true;
}

bool unpack_records(const Layout& to, std::intptr_t from, Count offset, Count bytes) {
  Side target;
  const Shape shape = records_in(to, target);
  if (shape.blocks == 0) return false;
  copy_sides(target, solid(from - offset, shape), shape, offset, bytes);
  return true;
}

}  // namespace clump::datatype
