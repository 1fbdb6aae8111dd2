// Scan and exscan (MPI-5.0 section 6.11), after Hillis and Steele, "Data parallel algorithms" (1986).
#include "coll/algorithms.h"
#include "coll/coll.h"
#include "coll/pieces.h"
#include "coll/select.h"

namespace clump::coll {

// Before round k `value` stands for the caller and the 2^k - 1 ranks below, `below` for these alone.
void prefix(Schedule& s, const Layout& value, const Layout& below) {
  const Layout room = s.scratch(value.count, *value.type);
  for (int distance = 1; distance < s.size(); distance *= 2) {
    if (s.rank() + distance < s.size()) s.send(value, s.rank() + distance);
    if (s.rank() >= distance) {
      s.receive(room, s.rank() - distance);
      if (below.type != nullptr && distance == 1) s.copy(below, room);
      if (below.type != nullptr && distance > 1) s.combine(room, below);
      s.combine(room, value);
    }
    s.next();
  }
}

void scan(Schedule& s, const Layout& in, const Layout& out) {
  if (in.count == 0) return;
  s.copy(out, in);
  if (s.size() == 1) return;
  if (s.choose(Collective::kScan, in.bytes()) == Algorithm::kTwoStages) return prefix_two_stages(s, out);
  prefix(s, out);
}

void exscan(Schedule& s, const Layout& in, const Layout& out) {
  if (in.count == 0 || s.size() == 1) return;
  const Layout value = s.scratch(in.count, *in.type);
  s.copy(value, in);
  if (s.choose(Collective::kScan, in.bytes()) == Algorithm::kTwoStages)
    return prefix_two_stages(s, value, out);
  prefix(s, value, out);
}

}  // namespace clump::coll
