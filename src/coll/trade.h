// What each of two ranks gives the other one in a collective operation, by way of a room (decision 027).
#pragma once

#include "coll/meeting.h"

namespace clump::coll {

/// Memory that changes hands: who has read what is in it writes to it next.
struct alignas(4096) SwapRoom {
  std::byte bytes[kSwapRoom];
};

/// What one of them does; layouts without a type are of nothing.
struct Trade {
  Layout give{}, take{};
  Layout own{}, own_to{};  ///< what it copies for itself
  bool combines = false;   ///< what it takes is combined with `own`

  static Trade of(int rank, const Meeting::Call& call);
  /// The same for blocks that may differ in size.
  static Trade of(int rank, Collective collective, int root, const Blocks& out, const Blocks& in);

  bool gives() const { return give.type != nullptr; }
  bool takes() const { return take.type != nullptr; }
  bool has_work() const { return takes() || own_to.type != nullptr; }
  /// In bytes of data.
  Count given() const { return gives() ? give.bytes() : 0; }
  Count taken() const { return takes() ? take.bytes() : 0; }

  // `reduction` is null where data is only moved. Operands lie in a room as in an array, what else there is
  // as bytes.
  bool fits(const Reduction* reduction) const;
  void fill(SwapRoom& room, const Reduction* reduction) const;
  /// What it copies for itself.
  void keep() const;
  /// By `rank`, from the other one's room.
  void take_from(SwapRoom& room, int rank, const Reduction* reduction) const;
};

/// From here on it makes a difference whether a program touches its data; and for how many operations we
/// think that we know, with rooms and without. A trial in vain takes as long as it took before there were
/// rooms.
inline constexpr Count kWorthTrying = 4 * 1024;
inline constexpr int kSwaps = 64, kDirectOnes = 16;

/// Whether the first bytes of what a rank gives come from another core than the caller's; bytes() is at least
/// kTried. Takes as long as to read them.
inline constexpr Count kTried = 4 * 1024;
bool is_far(const Layout& data);

}  // namespace clump::coll
