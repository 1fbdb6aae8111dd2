// Cursor: a position in the packed bytes of a layout, which yields runs of equal blocks.
#pragma once

#include <array>
#include <memory>

#include "datatype/datatype.h"

namespace clump::datatype {

/// `count` blocks of `block` bytes: block i lies at base + i * stride or, if there are offsets, at base +
/// offsets[i]. Addresses are integers, because with MPI_BOTTOM they are made from a null pointer.
struct Run {
  std::intptr_t base = 0;
  const Count* offsets = nullptr;
  Count block = 0;
  Count count = 0;
  Count stride = 0;

  std::intptr_t address(Count i) const { return base + (offsets != nullptr ? offsets[i] : i * stride); }
};

/// Belongs to one thread. The layout's type must outlive it.
class Cursor {
 public:
  /// At packed byte `offset` of a layout, which must hold more bytes than that.
  Cursor(const Layout& layout, Count offset);
  /// At the start of a solid block of bytes.
  Cursor(const void* base, Count bytes) { now_ = solid(reinterpret_cast<std::intptr_t>(base), bytes); }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  /// The run at this position; its count is 0 at the end of the layout.
  const Run& run() const { return now_; }
  /// Moves behind `count` blocks of the run; all of them have to be of the run, or, if the run is one block,
  /// inside it.
  void skip_blocks(Count count);
  /// Moves forward by so many bytes, no more than the run's first block has.
  void skip_bytes(Count bytes);

 private:
  struct Frame {
    const Node* node;
    std::intptr_t base;
    Count index;
  };
  static constexpr std::uint32_t kInlineFrames = 12;

  static Run solid(std::intptr_t base, Count bytes) { return Run{.base = base, .block = bytes, .count = 1}; }
  void enter(const Node* node, std::intptr_t base, Count skip);
  void start_blocks(const Run& blocks, Count skip);
  void next();

  Run now_;
  Run later_;   // the rest of a run that was cut inside a block
  Node outer_;  // the `count` elements of the layout
  Frame* frames_ = nullptr;
  std::uint32_t depth_ = 0;
  std::array<Frame, kInlineFrames> inline_frames_;
  std::unique_ptr<Frame[]> more_frames_;
};

}  // namespace clump::datatype
