// Scan and exscan (MPI-5.0 section 6.11), after Hillis and Steele, "Data parallel algorithms" (1986).
#include "coll/coll.h"
#include "coll/pieces.h"

namespace clump::coll {

namespace {

// `value` becomes the result of ranks first to the caller's; ranks below `first` have no part in it. Before
// round k it stands for the caller and the 2^k - 1 ranks below.
void prefix(Schedule& s, const Layout& value, int first) {
  const Layout room = s.scratch(value.count, *value.type);
  for (int distance = 1; distance < s.size() - first; distance *= 2) {
    if (s.rank() + distance < s.size()) s.send(value, s.rank() + distance);
    if (s.rank() - distance >= first) {
      s.receive(room, s.rank() - distance);
      s.combine(room, value);
    }
    s.next();
  }
}

}  // namespace

void scan(Schedule& s, const Layout& in, const Layout& out) {
  if (in.count == 0) return;
  s.copy(out, in);
  if (s.size() > 1) prefix(s, out, 0);
}

void exscan(Schedule& s, const Layout& in, const Layout& out) {
  if (in.count == 0 || s.size() == 1) return;
  // The scan of ranks 1 to size - 1 over the operands of the ranks below them.
  const bool in_place = in.base == out.base;
  const Layout incoming = in_place && s.rank() > 0 ? s.scratch(in.count, *in.type) : out;
  if (s.rank() + 1 < s.size()) s.send(in, s.rank() + 1);
  if (s.rank() == 0) return;
  s.receive(incoming, s.rank() - 1);
  s.next();
  s.copy(out, incoming);
  prefix(s, out, 1);
}

}  // namespace clump::coll
