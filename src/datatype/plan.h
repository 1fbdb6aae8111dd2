// Plans: how the blocks of a record are moved when there are many records. A block of up to 64 bytes is one
// or more moves of 16, 8, 4, 2 or 1 bytes, the last of which may overlap the one before it; up to four moves
// make a pass, two loops over the records in which all sizes are constants. So an array of structs is copied
// as by the loop that one would write for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace clump::datatype {

/// The blocks of a record: block i has the packed bytes begins[i] to begins[i + 1].
struct Shape {
  const Count* begins = nullptr;
  Count blocks = 0;
  Count bytes() const { return begins[blocks]; }
};

/// Records of more blocks have no plan.
constexpr Count kMostPlannedBlocks = 16;
/// Longer blocks are one move, of whatever size.
constexpr Count kLongestDivided = 64;

/// Where many records lie: record k of row i at base + i * row_stride + k * stride.
struct Grid {
  std::intptr_t base;
  Count row_stride;
  Count stride;
  std::intptr_t row(Count i) const { return base + i * row_stride; }
};

/// How many there are.
struct Extent {
  Count rows;
  Count records;  ///< in each row
};

/// Belongs to one thread, and lives for the time of one copy.
class Plan {
 public:
  /// The offsets of the blocks in a record, on either side. The shape has at most kMostPlannedBlocks.
  Plan(const Shape& shape, const Count* to, const Count* from);

  void run(const Grid& to, const Grid& from, Extent extent) const;

  /// From one place of a record to another.
  struct Move {
    Count to, from, bytes;
  };
  using Pass = void (*)(const Move* moves, const Grid& to, const Grid& from, Extent extent);

 private:
  static constexpr std::size_t kMostMoves = kMostPlannedBlocks * kLongestDivided / 16;

  struct Step {
    Pass pass;
    const Move* moves;
  };

  void add_block(Count to, Count from, Count bytes, Count size);
  void run_steps(const Grid& to, const Grid& from, Extent extent) const;

  std::array<Move, kMostMoves> moves_;
  std::array<Step, kMostMoves> steps_;
  std::size_t move_count_ = 0, step_count_ = 0;
};

}  // namespace clump::datatype
