// Barrier (MPI-5.0 section 6.3): by way of rank 0, or dissemination, after Hensgen, Finkel and Manber, "Two
// algorithms for barrier synchronization" (1988).
#include "coll/coll.h"
#include "coll/pieces.h"
#include "coll/select.h"

namespace clump::coll {

namespace {

// Everybody sleeps once, which is what counts where there are more ranks than cores.
void direct(Schedule& s, const Layout& nothing) {
  if (s.rank() != 0) {
    s.send(nothing, 0);
    return s.receive(nothing, 0);
  }
  for (int i = 1; i < s.size(); ++i) s.receive(nothing, i);
  s.next();
  for (int i = 1; i < s.size(); ++i) s.send(nothing, i);
}

void dissemination(Schedule& s, const Layout& nothing) {
  for (int distance = 1; distance < s.size(); distance *= 2) {
    s.send(nothing, wrap(s.rank() + distance, s.size()));
    s.receive(nothing, wrap(s.rank() - distance, s.size()));
    s.next();
  }
}

}  // namespace

void barrier(Schedule& s) {
  if (s.is_inter()) return inter::barrier(s);
  const Layout nothing = bytes_at(nullptr, 0);
  if (select(Collective::kBarrier, s.size(), 0) == Algorithm::kDirect) return direct(s, nothing);
  dissemination(s, nothing);
}

}  // namespace clump::coll
