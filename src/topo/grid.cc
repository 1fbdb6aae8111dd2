#include "topo/grid.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace clump::topo {

namespace {

int wrap(std::int64_t coordinate, int size) {
  const auto rest = static_cast<int>(coordinate % size);
  return rest < 0 ? rest + size : rest;
}

/// All divisors, in ascending order.
std::vector<int> divisors_of(int number) {
  std::vector<int> small, large;
  for (int d = 1; d <= number / d; ++d) {
    if (number % d != 0) continue;
    small.push_back(d);
    if (d != number / d) large.push_back(number / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

/// Writes the best factors that are at most `limit` into `sizes`; false if there are none.
bool divide(int places, int limit, std::span<const int> divisors, std::span<int> sizes) {
  if (sizes.empty()) return places == 1;
  for (const int size : divisors) {
    if (size > limit) return false;
    if (places % size != 0) continue;
    // `size` is the largest of the factors, so it is at least their geometric mean; the small margin is for
    // rounding.
    if (std::pow(size, sizes.size()) < places * 0.999999) continue;
    sizes[0] = size;
    if (divide(places / size, size, divisors, sizes.subspan(1))) return true;
  }
  return false;
}

}  // namespace

int Grid::places() const {
  int product = 1;
  for (const Dimension& dimension : dimensions_) product *= dimension.size;
  return product;
}

int Grid::rank_at(std::span<const int> coordinates) const {
  int rank = 0;
  for (std::size_t i = 0; i < dimensions_.size(); ++i)
    rank = rank * dimensions_[i].size + wrap(coordinates[i], dimensions_[i].size);
  return rank;
}

std::vector<int> Grid::coordinates_of(int rank) const {
  std::vector<int> coordinates(dimensions_.size());
  for (std::size_t i = dimensions_.size(); i-- > 0;) {
    coordinates[i] = rank % dimensions_[i].size;
    rank /= dimensions_[i].size;
  }
  return coordinates;
}

int Grid::neighbour(int rank, int dimension, std::int64_t displacement) const {
  std::vector<int> coordinates = coordinates_of(rank);
  const auto [size, periodic] = dimensions_[dimension];
  const std::int64_t moved = coordinates[dimension] + displacement;
  if (!periodic && (moved < 0 || moved >= size)) return MPI_PROC_NULL;
  coordinates[dimension] = wrap(moved, size);
  return rank_at(coordinates);
}

void balance(int places, std::span<int> sizes) {
  if (!sizes.empty()) divide(places, places, divisors_of(places), sizes);
}

}  // namespace clump::topo
