#include "topo/links.h"

#include <algorithm>

namespace clump::topo {

Links::Links(int places, std::span<const Link> links) : begins_(static_cast<std::size_t>(places) + 1, 0) {
  const auto visit = [&](auto act) {
    for (const Link& link : links) {
      if (link.one == link.other || link.weight == 0) continue;
      act(link.one, link.other, link.weight);
      act(link.other, link.one, link.weight);
    }
  };
  visit([&](int from, int, std::int64_t) { ++begins_[static_cast<std::size_t>(from) + 1]; });
  for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
  ends_.resize(begins_.back());
  std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
  visit([&](int from, int to, std::int64_t weight) {
    ends_[next[static_cast<std::size_t>(from)]++] = {to, weight};
  });
  merge();
}

void Links::merge() {
  std::size_t kept = 0;
  for (std::size_t place = 0; place + 1 < begins_.size(); ++place) {
    const std::span<End> own(&ends_[begins_[place]], begins_[place + 1] - begins_[place]);
    std::ranges::sort(own, {}, &End::place);
    begins_[place] = kept;
    for (const End& end : own) {
      if (kept > begins_[place] && ends_[kept - 1].place == end.place)
        ends_[kept - 1].weight += end.weight;
      else
        ends_[kept++] = end;
    }
  }
  begins_.back() = kept;
  ends_.resize(kept);
}

std::int64_t Links::cut(std::span<const int> part_of) const {
  std::int64_t twice = 0;
  for (int place = 0; place < places(); ++place)
    for (const End& end : of(place))
      if (part_of[static_cast<std::size_t>(place)] != part_of[static_cast<std::size_t>(end.place)])
        twice += end.weight;
  return twice / 2;
}

Links links_of(const Grid& grid) {
  std::vector<Link> links;
  const int dimensions = static_cast<int>(grid.dimensions().size());
  for (int place = 0; place < grid.places(); ++place)
    for (int dimension = 0; dimension < dimensions; ++dimension)
      if (const int above = grid.neighbour(place, dimension, 1); above != MPI_PROC_NULL)
        links.push_back({place, above});
  return {grid.places(), links};
}

namespace {

class Swaps {
 public:
  Swaps(const Links& links, std::span<int> part_of) : links_(links), part_of_(part_of) {
    members_.resize(static_cast<std::size_t>(std::ranges::max(part_of)) + 1);
    for (int place = 0; place < links.places(); ++place) {
      std::vector<int>& members = members_[static_cast<std::size_t>(part(place))];
      at_.push_back(members.size());
      members.push_back(place);
    }
  }

  /// False once there is nothing to gain, or it takes too long.
  bool pass() {
    bool any = false;
    for (int place = 0; place < links_.places() && budget_ > 0; ++place) {
      // Of two places that gain by a swap one gains by itself, and is next to the part that it goes to.
      for (const Links::End& end : links_.of(place))
        if (part(end.place) != part(place) && gain(place, part(end.place)) > 0)
          any = swap_into(place, part(end.place)) || any;
    }
    return any && budget_ > 0;
  }

 private:
  int part(int place) const { return part_of_[static_cast<std::size_t>(place)]; }

  /// What the cut would lose if `place` were in `other`, and nobody had to leave that.
  std::int64_t gain(int place, int other) {
    std::int64_t sum = 0;
    for (const Links::End& end : links_.of(place))
      sum += part(end.place) == other ? end.weight : part(end.place) == part(place) ? -end.weight : 0;
    budget_ -= static_cast<std::int64_t>(links_.of(place).size()) + 1;
    return sum;
  }

  std::int64_t weight_between(int one, int other) const {
    const std::span<const Links::End> ends = links_.of(one);
    const auto found = std::ranges::lower_bound(ends, other, {}, &Links::End::place);
    return found != ends.end() && found->place == other ? found->weight : 0;
  }

  bool swap_into(int place, int other) {
    const std::int64_t own = gain(place, other);
    std::int64_t best = 0;
    int partner = -1;
    for (const int candidate : members_[static_cast<std::size_t>(other)]) {
      const std::int64_t both = own + gain(candidate, part(place)) - 2 * weight_between(place, candidate);
      if (both > best) {
        best = both;
        partner = candidate;
      }
    }
    if (partner < 0) return false;
    const auto one = static_cast<std::size_t>(place), two = static_cast<std::size_t>(partner);
    members_[static_cast<std::size_t>(part(place))][at_[one]] = partner;
    members_[static_cast<std::size_t>(other)][at_[two]] = place;
    std::swap(at_[one], at_[two]);
    std::swap(part_of_[one], part_of_[two]);
    return true;
  }

  const Links& links_;
  const std::span<int> part_of_;
  std::vector<std::vector<int>> members_;  // of each part
  std::vector<std::size_t> at_;            // by place, where it stands in members_
  std::int64_t budget_ = 20'000'000;       // looks at a link: some tenths of a second
};

}  // namespace

void improve(const Links& links, std::span<int> part_of) {
  if (part_of.empty()) return;
  for (Swaps swaps(links, part_of); swaps.pass();) {
  }
}

}  // namespace clump::topo
