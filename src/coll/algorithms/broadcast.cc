// Broadcast (MPI-5.0 section 6.4). The large form is that of van de Geijn: scatter, then collect.
#include "coll/algorithms/algorithms.h"
#include "coll/algorithms/pieces.h"

namespace clump::coll {

// Ranks are counted from the root on here.
void broadcast_binomial(Schedule& s, const Layout& buffer, int root) {
  const BinomialTree tree{s.size()};
  const int me = wrap(s.rank() - root, s.size());
  const int reach = tree.reach(me);
  if (me != 0) {
    s.receive(buffer, wrap(me - reach + root, s.size()));
    s.next();
  }
  for (int child = reach / 2; child > 0;
       child /= 2)  // the largest subtree first: it has the longest way to go
    if (me + child < s.size()) s.send(buffer, wrap(me + child + root, s.size()));
}

namespace {

// Each rank gets the pieces of its subtree.
void binomial_scatter(Schedule& s, const Layout& bytes, int root) {
  const BinomialTree tree{s.size()};
  const int me = wrap(s.rank() - root, s.size());
  const int reach = tree.reach(me);
  if (me != 0) {
    s.receive(piece(bytes, s.size(), me, me + tree.subtree(me)), wrap(me - reach + root, s.size()));
    s.next();
  }
  for (int child = me + reach / 2; child > me; child = me + (child - me) / 2)
    if (child < s.size())
      s.send(piece(bytes, s.size(), child, child + tree.subtree(child)), wrap(child + root, s.size()));
  s.next();
}

}  // namespace

void broadcast_scatter_allgather(Schedule& s, const Layout& buffer, int root) {
  // Ranks may describe the same data by different types, so pieces are cut from packed bytes.
  const bool solid = buffer.type->is_dense();
  const Layout bytes = solid ? bytes_at(buffer.base, buffer.bytes()) : s.scratch(buffer.bytes());
  if (!solid && s.rank() == root) s.copy(bytes, buffer);
  binomial_scatter(s, bytes, root);
  ring_allgather(s, wrap(s.rank() - root, s.size()), wrap(s.rank() + 1, s.size()),
                 wrap(s.rank() - 1, s.size()), [&](int i) { return piece(bytes, s.size(), i); });
  if (!solid && s.rank() != root) s.copy(buffer, bytes);
}

}  // namespace clump::coll
