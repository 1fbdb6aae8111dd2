// Allreduce (MPI-5.0 section 6.9.6).
#include <utility>

#include "coll/algorithms/algorithms.h"
#include "coll/algorithms/pieces.h"

namespace clump::coll {

namespace {

// `value`, which this rank may write to, is combined with the operand in `room`, which is of lower or of
// higher ranks. The result is in `value` then; the two may have changed places. The order is kept even if the
// operation commutes: so rounding is the same on all ranks.
void take_sum(Schedule& s, Layout& value, Layout& room, bool from_lower) {
  if (from_lower) {
    s.combine(room, value);
  } else {
    s.combine(value, room);
    std::swap(value, room);
  }
}

}  // namespace

// The first 2 * extra ranks pair up, the odd one works for both, so that a power of two ranks goes on in the
// order of ranks.
void allreduce_recursive_doubling(Schedule& s, const Layout& in, const Layout& out) {
  int active = 1;
  while (active * 2 <= s.size()) active *= 2;
  const int extra = s.size() - active;
  const int rank = s.rank();
  const bool folds = rank < 2 * extra;

  if (folds && rank % 2 == 0) {
    s.send(in, rank + 1);
    s.next();
    s.receive(out, rank + 1);
    return;
  }
  s.copy(out, in);
  Layout value = out;
  Layout room = s.scratch(in.count, *in.type);
  if (folds) {
    s.receive(room, rank - 1);
    take_sum(s, value, room, true);
  }
  const int me = folds ? rank / 2 : rank - extra;
  for (int distance = 1; distance < active; distance *= 2) {
    const int partner = me ^ distance;
    const int peer = partner < extra ? 2 * partner + 1 : partner + extra;
    s.send(value, peer);
    s.receive(room, peer);
    take_sum(s, value, room, partner < me);
  }
  s.copy(out, value);
  if (folds) s.send(out, rank - 1);
}

// Moves the least data in the fewest messages, but not all ranks work at the same time.
void allreduce_reduce_broadcast(Schedule& s, const Layout& in, const Layout& out) {
  reduce(s, in, out, 0);
  s.next();
  broadcast(s, out, 0);
}

void allreduce_ring(Schedule& s, const Layout& in, const Layout& out) {
  if (in.count < s.size()) return allreduce_recursive_doubling(s, in, out);  // no piece for each rank
  ring_reduce_scatter(s, in, out);
  const int size = s.size();
  ring_allgather(s, wrap(s.rank() + 1, size), wrap(s.rank() + 1, size), wrap(s.rank() - 1, size),
                 [&](int i) { return piece(out, size, i); });
}

}  // namespace clump::coll
