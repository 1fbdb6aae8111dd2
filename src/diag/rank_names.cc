#include "diag/rank_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace clump::diag {

namespace {

std::vector<pmi::LaunchNote>& launches() {
  static auto& all = *new std::vector<pmi::LaunchNote>;
  return all;
}

/// Null: mpiexec's own.
const pmi::LaunchNote* find(int number) {
  const auto found = std::ranges::find_if(launches(), [&](const pmi::LaunchNote& launch) {
    return number >= launch.first && number < launch.first + launch.size;
  });
  return found != launches().end() ? &*found : nullptr;
}

std::map<int, pmi::OtherRank>& others() {
  static auto& all = *new std::map<int, pmi::OtherRank>;
  return all;
}

}  // namespace

void name_other(const pmi::OtherRank& other) { others()[other.number] = other; }

const pmi::OtherRank* find_other(int number) {
  const auto found = others().find(number);
  return found != others().end() ? &found->second : nullptr;
}

void name_launch(const pmi::LaunchNote& launch) { launches().push_back(launch); }

std::string rank_name(int number) {
  if (const pmi::OtherRank* const other = find_other(number))
    return fmt::format("{} of another job", other->rank);
  const pmi::LaunchNote* const launch = find(number);
  return launch == nullptr ? std::to_string(number)
                           : fmt::format("{}:{}", launch->launch, number - launch->first);
}

std::string rank_of(int number, int ranks) {
  const pmi::LaunchNote* const launch = find(number);
  return fmt::format("rank {} of {}", rank_name(number), launch == nullptr ? ranks : launch->size);
}

int end_of_ranks(int ranks) {
  for (const pmi::LaunchNote& launch : launches()) ranks = std::max(ranks, launch.first + launch.size);
  return ranks;
}

int launch_of(int number) {
  const pmi::LaunchNote* const launch = find(number);
  return launch == nullptr ? 0 : launch->launch;
}

}  // namespace clump::diag
