// What tells whether somebody has written into a buffer (mpiexec --check).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "datatype/datatype.h"

namespace clump::datatype {

/// So many bytes of a layout are looked at, at most: of a longer one, pieces at its ends and between them.
inline constexpr Count kMostLookedAt = Count{4} << 20;

/// A hash of the packed bytes. Two that differ were of different bytes; equal ones were, but for a collision
/// of 64-bit hashes, of equal bytes where these were looked at.
std::uint64_t fingerprint(const Layout& layout);

/// The first packed byte in which `layout` differs from `packed`, which holds all of them; -1 if there is
/// none.
Count first_difference(const Layout& layout, const std::byte* packed);

/// The packed bytes of a buffer whose message may be shorter than it, and whose memory may end before it
/// does: those that are looked at and can be read.
class Snapshot {
 public:
  explicit Snapshot(const Layout& layout);
  /// Whether any of the first `bytes` packed bytes of the same layout is another one now.
  bool has_changed(const Layout& layout, Count bytes) const;

 private:
  struct Piece {
    Count begin, bytes;
  };
  std::vector<Piece> pieces_;
  std::vector<std::byte> packed_;  // of all pieces
};

}  // namespace clump::datatype
