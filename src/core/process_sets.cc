#include "core/process_sets.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/rank.h"

namespace clump::core {

namespace {

/// A way to divide the ranks of a job into sets. Two ranks are in one set if this gives the same name for
/// both.
struct Kind {
  bool (*known)(const World& world);
  std::string (*name)(const World& world, int rank);
  bool (*together)(const World& world, int one, int other);
};

constexpr auto kAlways = [](const World&) { return true; };
constexpr auto kEveryone = [](const World&, int, int) { return true; };

constexpr Kind kKinds[] = {
    {kAlways, [](const World&, int) { return std::string("mpi://WORLD"); }, kEveryone},
    {kAlways, [](const World&, int) { return std::string("mpi://SELF"); },
     [](const World&, int one, int other) { return one == other; }},
    {kAlways, [](const World& world, int) { return fmt::format("clump://node/{}", world.node); },
     [](const World& world, int one, int other) { return world.node_of(one) == world.node_of(other); }},
    {kAlways,
     [](const World& world, int rank) { return fmt::format("clump://app/{}", world.app_numbers[rank]); },
     [](const World& world, int one, int other) {
       return world.app_numbers[one] == world.app_numbers[other];
     }},
    {[](const World& world) { return !world.homes.empty(); },
     [](const World& world, int rank) { return fmt::format("clump://worker/{}", world.homes[rank]); },
     [](const World& world, int one, int other) { return world.homes[one] == world.homes[other]; }},
};

}  // namespace

std::vector<std::string> process_sets_of(const Rank& rank) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds)
    if (kind.known(rank.world)) names.push_back(kind.name(rank.world, rank.number));
  return names;
}

bool names_process_set(std::string_view text, std::string_view name) {
  if (!name.starts_with("mpi://")) return text == name;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(text, name, {}, lower, lower);
}

base::Ref<const Group> process_set(const Rank& rank, std::string_view name, Origin origin) {
  const World& world = rank.world;
  for (const Kind& kind : kKinds) {
    if (!kind.known(world) || !names_process_set(name, kind.name(world, rank.number))) continue;
    std::vector<int> members;
    for (int other = 0; other < world.size; ++other)
      if (kind.together(world, rank.number, other)) members.push_back(other);
    return Group::of(members, origin);
  }
  return {};
}

}  // namespace clump::core
