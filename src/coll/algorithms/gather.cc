// Gather and scatter (MPI-5.0 sections 6.5 and 6.6): a binomial tree for small blocks, straight to and from
// the root otherwise.
#include <utility>
#include <vector>

#include "coll/algorithms/algorithms.h"
#include "coll/algorithms/pieces.h"

namespace clump::coll {

namespace {

// The blocks of `count` ranks from relative rank `first` on, as they lie in the root's buffer: two stretches
// if they go round its end.
struct Stretches {
  Layout low, high;
  int ranks_low, ranks_high;

  Stretches(const Layout& all, int size, int root, int first, int count) {
    const int begin = wrap(first + root, size);
    const int before_end = std::min(count, size - begin);
    const Count block = all.count / size;
    ranks_low = before_end;
    ranks_high = count - before_end;
    low = part(all, begin * block, ranks_low * block);
    high = part(all, 0, ranks_high * block);
  }
  bool one() const { return high.count == 0; }
};

// A root's two counts may describe blocks of different sizes: packed data has the room of `block` bytes
// for each rank, and the copies report the difference.
Layout packed_low(const Layout& packed, const Stretches& place, Count block) {
  return part(packed, 0, place.ranks_low * block);
}
Layout packed_high(const Layout& packed, const Stretches& place, Count block) {
  return part(packed, place.ranks_low * block, place.ranks_high * block);
}

}  // namespace

void gather_binomial(Schedule& s, const Layout& mine, const Layout& all, int root) {
  const BinomialTree tree{s.size()};
  const int me = wrap(s.rank() - root, s.size());
  const int reach = tree.reach(me);
  const Count block = mine.bytes();

  if (me != 0) {
    if (tree.subtree(me) == 1) return s.send(mine, wrap(me - reach + root, s.size()));
    const Layout packed = s.scratch(block * tree.subtree(me));
    for (int child = 1; child < reach && me + child < s.size(); child *= 2)
      s.receive(part(packed, child * block, tree.subtree(me + child) * block),
                wrap(me + child + root, s.size()));
    s.copy(part(packed, 0, block), mine);
    return s.send(packed, wrap(me - reach + root, s.size()));
  }
  std::vector<std::pair<Stretches, Layout>> wrapped;  // at most one: only one subtree goes round the end
  for (int child = 1; child < s.size(); child *= 2) {
    const Stretches place(all, s.size(), root, child, tree.subtree(child));
    if (!place.one()) wrapped.emplace_back(place, s.scratch(tree.subtree(child) * block));
    s.receive(place.one() ? place.low : wrapped.back().second, wrap(child + root, s.size()));
  }
  for (const auto& [place, packed] : wrapped) {
    s.copy(place.low, packed_low(packed, place, block));
    s.copy(place.high, packed_high(packed, place, block));
  }
  s.copy(Stretches(all, s.size(), root, 0, 1).low, mine);
}

void scatter_binomial(Schedule& s, const Layout& all, const Layout& mine, int root) {
  const BinomialTree tree{s.size()};
  const int me = wrap(s.rank() - root, s.size());
  const int reach = tree.reach(me);
  const Count block = mine.bytes();

  if (me != 0) {
    if (tree.subtree(me) == 1) return s.receive(mine, wrap(me - reach + root, s.size()));
    const Layout packed = s.scratch(block * tree.subtree(me));
    s.receive(packed, wrap(me - reach + root, s.size()));
    s.next();
    for (int child = reach / 2; child > 0; child /= 2)
      if (me + child < s.size())
        s.send(part(packed, child * block, tree.subtree(me + child) * block),
               wrap(me + child + root, s.size()));
    return s.copy(mine, part(packed, 0, block));
  }
  std::vector<std::pair<int, Layout>> sends;
  for (int child = reach / 2; child > 0; child /= 2) {
    if (child >= s.size()) continue;
    const Stretches place(all, s.size(), root, child, tree.subtree(child));
    sends.emplace_back(child, place.low);
    if (place.one()) continue;
    sends.back().second = s.scratch(tree.subtree(child) * block);
    s.copy(packed_low(sends.back().second, place, block), place.low);
    s.copy(packed_high(sends.back().second, place, block), place.high);
  }
  for (const auto& [child, layout] : sends) s.send(layout, wrap(child + root, s.size()));
  s.copy(mine, Stretches(all, s.size(), root, 0, 1).low);
}

void gather_direct(Schedule& s, const Layout& mine, const Blocks& all, int root) {
  if (s.rank() != root) {
    if (mine.bytes() > 0) s.send(mine, root);
    return;
  }
  for (int i = 1; i < s.size(); ++i) {
    const int peer = wrap(root + i, s.size());
    if (const Layout block = all[peer]; block.bytes() > 0) s.receive(block, peer);
  }
  s.copy(all[root], mine);
}

void scatter_direct(Schedule& s, const Blocks& all, const Layout& mine, int root) {
  if (s.rank() != root) {
    if (mine.bytes() > 0) s.receive(mine, root);
    return;
  }
  for (int i = 1; i < s.size(); ++i) {
    const int peer = wrap(root + i, s.size());
    if (const Layout block = all[peer]; block.bytes() > 0) s.send(block, peer);
  }
  s.copy(mine, all[root]);
}

}  // namespace clump::coll
