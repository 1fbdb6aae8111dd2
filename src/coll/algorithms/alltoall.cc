// Alltoall, alltoallv, alltoallw (MPI-5.0 section 6.8): every block goes straight from its owner to its user,
// unless it is a small one for another host.
#include "coll/algorithms/algorithms.h"
#include "coll/algorithms/pieces.h"

namespace clump::coll {

namespace {

// So many exchanges are in progress at a time: enough that no rank waits for one slow rank, few enough that
// unexpected messages do not pile up.
constexpr int kWindow = 32;

}  // namespace

void exchange_directly(Schedule& s, const Blocks& out, const Blocks& in,
                       const std::function<bool(int peer, Count bytes)>& is_wanted) {
  const int size = s.size();
  for (int i = 1; i < size; ++i) {
    const int to = wrap(s.rank() + i, size);
    const int from = wrap(s.rank() - i, size);
    if (const Layout block = in[from]; is_wanted(from, block.bytes())) s.receive(block, from);
    if (const Layout block = out[to]; is_wanted(to, block.bytes())) s.send(block, to);
    if (i % kWindow == 0) s.next();
  }
  s.copy(in[s.rank()], out[s.rank()]);
}

void alltoall_direct(Schedule& s, const Blocks& out, const Blocks& in) {
  exchange_directly(s, out, in, [](int, Count bytes) { return bytes > 0; });
}

void alltoall_in_place(Schedule& s, const Blocks& blocks) {
  const int size = s.size();
  Count largest = 0;
  for (int i = 0; i < size; ++i)
    if (i != s.rank()) largest = std::max(largest, blocks[i].bytes());
  if (largest == 0) return;
  const Layout room = s.scratch(largest);
  // In round k the ranks whose sum is k modulo size meet, so both sides of a pair are in the same round.
  for (int k = 0; k < size; ++k) {
    const int peer = wrap(k - s.rank(), size);
    const Layout block = blocks[peer];
    if (peer == s.rank() || block.bytes() == 0) continue;
    const Layout outgoing = part(room, 0, block.bytes());
    s.copy(outgoing, block);
    s.send(outgoing, peer);
    s.receive(block, peer);
    s.next();
  }
}

}  // namespace clump::coll
