#include "rank_list.h"

#include <fmt/format.h>

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

}  // namespace clump::mpiexec
