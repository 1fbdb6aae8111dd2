// Functions that several algorithms use.
#pragma once

#include <algorithm>

#include "coll/call.h"
#include "coll/schedule/schedule.h"

namespace clump::coll {

/// Where piece `i` begins if `whole` elements are cut into `pieces` of nearly the same size; for i == pieces,
/// the end.
inline Count piece_begin(Count whole, int pieces, int i) {
  return whole / pieces * i + std::min<Count>(i, whole % pieces);
}

/// Pieces first to last - 1 of `pieces`.
inline Layout piece(const Layout& whole, int pieces, int first, int last) {
  const Count begin = piece_begin(whole.count, pieces, first);
  return part(whole, begin, piece_begin(whole.count, pieces, last) - begin);
}
inline Layout piece(const Layout& whole, int pieces, int i) { return piece(whole, pieces, i, i + 1); }

/// A buffer with a block of one size for each peer.
inline Blocks equal_blocks(const Schedule& s, const Layout& all) {
  return {all.base, s.peers() == 0 ? 0 : all.count / s.peers(), all.type};
}

/// x modulo n for -n <= x < 2n.
inline int wrap(int x, int n) { return x < 0 ? x + n : x >= n ? x - n : x; }

/// A binomial tree over ranks 0 to size - 1 with its root at 0: the subtree of v has ranks [v, v +
/// subtree(v)), the children of v are v + 1, v + 2, v + 4, ... while these are smaller than v + reach(v).
struct BinomialTree {
  int size;
  /// The distance to v's parent, which is v - reach(v); for 0 the smallest power of two not below size.
  int reach(int v) const {
    if (v != 0) return v & -v;
    int reach = 1;
    while (reach < size) reach *= 2;
    return reach;
  }
  int subtree(int v) const { return std::min(reach(v), size - v); }
};

/// Ring all-gather of pieces: the caller has piece `mine`, its neighbour `up` has mine + 1, `down` has mine -
/// 1, all modulo size(). `piece_of(i)` is where piece i lies.
template <typename PieceOf>
void ring_allgather(Schedule& s, int mine, int up, int down, PieceOf piece_of) {
  const int size = s.size();
  for (int k = 0, now = mine; k < size - 1; ++k) {
    const int incoming = wrap(now - 1, size);
    const Layout out = piece_of(now);
    const Layout in = piece_of(incoming);
    if (out.bytes() > 0) s.send(out, up);
    if (in.bytes() > 0) s.receive(in, down);
    s.next();
    now = incoming;
  }
}

/// Ring reduce-scatter over pieces 0 to size() - 1 of `in`: afterwards this rank has piece wrap(rank + 1) of
/// the result in `out`. The other pieces of `out` hold intermediate results. Needs an operation that
/// commutes.
void ring_reduce_scatter(Schedule& s, const Layout& in, const Layout& out);

/// In how many pieces operands go along a chain, so that ranks work at the same time. A user's operation may
/// want to see its operands as a whole.
inline int pieces_of_chain(const Schedule& s, const Layout& operands) {
  constexpr Count kPiece = 64 << 10, kMost = 256;
  if (!s.splits_operands()) return 1;
  return static_cast<int>(std::clamp<Count>(operands.bytes() / kPiece, 1, kMost));
}

}  // namespace clump::coll
