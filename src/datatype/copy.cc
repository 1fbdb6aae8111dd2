// Copying between layouts: as nests (nest.h) where they are some; otherwise with two cursors side by side,
// and a tight loop for each pair of runs.
#include <algorithm>

#include "datatype/cursor.h"
#include "datatype/move.h"
#include "datatype/nest.h"

namespace clump::datatype {
namespace {

// `block` is the block size of both, or of one when the other run is a single larger block.
void move_runs(const Run& to, const Run& from, Count block, Count count) {
  if (count == 1) return move_short(to.address(0), from.address(0), block);
  const Steps to_steps{to.address(0), to.count == 1 ? block : to.stride};
  const Steps from_steps{from.address(0), from.count == 1 ? block : from.stride};
  const bool to_places = to.count > 1 && to.offsets != nullptr;
  const bool from_places = from.count > 1 && from.offsets != nullptr;
  if (to_places && from_places) {
    move_blocks(Places{to.base, to.offsets}, Places{from.base, from.offsets}, block, count);
  } else if (to_places) {
    move_blocks(Places{to.base, to.offsets}, from_steps, block, count);
  } else if (from_places) {
    move_blocks(to_steps, Places{from.base, from.offsets}, block, count);
  } else {
    move_blocks(to_steps, from_steps, block, count);
  }
}

// So many blocks of `block` bytes can be taken from a run.
Count blocks_of(const Run& run, Count block) {
  if (run.block == block) return run.count;
  return run.count == 1 ? run.block / block : 0;
}

void skip(Cursor& cursor, Count block, Count count) {
  if (cursor.run().count == 1) {
    cursor.skip_bytes(block * count);
  } else {
    cursor.skip_blocks(count);
  }
}

void copy_runs(Cursor& to, Cursor& from, Count bytes) {
  while (bytes > 0) {
    const Count block = std::min(to.run().block, from.run().block);
    const Count count =
        bytes < block ? 0
                      : std::min({blocks_of(to.run(), block), blocks_of(from.run(), block), bytes / block});
    if (count > 0) {
      move_runs(to.run(), from.run(), block, count);
      skip(to, block, count);
      skip(from, block, count);
      bytes -= block * count;
    } else {
      const Count piece = std::min(block, bytes);
      move_short(to.run().address(0), from.run().address(0), piece);
      to.skip_bytes(piece);
      from.skip_bytes(piece);
      bytes -= piece;
    }
  }
}

std::intptr_t address(const void* base, Count offset) {
  return reinterpret_cast<std::intptr_t>(base) + offset;
}

}  // namespace

void copy(const Layout& to, const Layout& from, Count offset, Count bytes) {
  if (bytes <= 0) return;
  if (to.type->is_dense()) {
    return pack({static_cast<std::byte*>(to.base) + offset, static_cast<std::size_t>(bytes)}, from, offset);
  }
  if (from.type->is_dense()) {
    return unpack(to, offset,
                  {static_cast<const std::byte*>(from.base) + offset, static_cast<std::size_t>(bytes)});
  }
  if (copy_nests(to, from, offset, bytes)) return;
  Cursor target(to, offset), source(from, offset);
  copy_runs(target, source, bytes);
}

void pack(std::span<std::byte> out, const Layout& from, Count offset) {
  const auto bytes = static_cast<Count>(out.size());
  if (bytes == 0) return;
  if (from.type->is_dense()) return move(address(out.data(), 0), address(from.base, offset), bytes);
  if (pack_nest(address(out.data(), 0), from, offset, bytes)) return;
  Cursor target(out.data(), bytes), source(from, offset);
  copy_runs(target, source, bytes);
}

void unpack(const Layout& to, Count offset, std::span<const std::byte> in) {
  const auto bytes = static_cast<Count>(in.size());
  if (bytes == 0) return;
  if (to.type->is_dense()) return move(address(to.base, offset), address(in.data(), 0), bytes);
  if (unpack_nest(to, address(in.data(), 0), offset, bytes)) return;
  Cursor target(to, offset), source(in.data(), bytes);
  copy_runs(target, source, bytes);
}

}  // namespace clump::datatype
