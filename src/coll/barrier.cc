// Barrier (MPI-5.0 section 6.3): dissemination, after Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization" (1988).
#include "coll/coll.h"
#include "coll/pieces.h"

namespace clump::coll {

void barrier(Schedule& s) {
  if (s.is_inter()) return inter::barrier(s);
  const Layout nothing = bytes_at(nullptr, 0);
  for (int distance = 1; distance < s.size(); distance *= 2) {
    s.send(nothing, wrap(s.rank() + distance, s.size()));
    s.receive(nothing, wrap(s.rank() - distance, s.size()));
    s.next();
  }
}

}  // namespace clump::coll
