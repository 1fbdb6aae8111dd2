// Cartesian topologies (MPI-5.0 section 8.5): ranks on a grid, the last dimension varying fastest.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/comm.h"

namespace clump::topo {

/// Immutable. All functions are arithmetic: no communication, any thread.
class Cartesian final : public core::Topology {
 public:
  struct Dimension {
    int size = 1;
    bool periodic = false;
  };
  /// Every size is at least 1, and their product fits an int.
  explicit Cartesian(std::vector<Dimension> dimensions) : dimensions_(std::move(dimensions)) {}

  std::unique_ptr<core::Topology> clone() const override { return std::make_unique<Cartesian>(*this); }

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
/// first (MPI_Dims_create, MPI-5.0 section 8.5.2): the largest factor is the smallest possible, and so on for
/// the rest.
void balance(int places, std::span<int> sizes);

}  // namespace clump::topo
