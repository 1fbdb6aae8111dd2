#include "plan/rank_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace clump::mpiexec {

std::string rank_list(const std::vector<int>& ranks) {
  constexpr int kMostParts = 8;
  std::string text;
  int parts = 0;
  for (std::size_t from = 0, to; from < ranks.size(); from = to) {
    const int step = from + 1 < ranks.size() ? ranks[from + 1] - ranks[from] : 1;
    for (to = from + 1; to < ranks.size() && ranks[to] - ranks[to - 1] == step;) ++to;
    // A run of steps has to be longer than what it is written as.
    if (to - from < (step == 1 ? 2 : 4)) to = from + 1;
    if (!text.empty()) text += ",";
    if (++parts > kMostParts) return text + "...";
    text += fmt::format("{}", ranks[from]);
    if (to - from > 1)
      text += step == 1 ? fmt::format("-{}", ranks[to - 1])
                        : fmt::format(",{},...,{}", ranks[from + 1], ranks[to - 1]);
  }
  return text.empty() ? "none" : text;
}

std::string host_list(const pmi::Job& job) {
  constexpr std::size_t kMost = 16;
  std::string text = fmt::format("{} hosts: ", job.nodes.size());
  for (std::size_t i = 0; i < std::min(kMost, job.nodes.size()); ++i) {
    const pmi::Node& node = job.nodes[i];
    const std::string_view plural = job.ranks(node) == 1 ? "" : "s";
    text +=
        fmt::format("{}{} (rank{} {})", i > 0 ? ", " : "", node.name, plural, rank_list(job.ranks_of(node)));
  }
  return text + (job.nodes.size() > kMost ? ", ..." : "");
}

}  // namespace clump::mpiexec
