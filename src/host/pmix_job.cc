#include "host/pmix_job.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace clump::host {

void describe_by_hosts(pmi::Job& job, const std::vector<std::string>& hosts, int own, unsigned cores) {
  const int size = static_cast<int>(hosts.size());
  std::vector<std::vector<std::int32_t>> ranks_of;  // by node
  job.nodes.clear();
  std::unordered_map<std::string_view, std::size_t> known;
  for (int rank = 0; rank < size; ++rank) {
    const std::string& name = hosts[static_cast<std::size_t>(rank)];
    const auto [node, is_new] = known.try_emplace(name, job.nodes.size());
    if (is_new) {
      job.nodes.push_back({name, 0, 0});
      ranks_of.emplace_back();
    }
    ranks_of[node->second].push_back(rank);
    if (rank == own) job.node = static_cast<int>(node->second);
  }
  job.apps.front().ranks = size;
  job.processes.clear();
  std::vector<std::int32_t> slots;
  for (std::size_t node = 0; node < job.nodes.size(); ++node) {
    job.nodes[node].first = static_cast<std::int32_t>(slots.size());
    job.nodes[node].processes = static_cast<std::int32_t>(ranks_of[node].size());
    slots.insert(slots.end(), ranks_of[node].begin(), ranks_of[node].end());
  }
  for (int slot = 0; slot < size; ++slot) job.processes.push_back({slot, 1, true});
  job.rank_mapping = pmi::RankMapping(std::move(slots));
  job.process = job.process_of(own);
  job.spin = cores >= static_cast<unsigned>(job.this_node().processes);
}

}  // namespace clump::host
