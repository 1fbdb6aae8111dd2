// One rank's part of a collective operation of two ranks that exchange data through owned staging buffers.
// docs/decisions/027-swapped-rooms.md
//
//   rank 0   send --copy--> its buffer              its buffer <--copy-- send   rank 1
//            recv <-------- buffer of rank 1        buffer of rank 0 ----> recv
//
// The ranks synchronise once, between the two copies. Then the buffers change owner: each rank sends its next
// data by the buffer that it has read last, because the lines of that buffer are in the cache of its core.
#pragma once

#include "coll/shared/shared_collective.h"

namespace clump::coll {

/// A staging buffer. It belongs to one rank at a time; only the owner writes to it.
struct alignas(4096) PairBuffer {
  std::byte bytes[kPairBuffer];
};

/// What one of the two ranks sends to the other one, receives from it, and copies for itself. A layout
/// without a type stands for no data.
struct PairTransfer {
  Layout send{}, recv{};
  Layout local{}, local_to{};  ///< `local` is copied to `local_to`, or combined
  bool combines = false;       ///< what is received is combined with `local`

  static PairTransfer of(int rank, const Call& call);
  /// The same for blocks that may differ in size.
  static PairTransfer of_blocks(int rank, Collective collective, int root, const Blocks& out,
                                const Blocks& in);

  bool sends() const { return send.type != nullptr; }
  bool receives() const { return recv.type != nullptr; }
  bool has_work() const { return receives() || local_to.type != nullptr; }
  /// In bytes of data.
  Count bytes_sent() const { return sends() ? send.bytes() : 0; }
  Count bytes_received() const { return receives() ? recv.bytes() : 0; }

  // `reduction` is null where data is only moved. Operands lie in a buffer as in an array, other data as
  // packed bytes.
  bool fits(const Reduction* reduction) const;
  void fill(PairBuffer& buffer, const Reduction* reduction) const;
  /// Copies `local` to `local_to`, if there is such a copy.
  void copy_local() const;
  /// Called by `rank`: reads the other rank's buffer.
  void receive_from(PairBuffer& buffer, int rank, const Reduction* reduction) const;
};

/// Shorter operations are not worth a measurement of where their data is.
inline constexpr Count kWorthTrying = 4 * 1024;
/// A result of such a measurement holds for so many operations: with staging buffers, and without. A
/// measurement in vain costs as much as an operation without staging buffers.
inline constexpr int kStagedInARow = 64, kInPlaceInARow = 16;

/// Whether the first bytes of `data` come from the cache of another core than the caller's. `data` has at
/// least kTried bytes. Costs the time to read them.
inline constexpr Count kTried = 4 * 1024;
bool is_far(const Layout& data);

}  // namespace clump::coll
