#include "core/process_sets.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/rank.h"

namespace clump::core {

namespace {

/// A way to divide the ranks of a launch into sets.
struct Kind {
  bool (*known)(const World& world);
  std::string (*name)(const Rank& rank);  // of the set that the rank is in
  bool (*together)(const Rank& rank, int other);
};

constexpr auto kAlways = [](const World&) { return true; };

std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

constexpr Kind kKinds[] = {
    {kAlways, [](const Rank&) { return std::string("mpi://WORLD"); }, [](const Rank&, int) { return true; }},
    {kAlways, [](const Rank&) { return std::string("mpi://SELF"); },
     [](const Rank& rank, int other) { return rank.number == other; }},
    {kAlways, [](const Rank& rank) { return fmt::format("clump://node/{}", rank.world.node); },
     [](const Rank& rank, int other) {
       return rank.world.node_of(rank.number) == rank.world.node_of(other);
     }},
    {kAlways, [](const Rank& rank) { return fmt::format("clump://app/{}", rank.launch.app_of(rank.number)); },
     [](const Rank& rank, int other) {
       return rank.launch.app_of(rank.number) == rank.launch.app_of(other);
     }},
    {[](const World& world) { return !world.homes.empty(); },
     [](const Rank& rank) { return fmt::format("clump://worker/{}", rank.world.homes[at(rank.number)]); },
     [](const Rank& rank, int other) {
       return rank.world.homes[at(rank.number)] == rank.world.homes[at(other)];
     }},
};

}  // namespace

std::vector<std::string> process_sets_of(const Rank& rank) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds)
    if (kind.known(rank.world)) names.push_back(kind.name(rank));
  return names;
}

bool names_process_set(std::string_view text, std::string_view name) {
  if (!name.starts_with("mpi://")) return text == name;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(text, name, {}, lower, lower);
}

base::Ref<const Group> process_set(const Rank& rank, std::string_view name, Origin origin) {
  const Launch& launch = rank.launch;
  for (const Kind& kind : kKinds) {
    if (!kind.known(rank.world) || !names_process_set(name, kind.name(rank))) continue;
    std::vector<int> members;
    for (int other = launch.first; other < launch.first + launch.size; ++other)
      if (kind.together(rank, other)) members.push_back(other);
    return Group::of(members, origin);
  }
  return {};
}

}  // namespace clump::core
