#include "pmi/rank_variables.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace clump::pmi {

namespace {

/// What is told by one of these variables.
enum class Told { kRank, kRanks, kLocalRank, kLocalRanks };

struct Variable {
  std::string_view name;
  Told told;
};

constexpr Variable kVariables[] = {
    {"PMI_RANK", Told::kRank},
    {"PMI_SIZE", Told::kRanks},
    {"PMIX_RANK", Told::kRank},
    {"MPI_LOCALRANKID", Told::kLocalRank},
    {"MPI_LOCALNRANKS", Told::kLocalRanks},
    {"OMPI_COMM_WORLD_RANK", Told::kRank},
    {"OMPI_COMM_WORLD_SIZE", Told::kRanks},
    {"OMPI_COMM_WORLD_LOCAL_RANK", Told::kLocalRank},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", Told::kLocalRanks},
    {"OMPI_COMM_WORLD_NODE_RANK", Told::kLocalRank},
    {"MV2_COMM_WORLD_RANK", Told::kRank},
    {"MV2_COMM_WORLD_SIZE", Told::kRanks},
    {"MV2_COMM_WORLD_LOCAL_RANK", Told::kLocalRank},
    {"MV2_COMM_WORLD_LOCAL_SIZE", Told::kLocalRanks},
};

/// How a process finds the launcher of an outer job. PMIX_RANK alone is no sign of PMIx without these.
constexpr std::string_view kWays[] = {"PMI_FD", "PMI_PORT", "PMI_ID", "PMIX_NAMESPACE"};

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

/// By what is told of a rank.
using Numbers = std::array<std::string, 4>;

std::vector<std::string> with_numbers(const Numbers& numbers, const std::vector<std::string>& environment) {
  std::vector<std::string> all;
  all.reserve(environment.size() + std::size(kVariables) + 1);
  std::ranges::copy_if(environment, std::back_inserter(all),
                       [](const std::string& entry) { return !tells_of_rank(name_of(entry)); });
  for (const Variable& variable : kVariables)
    all.push_back(std::string(variable.name) + '=' + numbers[static_cast<std::size_t>(variable.told)]);
  all.push_back(std::string(kOwnRankVariable) + '=' + numbers[0] + '/' + numbers[1]);
  return all;
}

}  // namespace

bool tells_of_rank(std::string_view name) {
  return name == kOwnRankVariable || name.starts_with("PMIX_SERVER_") ||
         std::ranges::find(kVariables, name, &Variable::name) != std::end(kVariables) ||
         std::ranges::find(kWays, name) != std::end(kWays);
}

std::vector<std::string> environment_of_rank(const Job& job, int rank,
                                             const std::vector<std::string>& environment) {
  const Node& node = job.nodes[static_cast<std::size_t>(job.node_of(rank))];
  return with_numbers({std::to_string(rank), std::to_string(job.ranks()),
                       std::to_string(job.rank_mapping.slot_of(rank) - job.first_slot(node)),
                       std::to_string(job.ranks(node))},
                      environment);
}

std::vector<std::string> environment_of_spawned(int rank, int ranks,
                                                const std::vector<std::string>& environment) {
  return with_numbers(
      {std::to_string(rank), std::to_string(ranks), std::to_string(rank), std::to_string(ranks)},
      environment);
}

}  // namespace clump::pmi
