// A collective operation as one rank calls it (MPI-5.0 chapter 6): one description for all engines.
//
//   MPI body -> Call -> run() or start() (coll.h) -> an engine: shared/, node/, or messages (algorithms/)
//
// A Call refers to layouts and blocks of the caller. It lives as long as the MPI call; an operation that goes
// on afterwards copies what it needs.
#pragma once

#include <vector>

#include "base/status.h"
#include "coll/caller.h"
#include "coll/select/select.h"
#include "core/comm.h"
#include "core/op.h"
#include "datatype/datatype.h"

namespace clump::coll {

using datatype::Layout;
using datatype::part;

/// Solid bytes.
Layout bytes_at(void* base, Count bytes);

/// What the operands of a reduction are combined with. `handle` is given to user functions.
struct Reduction {
  const core::Op* op = nullptr;
  MPI_Datatype handle = MPI_DATATYPE_NULL;
};

/// The narrowest class that an operation is in.
inline Operations operations_of(const Reduction& reduction) {
  if (reduction.op == nullptr || reduction.op->is_predefined()) return Operations::kPredefined;
  return reduction.op->commutative() ? Operations::kCommutative : Operations::kAny;
}

inline bool is_in_place(const Layout& out, const Layout& in) {
  return out.base == in.base && out.type == in.type && in.bytes() > 0;
}

/// Size of one of the blocks that a buffer has for each rank.
inline Count block_bytes(const Layout& all, int ranks) { return all.count / ranks * all.type->size(); }

/// An array of counts or displacements as the user passed it: of int, or of MPI_Count or MPI_Aint.
class Numbers {
 public:
  Numbers() = default;
  Numbers(const int* small) : small_(small) {}    // NOLINT: this is what it is for
  Numbers(const Count* large) : large_(large) {}  // NOLINT
  Count operator[](int i) const { return small_ != nullptr ? small_[i] : large_[i]; }
  bool null() const { return small_ == nullptr && large_ == nullptr; }
  bool operator==(const Numbers&) const = default;

 private:
  const int* small_ = nullptr;
  const Count* large_ = nullptr;
};
static_assert(sizeof(Count) == sizeof(MPI_Aint));

/// A buffer with a block for each rank, or for each neighbour.
class Blocks {
 public:
  /// Block i is elements [i * count, (i + 1) * count).
  Blocks(void* base, Count count, const datatype::Datatype* type)
      : base_(base), count_(count), step_(count), type_(type) {}
  /// Every block is the same.
  explicit Blocks(const Layout& block) : base_(block.base), count_(block.count), type_(block.type) {}
  /// Block i is counts[i] elements from element displacements[i] on.
  Blocks(void* base, Numbers counts, Numbers displacements, const datatype::Datatype* type)
      : base_(base), type_(type), counts_(counts), displacements_(displacements) {}
  /// Block i is counts[i] elements of types[i], displacements[i] bytes from the base.
  Blocks(void* base, Numbers counts, Numbers displacements, const datatype::Datatype* const* types)
      : base_(base), types_(types), counts_(counts), displacements_(displacements) {}

  Blocks() = default;

  Layout operator[](int i) const;
  bool operator==(const Blocks&) const = default;

  /// Where kept() copies counts, displacements and types to.
  struct Storage {
    std::vector<Count> counts, displacements;
    std::vector<const datatype::Datatype*> types;
  };
  /// The first n of these blocks, independent of the caller's arrays. The data stays where it is.
  Blocks kept(Storage& storage, int n) const;

 private:
  void* base_ = nullptr;
  Count count_ = 0;
  Count step_ = 0;
  const datatype::Datatype* type_ = nullptr;
  const datatype::Datatype* const* types_ = nullptr;
  Numbers counts_, displacements_;
};

/// The arguments of one rank. "In place" is told by passing the same layout, or blocks, twice: what
/// MPI_IN_PLACE stands for is at the other buffer. Layouts that have no meaning at the caller (the receive
/// buffer of a rank that is not the root) are not looked at. On an intercommunicator `root` is MPI_ROOT,
/// MPI_PROC_NULL or a rank of the remote group. The arguments were checked before.
struct Call {
  static constexpr Layout kNoLayout{};

  Collective collective;
  Caller caller = Caller::kOwn;
  bool in_place = false;
  bool exclusive = false;  ///< MPI_Exscan
  int root = 0;
  /// A rank's part, for selection: one block, or all operands; the same on all ranks of a correct program. 0
  /// where blocks may differ in size.
  Count bytes = 0;
  /// Whole buffers where there is a block for each rank; a broadcast's buffer is both. References, because a
  /// copy would be read back before it is written as a whole.
  const Layout &send = kNoLayout, &recv = kNoLayout;
  const Blocks *send_blocks = nullptr, *recv_blocks = nullptr;  ///< where blocks may differ in size
  Count first = 0;  ///< of a reduce-scatter: the element of `send` where the caller's block begins
  const Numbers* counts = nullptr;  ///< of a reduce-scatter; null: all blocks have recv.count elements
  const Reduction* reduction = nullptr;

  bool has_blocks() const { return send_blocks != nullptr || recv_blocks != nullptr; }
  /// What is sent and received as blocks, where there are blocks: a single layout stands for each of them.
  Blocks blocks_out() const { return send_blocks != nullptr ? *send_blocks : Blocks(send); }
  Blocks blocks_in() const { return recv_blocks != nullptr ? *recv_blocks : Blocks(recv); }

  static Call barrier() { return {.collective = Collective::kBarrier}; }
  static Call broadcast(const Layout& buffer, int root);
  /// `mine` is one block, `all` (at the root) a block for each rank.
  static Call gather(const Layout& mine, const Layout& all, int root);
  static Call scatter(const Layout& all, const Layout& mine, int root);
  static Call allgather(const Layout& mine, const Layout& all);
  /// Both have a block for each of the peers; the same one twice: in place.
  static Call alltoall(int peers, const Layout& out, const Layout& in);
  static Call gatherv(const Layout& mine, const Blocks& all, int root);
  static Call scatterv(const Blocks& all, const Layout& mine, int root);
  static Call allgatherv(const Layout& mine, const Blocks& all);
  /// MPI_Alltoallv and MPI_Alltoallw.
  static Call alltoallv(const Blocks& out, const Blocks& in);
  /// Neighbourhood collectives (MPI-5.0 section 8.6): the blocks are those of the topology's destinations and
  /// sources.
  static Call neighbours(const Blocks& out, const Blocks& in);
  // `in` and `out` have the same count and type where there are both.
  static Call reduce(const Reduction& reduction, const Layout& in, const Layout& out, int root);
  static Call allreduce(const Reduction& reduction, const Layout& in, const Layout& out);
  static Call scan(const Reduction& reduction, const Layout& in, const Layout& out);
  /// Rank 0's `out` stays as it is.
  static Call exscan(const Reduction& reduction, const Layout& in, const Layout& out);
  /// `all` is all blocks one after the other, counts[i] elements for rank i; `out` is the caller's block.
  static Call reduce_scatter(const core::Comm& comm, const Reduction& reduction, const Layout& all,
                             const Layout& out, const Numbers& counts);
  /// The same with out.count elements for each rank.
  static Call reduce_scatter_block(const core::Comm& comm, const Reduction& reduction, const Layout& all,
                                   const Layout& out);

  /// The same, called by another function than that of its name.
  Call by(Caller other) const {
    Call call = *this;
    call.caller = other;
    return call;
  }

  /// What all reductions have in common.
  static Call combining(Collective collective, const Reduction& reduction, const Layout& in,
                        const Layout& out);
};

/// The elements of all blocks of a reduce-scatter, by the caller's group.
inline Count total_of(const core::Comm& comm, const Numbers& counts) {
  Count total = 0;
  for (int rank = 0; rank < comm.size(); ++rank) total += counts[rank];
  return total;
}

inline Call Call::broadcast(const Layout& buffer, int root) {
  return {.collective = Collective::kBroadcast,
          .root = root,
          .bytes = buffer.bytes(),
          .send = buffer,
          .recv = buffer};
}

inline Call Call::gather(const Layout& mine, const Layout& all, int root) {
  return {.collective = Collective::kGather, .root = root, .bytes = mine.bytes(), .send = mine, .recv = all};
}

inline Call Call::scatter(const Layout& all, const Layout& mine, int root) {
  return {.collective = Collective::kScatter, .root = root, .bytes = mine.bytes(), .send = all, .recv = mine};
}

inline Call Call::allgather(const Layout& mine, const Layout& all) {
  return {.collective = Collective::kAllgather, .bytes = mine.bytes(), .send = mine, .recv = all};
}

inline Call Call::alltoall(int peers, const Layout& out, const Layout& in) {
  return {.collective = Collective::kAlltoall,
          .in_place = is_in_place(out, in),
          .bytes = block_bytes(out, peers),
          .send = out,
          .recv = in};
}

inline Call Call::gatherv(const Layout& mine, const Blocks& all, int root) {
  return {.collective = Collective::kGatherv, .root = root, .send = mine, .recv_blocks = &all};
}

inline Call Call::scatterv(const Blocks& all, const Layout& mine, int root) {
  return {.collective = Collective::kScatterv, .root = root, .recv = mine, .send_blocks = &all};
}

inline Call Call::allgatherv(const Layout& mine, const Blocks& all) {
  return {.collective = Collective::kAllgatherv, .send = mine, .recv_blocks = &all};
}

inline Call Call::alltoallv(const Blocks& out, const Blocks& in) {
  return {
      .collective = Collective::kAlltoallv, .in_place = out == in, .send_blocks = &out, .recv_blocks = &in};
}

inline Call Call::neighbours(const Blocks& out, const Blocks& in) {
  return {.collective = Collective::kNeighbours, .send_blocks = &out, .recv_blocks = &in};
}

inline Call Call::combining(Collective collective, const Reduction& reduction, const Layout& in,
                            const Layout& out) {
  return {.collective = collective, .bytes = in.bytes(), .send = in, .recv = out, .reduction = &reduction};
}

inline Call Call::reduce(const Reduction& reduction, const Layout& in, const Layout& out, int root) {
  Call call = combining(Collective::kReduce, reduction, in, out);
  call.root = root;
  return call;
}

inline Call Call::allreduce(const Reduction& reduction, const Layout& in, const Layout& out) {
  return combining(Collective::kAllreduce, reduction, in, out);
}

inline Call Call::scan(const Reduction& reduction, const Layout& in, const Layout& out) {
  return combining(Collective::kScan, reduction, in, out);
}

inline Call Call::exscan(const Reduction& reduction, const Layout& in, const Layout& out) {
  Call call = combining(Collective::kScan, reduction, in, out);
  call.exclusive = true;
  return call;
}

inline Call Call::reduce_scatter(const core::Comm& comm, const Reduction& reduction, const Layout& all,
                                 const Layout& out, const Numbers& counts) {
  Call call = combining(Collective::kReduceScatter, reduction, all, out);
  for (int rank = 0; rank < comm.rank; ++rank) call.first += counts[rank];
  call.counts = &counts;
  return call;
}

inline Call Call::reduce_scatter_block(const core::Comm& comm, const Reduction& reduction, const Layout& all,
                                       const Layout& out) {
  Call call = combining(Collective::kReduceScatter, reduction, all, out);
  call.first = comm.rank * out.count;
  return call;
}

}  // namespace clump::coll
