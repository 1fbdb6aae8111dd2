#include "diag/rank_names.h"

#include <fmt/format.h>

#include <algorithm>
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

}  // namespace

void name_launch(const pmi::LaunchNote& launch) { launches().push_back(launch); }

std::string rank_name(int number) {
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
