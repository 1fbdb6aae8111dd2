// Reduce-scatter (MPI-5.0 section 6.10).
#include <vector>

#include "coll/algorithms/algorithms.h"
#include "coll/algorithms/pieces.h"

namespace clump::coll {

namespace {

/// The blocks of all ranks, one after the other.
class OperandBlocks {
 public:
  OperandBlocks(const Schedule& s, const Call& call) : begins_(static_cast<std::size_t>(s.size()) + 1, 0) {
    for (int i = 0; i < s.size(); ++i)
      begins_[at(i + 1)] = begins_[at(i)] + (call.counts != nullptr ? (*call.counts)[i] : call.recv.count);
  }
  Layout of(const Layout& all, int rank) const {
    return part(all, begins_[at(rank)], begins_[at(rank + 1)] - begins_[at(rank)]);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  std::vector<Count> begins_;
};

}  // namespace

// Every rank gets the operands of its own block, and combines them as they come.
void reduce_scatter_direct(Schedule& s, const Call& call) {
  const int size = s.size();
  const Layout &in = call.send, &out = call.recv;
  const OperandBlocks blocks(s, call);
  const Layout mine = blocks.of(in, s.rank());
  const Layout result = in.base == out.base ? s.scratch(mine.count, *mine.type) : out;
  const Layout received = s.scratch(mine.count, *mine.type);
  s.copy(result, mine);
  for (int i = 1; i < size; ++i) {
    const int to = wrap(s.rank() + i, size);
    if (const Layout theirs = blocks.of(in, to); theirs.bytes() > 0) s.send(theirs, to);
    if (mine.bytes() > 0) s.receive(received, wrap(s.rank() - i, size));
    s.next();
    s.combine(received, result);
  }
  s.copy(out, result);
}

void reduce_then_scatter(Schedule& s, const Call& call) {
  const Layout &in = call.send, &out = call.recv;
  if (s.rank() != 0) {
    reduce(s, in, {nullptr, in.count, in.type}, 0);
    s.next();
    if (out.bytes() > 0) s.receive(out, 0);
    return;
  }
  const OperandBlocks blocks(s, call);
  const Layout result = s.scratch(in.count, *in.type);
  reduce(s, in, result, 0);
  s.next();  // a reduction may end with receives into `result`
  for (int i = 1; i < s.size(); ++i)
    if (const Layout theirs = blocks.of(result, i); theirs.bytes() > 0) s.send(theirs, i);
  s.copy(out, blocks.of(result, 0));
}

}  // namespace clump::coll
