#include "topo/packing.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "topo/links.h"

namespace clump::topo {

namespace {

constexpr std::size_t kTried = 12;

/// Counts through all digits below `sizes`, the last one fastest, to and fro: one digit changes each time, by
/// one. `turned`: the first digit falls.
class ToAndFro {
 public:
  ToAndFro(std::span<const int> sizes, bool turned) : sizes_(sizes), turned_(turned) {
    for (const int size : sizes) count_ *= size;
  }
  std::int64_t count() const { return count_; }
  void digits(std::int64_t index, std::span<int> digits) const {
    std::int64_t below = count_, before = turned_ ? 1 : 0;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      below /= sizes_[i];
      const int digit = static_cast<int>(index / below % sizes_[i]);
      digits[i] = before % 2 != 0 ? sizes_[i] - 1 - digit : digit;
      before = index / below;
    }
  }

 private:
  const std::span<const int> sizes_;
  const bool turned_;
  std::int64_t count_ = 1;
};

/// One way to cut a grid into strips.
struct Strips {
  std::size_t along = 0;    ///< the dimension that they follow
  std::vector<int> widths;  ///< in each dimension; not used in `along`
  bool even = false;        ///< all widths of a dimension differ by one at most; otherwise only the last
  double inside = 0;        ///< links of each place that stay inside its part, about

  int count(int size, std::size_t dimension) const {
    return (size + widths[dimension] - 1) / widths[dimension];
  }
  int begin(int number, int size, std::size_t dimension) const {
    if (!even) return std::min(number * widths[dimension], size);
    return static_cast<int>(std::int64_t{number} * size / count(size, dimension));
  }
};

class Packing {
 public:
  Packing(const Grid& grid, std::span<const int> part_of) : grid_(grid) {
    for (const Grid::Dimension& dimension : grid.dimensions()) dims_.push_back(dimension.size);
    sizes_.assign(static_cast<std::size_t>(std::ranges::max(part_of)) + 1, 0);
    for (const int part : part_of) ++sizes_[static_cast<std::size_t>(part)];
  }

  /// Most promising first.
  std::vector<Strips> ways() const {
    std::vector<Strips> all;
    for (std::size_t along = 0; along < dims_.size(); ++along) {
      Strips strips{along, std::vector<int>(dims_.size(), 1), false, 0};
      choose_widths(strips, 0, most_common_size(), all);
    }
    std::ranges::stable_sort(all, std::ranges::greater(), &Strips::inside);
    if (all.size() > kTried) all.resize(kTried);
    return all;
  }

  std::vector<int> cut_up(const Strips& strips) const {
    std::vector<int> part_of(static_cast<std::size_t>(grid_.places()));
    std::size_t part = 0;
    int left = sizes_.front();
    walk(strips, [&](int place) {
      while (left == 0) left = sizes_[++part];
      --left;
      part_of[static_cast<std::size_t>(place)] = static_cast<int>(part);
    });
    return part_of;
  }

 private:
  int most_common_size() const {
    std::vector<int> sorted = sizes_;
    std::ranges::sort(sorted);
    int common = 1, most = 0;
    for (std::size_t from = 0, to; from < sorted.size(); from = to) {
      to = from;
      while (to < sorted.size() && sorted[to] == sorted[from]) ++to;
      if (static_cast<int>(to - from) < most) continue;
      most = static_cast<int>(to - from);
      common = sorted[from];
    }
    return std::max(common, 1);
  }

  /// All that a part of so many places can be `room` wide in the dimensions from this one on.
  void choose_widths(Strips& strips, std::size_t dimension, int room, std::vector<Strips>& all) const {
    if (dimension == dims_.size()) {
      // Of a dimension in which a part is w wide, all but each w-th link stay inside.
      strips.inside = 1 - 1.0 / std::min(room, dims_[strips.along]);
      bool fit = true;
      for (std::size_t i = 0; i < dims_.size(); ++i) {
        if (i == strips.along) continue;
        strips.inside += 1 - 1.0 / strips.widths[i];
        fit = fit && dims_[i] % strips.widths[i] == 0;
      }
      all.push_back(strips);
      if (fit) return;
      all.push_back(strips);
      all.back().even = true;
      return;
    }
    if (dimension == strips.along) return choose_widths(strips, dimension + 1, room, all);
    for (int width = 1; width <= std::min(room, dims_[dimension]); ++width) {
      strips.widths[dimension] = width;
      choose_widths(strips, dimension + 1, room / width, all);
    }
    strips.widths[dimension] = 1;
  }

  template <typename Visit>
  void walk(const Strips& strips, Visit visit) const {
    std::vector<int> counts, sizes(dims_.size()), number(dims_.size()), digits(dims_.size());
    std::vector<std::size_t> order{strips.along};  // of the dimensions within a strip
    for (std::size_t i = 0; i < dims_.size(); ++i) {
      counts.push_back(i == strips.along ? 1 : strips.count(dims_[i], i));
      if (i != strips.along) order.push_back(i);
    }
    std::vector<int> begins(dims_.size()), place(dims_.size());
    const ToAndFro all(counts, false);
    for (std::int64_t strip = 0; strip < all.count(); ++strip) {
      all.digits(strip, number);
      for (std::size_t i = 0; i < order.size(); ++i) {
        const std::size_t d = order[i];
        begins[d] = d == strips.along ? 0 : strips.begin(number[d], dims_[d], d);
        sizes[i] = (d == strips.along ? dims_[d] : strips.begin(number[d] + 1, dims_[d], d)) - begins[d];
      }
      const ToAndFro within(sizes, strip % 2 != 0);
      for (std::int64_t i = 0; i < within.count(); ++i) {
        within.digits(i, digits);
        for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = begins[order[k]] + digits[k];
        visit(grid_.rank_at(place));
      }
    }
  }

  const Grid& grid_;
  std::vector<int> dims_, sizes_;  // of the grid; of the parts
};

}  // namespace

std::vector<int> pack(const Grid& grid, std::span<const int> part_of) {
  std::vector<int> best(part_of.begin(), part_of.end());
  if (grid.dimensions().empty()) return best;
  const Links links = links_of(grid);
  std::int64_t least = links.cut(best);
  const Packing packing(grid, part_of);
  std::vector<std::pair<std::int64_t, std::vector<int>>> found;
  for (const Strips& strips : packing.ways()) {
    std::vector<int> parts = packing.cut_up(strips);
    const std::int64_t cut = links.cut(parts);
    found.emplace_back(cut, std::move(parts));
  }
  std::ranges::stable_sort(found, {}, &std::pair<std::int64_t, std::vector<int>>::first);
  if (found.size() > 2) found.resize(2);
  for (auto& [cut, parts] : found) {
    improve(links, parts);
    if (const std::int64_t now = links.cut(parts); now < least) {
      least = now;
      best = std::move(parts);
    }
  }
  return best;
}

void sort_by_halves(const Grid& grid, std::span<int> places) {
  std::ranges::sort(places);
  if (places.size() <= 2) return;
  const std::size_t dimensions = grid.dimensions().size();
  std::vector<std::vector<int>> at;
  std::vector<int> low(dimensions, grid.places()), high(dimensions, 0);
  for (const int place : places) {
    at.push_back(grid.coordinates_of(place));
    for (std::size_t i = 0; i < dimensions; ++i) {
      low[i] = std::min(low[i], at.back()[i]);
      high[i] = std::max(high[i], at.back()[i]);
    }
  }
  std::size_t longest = 0;
  for (std::size_t i = 1; i < dimensions; ++i)
    if (high[i] - low[i] > high[longest] - low[longest]) longest = i;
  std::vector<std::pair<int, int>> sorted;  // coordinate, place
  for (std::size_t i = 0; i < places.size(); ++i)
    sorted.emplace_back(dimensions == 0 ? 0 : at[i][longest], places[i]);
  std::ranges::sort(sorted);
  std::ranges::transform(sorted, places.begin(), &std::pair<int, int>::second);
  sort_by_halves(grid, places.first(places.size() / 2));
  sort_by_halves(grid, places.subspan(places.size() / 2));
}

}  // namespace clump::topo
