// Reduce (MPI-5.0 section 6.9.1): little data straight to the root, then a binomial tree; much data in pieces
// on a ring. All but the ring keep the order of ranks.
#include "coll/algorithms/algorithms.h"
#include "coll/algorithms/pieces.h"

namespace clump::coll {

namespace {

// The root of the tree is `top`, its result ends in `out`. Operands are combined where they were received, so
// nothing is copied.
void binomial(Schedule& s, const Layout& in, const Layout& out, int top) {
  const BinomialTree tree{s.size()};
  const int me = wrap(s.rank() - top, s.size());
  const int reach = tree.reach(me);
  const bool in_place = me == 0 && in.base == out.base;

  Layout value = in;
  Layout spare;
  for (int child = 1; child < reach && me + child < s.size(); child *= 2) {
    const int last = child * 2;
    const bool is_last = last >= reach || me + last >= s.size();
    Layout room = me == 0 && is_last && !in_place ? out : spare;
    if (room.type == nullptr) room = s.scratch(in.count, *in.type);
    s.receive(room, wrap(me + child + top, s.size()));
    s.combine(value, room);
    spare = value.base == in.base ? Layout{} : value;
    value = room;
  }
  if (me == 0)
    s.copy(out, value);
  else
    s.send(value, wrap(me - reach + top, s.size()));
}

}  // namespace

void reduce_binomial(Schedule& s, const Layout& in, const Layout& out, int root) {
  if (s.commutative() || root == 0) return binomial(s, in, out, root);
  // The tree has to begin with rank 0 to keep the order; the result takes one more step.
  if (s.rank() == 0) {
    const Layout result = s.scratch(in.count, *in.type);
    binomial(s, in, result, 0);
    s.send(result, root);
  } else {
    binomial(s, in, {}, 0);
    if (s.rank() == root) {
      s.next();
      s.receive(out, 0);
    }
  }
}

// The root combines everything, in the order of ranks.
void reduce_direct(Schedule& s, const Layout& in, const Layout& out, int root) {
  if (s.rank() != root) return s.send(in, root);
  const Layout operands = s.scratch(in.count * s.size(), *in.type);
  const auto operand = [&](int rank) { return part(operands, rank * in.count, in.count); };
  for (int i = 0; i < s.size(); ++i)
    if (i != root) s.receive(operand(i), i);
  s.copy(operand(root), in);
  const Layout value = operand(s.size() - 1);
  for (int i = s.size() - 2; i >= 0; --i) s.combine(operand(i), value);
  s.copy(out, value);
}

// From the last rank down to the first, in pieces, of which the next one comes in as the one before goes out.
void reduce_chain(Schedule& s, const Layout& in, const Layout& out, int root) {
  const int pieces = pieces_of_chain(s, in);
  const int above = s.rank() + 1, below = s.rank() - 1;
  if (above == s.size()) {
    for (int i = 0; i < pieces; ++i) s.send(piece(in, pieces, i), below);
  } else {
    const bool ends_here = s.rank() == 0 && root == 0 && in.base != out.base;
    const Layout room = ends_here ? out : s.scratch(in.count, *in.type);
    for (int i = 0; i < pieces; ++i) {
      s.receive(piece(room, pieces, i), above);
      s.combine(piece(in, pieces, i), piece(room, pieces, i));
      if (s.rank() > 0) s.send(piece(room, pieces, i), below);
    }
    if (s.rank() == 0 && root == 0) s.copy(out, room);
    if (s.rank() == 0 && root != 0) s.send(room, root);
  }
  if (s.rank() != root || root == 0) return;
  s.next();
  s.receive(out, 0);
}

void reduce_ring(Schedule& s, const Layout& in, const Layout& out, int root) {
  const int size = s.size();
  if (in.count < size) return reduce_binomial(s, in, out, root);  // no piece for each rank
  const bool is_root = s.rank() == root;
  const Layout work = is_root ? out : s.scratch(in.count, *in.type);
  ring_reduce_scatter(s, in, work);
  if (!is_root) {
    s.send(piece(work, size, wrap(s.rank() + 1, size)), root);
    return;
  }
  for (int i = 1; i < size; ++i) {
    const int peer = wrap(root + i, size);
    s.receive(piece(out, size, wrap(peer + 1, size)), peer);
  }
}

void ring_reduce_scatter(Schedule& s, const Layout& in, const Layout& out) {
  const int size = s.size();
  const int up = wrap(s.rank() + 1, size);
  const int down = wrap(s.rank() - 1, size);
  const bool in_place = in.base == out.base;
  const Layout room = in_place ? s.scratch(piece_begin(in.count, size, 1), *in.type) : Layout{};
  for (int k = 0, now = s.rank(); k < size - 1; ++k) {
    const int incoming = wrap(now - 1, size);
    const Layout mine = piece(in, size, incoming);
    // A piece passes each rank once, so unless it is in place it can be received right where it shall be.
    const Layout partial = in_place ? part(room, 0, mine.count) : piece(out, size, incoming);
    s.send(piece(k == 0 ? in : out, size, now), up);
    s.receive(partial, down);
    if (in_place)
      s.combine(partial, mine);
    else
      s.combine(mine, partial);
    now = incoming;
  }
}

}  // namespace clump::coll
