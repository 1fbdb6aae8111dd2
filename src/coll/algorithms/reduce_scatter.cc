// Reduce-scatter (MPI-5.0 section 6.10).
#include <vector>

#include "coll/coll.h"
#include "coll/algorithms/pieces.h"
#include "coll/select/select.h"

namespace clump::coll {

namespace {

// Where the block of each rank begins, and the end, in elements.
using Begins = std::vector<Count>;

Layout block(const Layout& all, const Begins& begins, int i) {
  return part(all, begins[i], begins[i + 1] - begins[i]);
}

// Every rank gets the operands of its own block, and combines them as they come. For operations that commute.
void direct(Schedule& s, const Layout& in, const Layout& out, const Begins& begins) {
  const int size = s.size();
  const Layout mine = block(in, begins, s.rank());
  const Layout result = in.base == out.base ? s.scratch(mine.count, *mine.type) : out;
  const Layout room = s.scratch(mine.count, *mine.type);
  s.copy(result, mine);
  for (int i = 1; i < size; ++i) {
    const int to = wrap(s.rank() + i, size);
    if (const Layout theirs = block(in, begins, to); theirs.bytes() > 0) s.send(theirs, to);
    if (mine.bytes() > 0) s.receive(room, wrap(s.rank() - i, size));
    s.next();
    s.combine(room, result);
  }
  s.copy(out, result);
}

// For intercommunicators, where the ranks of a group cannot reach each other.
void all_then_own(Schedule& s, const Layout& in, const Layout& out, const Begins& begins) {
  const Layout result = s.scratch(in.count, *in.type);
  allreduce(s, in, result);
  s.copy(out, block(result, begins, s.rank()));
}

void reduce_then_scatter(Schedule& s, const Layout& in, const Layout& out, const Begins& begins) {
  if (s.rank() == 0) {
    const Layout result = s.scratch(in.count, *in.type);
    reduce(s, in, result, 0);
    for (int i = 1; i < s.size(); ++i)
      if (const Layout theirs = block(result, begins, i); theirs.bytes() > 0) s.send(theirs, i);
    s.copy(out, block(result, begins, 0));
  } else {
    reduce(s, in, {nullptr, in.count, in.type}, 0);
    s.next();
    if (out.bytes() > 0) s.receive(out, 0);
  }
}

void by_blocks(Schedule& s, const Layout& in, const Layout& out, const Begins& begins) {
  if (in.count == 0) return;
  if (s.is_inter()) return all_then_own(s, in, out, begins);
  if (s.size() == 1) return s.copy(out, in);
  if (s.choose(Collective::kReduceScatter, in) == Algorithm::kDirect) return direct(s, in, out, begins);
  reduce_then_scatter(s, in, out, begins);
}

}  // namespace

void reduce_scatter(Schedule& s, const Layout& in, const Layout& out, const Numbers& counts) {
  // On an intercommunicator the counts are those of the local group, whose sum is the size of the remote
  // group's buffers, too.
  Begins begins(s.size() + 1, 0);
  for (int i = 0; i < s.size(); ++i) begins[i + 1] = begins[i] + counts[i];
  const Layout all{in.base, begins.back(), in.type};
  by_blocks(s, all, out, begins);
}

void reduce_scatter_block(Schedule& s, const Layout& in, const Layout& out) {
  Begins begins(s.size() + 1);
  for (int i = 0; i <= s.size(); ++i) begins[i] = i * out.count;
  const Layout all{in.base, begins.back(), in.type};
  by_blocks(s, all, out, begins);
}

}  // namespace clump::coll
