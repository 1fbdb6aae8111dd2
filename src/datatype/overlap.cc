#include "datatype/overlap.h"

#include <algorithm>
#include <vector>

#include "datatype/cursor.h"

namespace clump::datatype {

namespace {

/// The blocks of layouts.
class BlockCursor {
 public:
  /// False: they are too many.
  bool add(const Layout& layout) {
    const Count bytes = layout.bytes();
    if (bytes == 0) return true;
    if (layout.type->is_dense()) {
      add(reinterpret_cast<std::intptr_t>(layout.base), bytes);
      return true;
    }
    for (Cursor cursor(layout, 0); cursor.run().count > 0;) {
      const Run& run = cursor.run();
      const Count count = run.count;
      if (static_cast<Count>(all_.size()) + count > kMostBlocksLookedAt) return false;
      for (Count i = 0; i < count; ++i) add(run.address(i), run.block);
      cursor.skip_blocks(count);
    }
    return true;
  }
  /// In the order of their addresses. Most are already.
  const std::vector<Reach>& sorted() {
    if (!std::ranges::is_sorted(all_, {}, &Reach::begin)) std::ranges::sort(all_, {}, &Reach::begin);
    return all_;
  }

 private:
  void add(std::intptr_t begin, Count bytes) { all_.push_back({begin, begin + bytes}); }
  std::vector<Reach> all_;
};

}  // namespace

Reach reach_of(const Layout& layout) {
  if (layout.bytes() == 0) return {};
  const auto base = reinterpret_cast<std::intptr_t>(layout.base);
  const Count last = (layout.count - 1) * layout.type->extent(), first = layout.type->true_lb();
  return {base + first + std::min<Count>(last, 0),
          base + first + std::max<Count>(last, 0) + layout.type->true_extent()};
}

bool overlap(const Layout& a, const Layout& b) {
  if (!reach_of(a).meets(reach_of(b))) return false;
  BlockCursor blocks_of_a, blocks_of_b;
  if (!blocks_of_a.add(a) || !blocks_of_b.add(b)) return false;
  const std::vector<Reach>&ones = blocks_of_a.sorted(), &others = blocks_of_b.sorted();
  // Where blocks of one of them overlap, the one that ends last counts.
  std::intptr_t end = 0, other_end = 0;
  for (std::size_t i = 0, j = 0; i < ones.size() || j < others.size();) {
    const bool is_first = j == others.size() || (i < ones.size() && ones[i].begin <= others[j].begin);
    const Reach& block = is_first ? ones[i++] : others[j++];
    const bool had_others = is_first ? j > 0 : i > 0;
    if (had_others && block.begin < (is_first ? other_end : end)) return true;
    std::intptr_t& own_end = is_first ? end : other_end;
    const bool had_own = is_first ? i > 1 : j > 1;
    own_end = had_own ? std::max(own_end, block.end) : block.end;
  }
  return false;
}

bool overlap_themselves(std::span<const Layout> layouts) {
  BlockCursor blocks;
  for (const Layout& layout : layouts)
    if (!blocks.add(layout)) return false;
  const std::vector<Reach>& all = blocks.sorted();
  const auto meets_next = [](const Reach& block, const Reach& next) { return next.begin < block.end; };
  return std::ranges::adjacent_find(all, meets_next) != all.end();
}

}  // namespace clump::datatype
