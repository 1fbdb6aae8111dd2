// Scan and exscan (MPI-5.0 section 6.11), after Hillis and Steele, "Data parallel algorithms" (1986).
#include "coll/algorithms/algorithms.h"
#include "coll/algorithms/pieces.h"

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

// The data from the rank below is the result of all ranks below.
void prefix_chain(Schedule& s, const Layout& value, const Layout& below) {
  const int pieces = pieces_of_chain(s, value);
  const Layout room = s.rank() > 0 ? s.scratch(value.count, *value.type) : Layout{};
  for (int i = 0; i < pieces; ++i) {
    if (s.rank() > 0) {
      s.receive(piece(room, pieces, i), s.rank() - 1);
      if (below.type != nullptr) s.copy(piece(below, pieces, i), piece(room, pieces, i));
      s.combine(piece(room, pieces, i), piece(value, pieces, i));
    }
    if (s.rank() + 1 < s.size()) s.send(piece(value, pieces, i), s.rank() + 1);
  }
}

void scan_by(Schedule& s, const Call& call, void (*prefix)(Schedule&, const Layout&, const Layout&)) {
  if (!call.exclusive) {
    s.copy(call.recv, call.send);
    return prefix(s, call.recv, {});
  }
  const Layout value = s.scratch(call.send.count, *call.send.type);
  s.copy(value, call.send);
  prefix(s, value, call.recv);
}

}  // namespace clump::coll
