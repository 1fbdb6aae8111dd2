// Whom the places of a topology talk to, and what of it crosses the borders between parts: hosts, or workers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topo/grid.h"

namespace clump::topo {

struct Link {
  int one, other;  ///< places
  std::int64_t weight = 1;
};

/// An undirected graph. Immutable.
class Links {
 public:
  struct End {
    int place;
    std::int64_t weight;
  };
  /// Several links between two places count together; those from a place to itself, and those without
  /// weight, do not count.
  Links(int places, std::span<const Link> links);

  int places() const { return static_cast<int>(begins_.size()) - 1; }
  /// In rising order.
  std::span<const End> of(int place) const {
    const auto at = static_cast<std::size_t>(place);
    return std::span(ends_).subspan(begins_[at], begins_[at + 1] - begins_[at]);
  }
  /// The weight of the links between places of different parts.
  std::int64_t cut(std::span<const int> part_of) const;

 private:
  void merge();

  std::vector<std::size_t> begins_;  // of each place's ends, and the end
  std::vector<End> ends_;
};

/// A link for each place and its upper neighbour, in each dimension.
Links links_of(const Grid& grid);

/// Places change parts in pairs as long as that lowers the cut and does not take too long. Parts keep their
/// sizes.
void improve(const Links& links, std::span<int> part_of);

}  // namespace clump::topo
