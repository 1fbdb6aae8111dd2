// Which part of a grid goes where: boxes of neighbours into parts (hosts, workers) of given sizes.
#pragma once

#include <span>
#include <vector>

#include "topo/grid.h"

namespace clump::topo {

/// `part_of` has the part of each place as it is without reordering. Returns one in which each part has as
/// many places, and fewer links of the grid go from part to part; the same one if there is none better to be
/// found.
///
/// The grid is cut into strips along one of its dimensions, which are swept one after the other, to and fro,
/// and cut to the length that each part needs: so sizes need not be equal, nor divide anything. The best of
/// some widths and directions is taken, and improved by swaps (links.h).
std::vector<int> pack(const Grid& grid, std::span<const int> part_of);

/// Sorts places so that any number of equal parts of the list, one after the other, are close together.
void sort_by_halves(const Grid& grid, std::span<int> places);

}  // namespace clump::topo
