#include "cluster/prterun_environment.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <string_view>

namespace clump::mpiexec {

namespace {

constexpr std::size_t kLongest = 32 << 10;
constexpr std::string_view kSettings = "PRTE_MCA_";

/// PMIx tells each process by such variables who it is, and PRRTE its daemons; what else begins like them is
/// a setting of the user's.
bool is_of_outer_job(std::string_view name) {
  if (name.starts_with("PMIX_")) return !name.starts_with("PMIX_MCA_") && name != "PMIX_PREFIX";
  return name == "PRTE_LAUNCHED" || name == "PRTE_MCA_ess" || name.starts_with("PRTE_MCA_ess_") ||
         name == "PRTE_MCA_prte_hnp_uri" || name == "PRTE_MCA_prte_parent_uri";
}

/// What is found, and how a host is reached.
bool is_needed(std::string_view name) {
  static constexpr std::array<std::string_view, 2> kNames{"PATH", "LD_LIBRARY_PATH"};
  static constexpr std::array<std::string_view, 6> kBegins{"PRTE_",  "PMIX_", "CLUMP_",
                                                           "SLURM_", "PBS_",  "LSB_"};
  return std::ranges::find(kNames, name) != kNames.end() ||
         std::ranges::any_of(kBegins, [&](std::string_view begin) { return name.starts_with(begin); });
}

}  // namespace

std::vector<std::string> prterun_environment(const char* const* own) {
  std::vector<std::string> kept;
  for (; *own != nullptr; ++own) {
    const std::string_view entry = *own, name = entry.substr(0, entry.find('='));
    if (is_of_outer_job(name) || (entry.size() > kLongest && !is_needed(name))) continue;
    kept.emplace_back(entry);
  }
  return kept;
}

std::string network_for_prrte(std::vector<std::string> interfaces) {
  // These it does not use anyway: loopback beside others, and bridges of libvirt.
  std::erase_if(interfaces, [](const std::string& name) { return name == "lo" || name.starts_with("vir"); });
  if (interfaces.size() != 1) return {};
  const std::string& name = interfaces.front();
  const bool is_read_as_name =
      std::isalpha(static_cast<unsigned char>(name.front())) != 0 && name.find(',') == name.npos;
  return is_read_as_name ? name : std::string();
}

bool limit_network(const std::vector<std::string>& interfaces) {
  // PRRTE knows them by these names, too.
  for (const char* const chosen :
       {kNetworkVariable, "PRTE_MCA_prte_if_exclude", "PRTE_MCA_oob_tcp_if_include",
        "PRTE_MCA_oob_tcp_include", "PRTE_MCA_oob_tcp_if_exclude", "PRTE_MCA_oob_tcp_exclude"}) {
    const char* const value = std::getenv(chosen);
    if (value != nullptr && *value != '\0') return false;
    ::unsetenv(chosen);  // an empty one ends PRRTE by SIGSEGV
  }
  const std::string name = network_for_prrte(interfaces);
  if (!name.empty()) ::setenv(kNetworkVariable, name.c_str(), 1);
  return true;
}

std::string prrte_settings(const std::vector<std::string>& environment) {
  // Those that mpiexec makes itself.
  std::vector<std::string> ours{"PRTE_MCA_oob_tcp_keepalive_",
                                "PRTE_MCA_prte_local_tmpdir_base=", "PRTE_MCA_plm_ssh_"};
  const std::string way = std::string(kWayVariable) + "=";
  if (std::ranges::any_of(environment,
                          [&](const std::string& entry) { return entry.starts_with(way) && entry != way; }))
    ours.push_back(std::string(kNetworkVariable) + "=");
  std::string all;
  for (const std::string& entry : environment)
    if (entry.starts_with(kSettings) &&
        std::ranges::none_of(ours, [&](const std::string& own) { return entry.starts_with(own); }))
      all += (all.empty() ? "" : ", ") + entry;
  return all;
}

}  // namespace clump::mpiexec
