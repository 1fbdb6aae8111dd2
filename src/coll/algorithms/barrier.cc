// Barrier (MPI-5.0 section 6.3): by way of rank 0, or dissemination, after Hensgen, Finkel and Manber, "Two
// algorithms for barrier synchronization" (1988).
#include "coll/algorithms/algorithms.h"
#include "coll/algorithms/pieces.h"

namespace clump::coll {

// Each rank sleeps only once, which matters most if there are more ranks than cores.
void barrier_direct(Schedule& s) {
  const Layout nothing = bytes_at(nullptr, 0);
  if (s.rank() != 0) {
    s.send(nothing, 0);
    return s.receive(nothing, 0);
  }
  for (int i = 1; i < s.size(); ++i) s.receive(nothing, i);
  s.next();
  for (int i = 1; i < s.size(); ++i) s.send(nothing, i);
}

void barrier_dissemination(Schedule& s) {
  const Layout nothing = bytes_at(nullptr, 0);
  for (int distance = 1; distance < s.size(); distance *= 2) {
    s.send(nothing, wrap(s.rank() + distance, s.size()));
    s.receive(nothing, wrap(s.rank() - distance, s.size()));
    s.next();
  }
}

}  // namespace clump::coll
