#include "topo/partition.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>

#include "topo/scotch.h"

namespace clump::topo {

namespace {

/// Moves places until each part has its size, those first that cost least.
void fit(const Links& links, std::span<const int> sizes, std::span<int> part_of) {
  std::vector<int> room(sizes.begin(), sizes.end());
  for (const int part : part_of) --room[static_cast<std::size_t>(part)];
  std::vector<std::int64_t> to(sizes.size());
  while (std::ranges::min(room) < 0) {
    std::int64_t best = std::numeric_limits<std::int64_t>::min();
    int moved = 0, target = 0;
    for (int place = 0; place < links.places(); ++place) {
      const auto own = static_cast<std::size_t>(part_of[static_cast<std::size_t>(place)]);
      if (room[own] >= 0) continue;
      std::ranges::fill(to, 0);
      for (const Links::End& end : links.of(place))
        to[static_cast<std::size_t>(part_of[static_cast<std::size_t>(end.place)])] += end.weight;
      for (std::size_t part = 0; part < to.size(); ++part) {
        if (room[part] <= 0 || to[part] - to[own] <= best) continue;
        best = to[part] - to[own];
        moved = place;
        target = static_cast<int>(part);
      }
    }
    int& part = part_of[static_cast<std::size_t>(moved)];
    ++room[static_cast<std::size_t>(part)];
    part = target;
    --room[static_cast<std::size_t>(part)];
  }
}

/// Numbers 0, 1, ... in the order of first appearance; how many there are.
int number(std::span<const int> names, std::vector<int>& numbers) {
  std::unordered_map<int, int> number_of;
  numbers.clear();
  for (const int name : names)
    numbers.push_back(number_of.try_emplace(name, static_cast<int>(number_of.size())).first->second);
  return static_cast<int>(number_of.size());
}

/// The links among some places, which are numbered anew.
Links among(const Links& links, std::span<const int> places) {
  std::vector<int> number_of(static_cast<std::size_t>(links.places()), -1);
  for (std::size_t i = 0; i < places.size(); ++i)
    number_of[static_cast<std::size_t>(places[i])] = static_cast<int>(i);
  std::vector<Link> kept;
  for (const int place : places)
    for (const Links::End& end : links.of(place))
      if (end.place > place && number_of[static_cast<std::size_t>(end.place)] >= 0)
        kept.push_back({number_of[static_cast<std::size_t>(place)],
                        number_of[static_cast<std::size_t>(end.place)], end.weight});
  return {static_cast<int>(places.size()), kept};
}

std::vector<std::vector<int>> members_of(std::span<const int> part_of, int parts) {
  std::vector<std::vector<int>> members(static_cast<std::size_t>(parts));
  for (std::size_t i = 0; i < part_of.size(); ++i)
    members[static_cast<std::size_t>(part_of[i])].push_back(static_cast<int>(i));
  return members;
}

/// Within a host: which of its ranks is to have each of its places.
base::Status place_on_workers(const Links& links, std::span<const int> places, std::span<const int> own,
                              std::span<const int> workers, std::vector<int>& ranks) {
  std::vector<int> names, part_of;
  for (const int rank : own) names.push_back(workers[static_cast<std::size_t>(rank)]);
  const int parts = number(names, part_of);
  const std::vector<std::vector<int>> ranks_of = members_of(part_of, parts);
  CLUMP_TRY(partition(among(links, places), part_of));
  std::vector<std::size_t> next(ranks_of.size(), 0);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto worker = static_cast<std::size_t>(part_of[i]);
    const auto rank = static_cast<std::size_t>(ranks_of[worker][next[worker]++]);
    ranks[static_cast<std::size_t>(places[i])] = own[rank];
  }
  return {};
}

/// Between hosts, and between workers, of which those of one host are part.
std::pair<std::int64_t, std::int64_t> cuts(const Links& links, std::span<const int> hosts,
                                           std::span<const int> workers, std::span<const int> ranks) {
  std::vector<int> host_of, worker_of;
  for (std::size_t place = 0; place < hosts.size(); ++place) {
    const std::size_t rank = ranks.empty() ? place : static_cast<std::size_t>(ranks[place]);
    host_of.push_back(hosts[rank]);
    worker_of.push_back(workers[rank]);
  }
  return {links.cut(host_of), links.cut(worker_of)};
}

}  // namespace

base::Status partition(const Links& links, std::span<int> part_of) {
  const int parts = part_of.empty() ? 0 : std::ranges::max(part_of) + 1;
  if (parts < 2 || parts == links.places() || links.cut(part_of) == 0) return {};
  std::vector<int> sizes(static_cast<std::size_t>(parts), 0);
  for (const int part : part_of) ++sizes[static_cast<std::size_t>(part)];
  std::vector<int> found(part_of.size()), swapped(part_of.begin(), part_of.end());
  CLUMP_TRY(partition_by_scotch(links, sizes, found));
  fit(links, sizes, found);
  for (std::vector<int>* const candidate : {&found, &swapped}) {
    improve(links, *candidate);
    if (links.cut(*candidate) < links.cut(part_of)) std::ranges::copy(*candidate, part_of.begin());
  }
  return {};
}

base::Status place_on_hosts(const Links& links, std::span<const int> hosts, std::span<const int> workers,
                            std::vector<int>& ranks) {
  std::vector<int> part_of;
  const int count = number(hosts, part_of);
  const std::vector<std::vector<int>> ranks_of = members_of(part_of, count);
  CLUMP_TRY(partition(links, part_of));
  const std::vector<std::vector<int>> places_of = members_of(part_of, count);
  ranks.resize(hosts.size());
  for (std::size_t host = 0; host < places_of.size(); ++host)
    CLUMP_TRY(place_on_workers(links, places_of[host], ranks_of[host], workers, ranks));
  if (cuts(links, hosts, workers, ranks) >= cuts(links, hosts, workers, {})) ranks.clear();
  return {};
}

}  // namespace clump::topo
