#include "common/spelling.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace clump::tools {

namespace {

/// How many letters have to be added, left out or changed (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, changed}));
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known) {
  std::string_view found;
  std::size_t best = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const std::string_view one : known) {
    if (const std::size_t far = distance(word, one); far < best && one.size() > 2) {
      best = far;
      found = one;
    }
  }
  return found;
}

}  // namespace clump::tools
