#include "topo/grid.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

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

/// Looks for the factors of a number that are closest to each other.
class Balance {
 public:
  Balance(int places, std::span<int> best)
      : places_(places), divisors_(divisors_of(places)), best_(best), sizes_(best.size()) {
    std::fill(best.begin(), best.end(), 1);
    best[0] = places;
  }

  void find() {
    for (const int size : divisors_) {
      if (power(size, best_.size()) < places_ * kLess) continue;  // as the largest of them it is too small
      if (power(least(size), best_.size() - 1) * size > places_ * kMore) return;
      sizes_[0] = size;
      fill(1, places_ / size);
    }
  }

 private:
  // For products that are the same but for rounding.
  static constexpr double kLess = 0.999999, kMore = 1.000001;
  // Not std::pow(): the MPI library does without libm. mpiexec preloads it, and what it needs stands before
  // the program's libraries, of which ld.so then relocates some that use libm, and do not name it, too early.
  static double power(int base, std::size_t exponent) {
    double result = 1;
    for (double factor = base; exponent != 0; exponent >>= 1, factor *= factor)
      if ((exponent & 1) != 0) result *= factor;
    return result;
  }

  static int spread(std::span<const int> sizes) { return sizes.front() - sizes.back(); }
  /// What is sent across the faces of a box that is cut into so many parts along its sides.
  std::int64_t surface(std::span<const int> sizes) const {
    std::int64_t sum = 0;
    for (const int size : sizes) sum += places_ / size;
    return sum;
  }
  /// The smallest of the factors must not be below this, if the largest is `largest`.
  int least(int largest) const { return std::max(largest - spread(best_), 1); }

  /// Tries all that sizes_[first] and those behind it can be, where `rest` is their product.
  void fill(std::size_t first, int rest) {
    const std::size_t count = sizes_.size() - first;
    if (count == 0) return accept(rest);
    const auto from = std::upper_bound(divisors_.begin(), divisors_.end(), sizes_[first - 1]);
    for (auto size = std::make_reverse_iterator(from); size != divisors_.rend(); ++size) {
      const int lowest = least(sizes_[0]);
      if (*size < lowest || power(*size, count) < rest * kLess) return;
      if (rest % *size != 0 || power(lowest, count - 1) * *size > rest * kMore) continue;
      sizes_[first] = *size;
      fill(first + 1, rest / *size);
    }
  }

  void accept(int rest) {
    if (rest != 1) return;
    const auto closer = std::pair(spread(sizes_), surface(sizes_)) < std::pair(spread(best_), surface(best_));
    if (closer) std::copy(sizes_.begin(), sizes_.end(), best_.begin());
  }

  const int places_;
  const std::vector<int> divisors_;
  const std::span<int> best_;
  std::vector<int> sizes_;
};

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
  if (!sizes.empty()) Balance(places, sizes).find();
}

}  // namespace clump::topo
