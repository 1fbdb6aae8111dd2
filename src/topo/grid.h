// Arithmetic on a grid of ranks, the last dimension varying fastest (MPI-5.0 section 8.5).
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/types.h"

namespace clump::topo {

class Grid {
 public:
  struct Dimension {
    int size = 1;
    bool periodic = false;

    bool operator==(const Dimension&) const = default;
  };
  /// Every size is at least 1, and their product fits an int.
  explicit Grid(std::vector<Dimension> dimensions) : dimensions_(std::move(dimensions)) {}

  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  /// The number of places; 1 for a grid without dimensions.
  int places() const;

  /// The rank at `coordinates`, one for each dimension. Those of periodic dimensions wrap around; the others
  /// must be in range.
  int rank_at(std::span<const int> coordinates) const;
  /// 0 <= rank < places().
  std::vector<int> coordinates_of(int rank) const;
  /// The rank `displacement` steps away along `dimension`; MPI_PROC_NULL beyond an end that is not periodic.
  int neighbour(int rank, int dimension, std::int64_t displacement) const;

 private:
  std::vector<Dimension> dimensions_;
};

/// Divides `places` >= 1 into `sizes.size()` factors that are as close to each other as can be, the largest
/// first (MPI_Dims_create, MPI-5.0 section 8.5.2): the largest and the smallest differ as little as possible.
/// Of several such divisions it is the one with the smallest faces (20 * 18 * 14 and 21 * 16 * 15: the
/// second).
void balance(int places, std::span<int> sizes);

}  // namespace clump::topo
