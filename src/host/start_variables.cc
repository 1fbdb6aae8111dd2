#include "host/start_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <system_error>

#include "pmi/rank_variables.h"

namespace clump::host {

namespace {

/// The variables are those of the job that a rank belongs to which has started this process, or the process
/// before it: Clump's own.
bool are_own_variables(char* const* environment) {
  const char* const own = value_of(environment, pmi::kOwnRankVariable);
  const char* const rank = value_of(environment, "PMI_RANK");
  const char* const ranks = value_of(environment, "PMI_SIZE");
  for (const char* const way : {"PMI_FD", "PMI_PORT", "PMI_ID"})
    if (value_of(environment, way) != nullptr) return false;
  return own != nullptr && rank != nullptr && ranks != nullptr && fmt::format("{}/{}", rank, ranks) == own;
}

}  // namespace

const char* value_of(char* const* environment, std::string_view name) {
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return *environment + name.size() + 1;
    }
  }
  return nullptr;
}

int number_in(char* const* environment, std::string_view name) {
  const char* const value = value_of(environment, name);
  const auto numbers = numbers_of(value);
  return numbers && numbers->size() == 1 ? numbers->front() : -1;
}

std::optional<std::vector<int>> numbers_of(const char* list) {
  std::vector<int> all;
  for (std::string_view rest = list != nullptr ? list : ""; !rest.empty();) {
    int number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (error != std::errc() || rest == "," || (!rest.empty() && rest.front() != ',')) return std::nullopt;
    all.push_back(number);
    rest.remove_prefix(std::min<std::size_t>(rest.size(), 1));
  }
  return all;
}

std::vector<std::string_view> libraries_of(const char* list) {
  std::vector<std::string_view> all;
  for (std::string_view rest = list != nullptr ? list : ""; !rest.empty();) {
    const std::size_t end = std::min(rest.find_first_of(": "), rest.size());
    if (end > 0) all.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return all;
}

std::optional<ForeignLauncher> find_foreign_launcher(char* const* environment) {
  struct Sign {
    std::string_view size;
    const char* who;
    bool is_ours_too = true;  ///< our mpiexec sets it for its ranks, and what these start inherits it
  };
  // srun and Open MPI's mpirun set variables of PMI, too.
  static constexpr Sign kSigns[] = {
      {"OMPI_COMM_WORLD_SIZE", "Open MPI's launcher"},
      {"PMI_SIZE", "a PMI launcher (mpiexec of MPICH or Intel MPI, srun --mpi=pmi2, flux)"},
      {"SLURM_STEP_NUM_TASKS", "srun", false},
  };
  const bool is_own = are_own_variables(environment);
  for (const Sign& sign : kSigns) {
    if (is_own && sign.is_ours_too) continue;
    if (const char* size = value_of(environment, sign.size); size != nullptr && std::atoi(size) > 1)
      return ForeignLauncher{sign.who, sign.size, size};
  }
  // With a port instead of a descriptor PMI does not tell how many there are before one has joined it.
  const char* const rank = value_of(environment, "PMI_ID");
  if (rank != nullptr && value_of(environment, "PMI_SIZE") == nullptr)
    return ForeignLauncher{"a PMI launcher (mpiexec of MPICH)", "PMI_ID", rank};
  return std::nullopt;
}

}  // namespace clump::host
