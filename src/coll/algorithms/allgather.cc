// Allgather (MPI-5.0 section 6.7). Small blocks: Bruck et al., "Efficient algorithms for all-to-all
// communications in multiport message-passing systems" (1997), or gather and broadcast; otherwise a ring.
#include "coll/algorithms/algorithms.h"
#include "coll/algorithms/pieces.h"

namespace clump::coll {

// Block i of the packed bytes is that of rank (rank + i) modulo size; the number of blocks doubles in each
// round.
void allgather_bruck(Schedule& s, const Layout& mine, const Layout& all) {
  const int size = s.size();
  const Count block = mine.bytes();
  const Layout packed = s.scratch(block * size);
  s.copy(part(packed, 0, block), mine);
  for (int have = 1; have < size; have *= 2) {
    const int more = std::min(have, size - have);
    s.send(part(packed, 0, more * block), wrap(s.rank() - have, size));
    s.receive(part(packed, have * block, more * block), wrap(s.rank() + have, size));
    s.next();
  }
  const Count count = all.count / size;
  const int until_end = size - s.rank();
  s.copy(part(all, s.rank() * count, until_end * count), part(packed, 0, until_end * block));
  s.copy(part(all, 0, s.rank() * count), part(packed, until_end * block, s.rank() * block));
}

void allgather_gather_broadcast(Schedule& s, const Layout& mine, const Layout& all) {
  gather(s, mine, all, 0);
  s.next();
  broadcast(s, all, 0);
}

void allgather_ring(Schedule& s, const Layout& mine, const Blocks& all) {
  s.copy(all[s.rank()], mine);
  ring_allgather(s, s.rank(), wrap(s.rank() + 1, s.size()), wrap(s.rank() - 1, s.size()),
                 [&](int i) { return all[i]; });
}

}  // namespace clump::coll
