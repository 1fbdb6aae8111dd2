// The collective operations (MPI-5.0 chapter 6), as functions that write a schedule.
//
// "In place" is told by passing the same layout twice: what MPI_IN_PLACE stands for is at the other buffer.
// Layouts that have no meaning at the caller (the receive buffer of a rank that is not the root) are not
// looked at. On an intercommunicator `root` is MPI_ROOT, MPI_PROC_NULL or a rank of the remote group.
// Arguments were checked before.
#pragma once

#include <vector>

#include "coll/schedule/schedule.h"

namespace clump::coll {

class RequestBuilder;

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

  /// For the counts, displacements and types of blocks.
  struct Room {
    std::vector<Count> counts, displacements;
    std::vector<const datatype::Datatype*> types;
  };
  /// The first n of these blocks, of which nothing but the data stays with the caller's.
  Blocks kept(Room& room, int n) const;

 private:
  void* base_ = nullptr;
  Count count_ = 0;
  Count step_ = 0;
  const datatype::Datatype* type_ = nullptr;
  const datatype::Datatype* const* types_ = nullptr;
  Numbers counts_, displacements_;
};

void barrier(Schedule& s);
void broadcast(Schedule& s, const Layout& buffer, int root);

/// `mine` is one block, `all` (at the root) a block for each rank.
void gather(Schedule& s, const Layout& mine, const Layout& all, int root);
void gatherv(Schedule& s, const Layout& mine, const Blocks& all, int root);
void scatter(Schedule& s, const Layout& all, const Layout& mine, int root);
void scatterv(Schedule& s, const Blocks& all, const Layout& mine, int root);
void allgather(Schedule& s, const Layout& mine, const Layout& all);
void allgatherv(Schedule& s, const Layout& mine, const Blocks& all);

/// alltoall, alltoallv, alltoallw: blocks may be of any size. The same ones twice: in place.
void alltoall(Schedule& s, const Blocks& out, const Blocks& in);
/// Both have a block for each rank; the same one twice: in place.
void alltoall(Schedule& s, const Layout& out, const Layout& in);
/// MPI_IN_PLACE: block i goes to rank i and is replaced by what that one sends.
void alltoall_in_place(Schedule& s, const Blocks& blocks);

/// Neighbourhood collectives (MPI-5.0 section 8.6): the blocks are those of the topology's destinations and
/// sources. They may be of any size.
void exchange_with_neighbours(Schedule& s, const core::Topology& topology, const Blocks& out,
                              const Blocks& in);

// The schedule was made with the reduction. `in` and `out` have the same count and type where there are both.
void reduce(Schedule& s, const Layout& in, const Layout& out, int root);
void allreduce(Schedule& s, const Layout& in, const Layout& out);
/// `in` is all blocks one after the other, counts[i] elements for rank i; `out` is the caller's block.
void reduce_scatter(Schedule& s, const Layout& in, const Layout& out, const Numbers& counts);
void reduce_scatter_block(Schedule& s, const Layout& in, const Layout& out);
void scan(Schedule& s, const Layout& in, const Layout& out);
/// Rank 0's `out` stays as it is.
void exscan(Schedule& s, const Layout& in, const Layout& out);

// The same, by the team of the communicator (shared/pending.h); false, and nothing was done, if it is not for
// the team. Intracommunicators only.
bool barrier(RequestBuilder& t);
bool broadcast(RequestBuilder& t, const Layout& buffer, int root);
bool gather(RequestBuilder& t, const Layout& mine, const Layout& all, int root);
bool gatherv(RequestBuilder& t, const Layout& mine, const Blocks& all, int root);
bool scatter(RequestBuilder& t, const Layout& all, const Layout& mine, int root);
bool scatterv(RequestBuilder& t, const Blocks& all, const Layout& mine, int root);
bool allgather(RequestBuilder& t, const Layout& mine, const Layout& all);
bool allgatherv(RequestBuilder& t, const Layout& mine, const Blocks& all);
bool alltoall(RequestBuilder& t, const Blocks& out, const Blocks& in);
bool alltoall(RequestBuilder& t, const Layout& out, const Layout& in);
bool exchange_with_neighbours(RequestBuilder& t, const core::Topology& topology, const Blocks& out,
                              const Blocks& in);
bool reduce(RequestBuilder& t, const Layout& in, const Layout& out, int root);
bool allreduce(RequestBuilder& t, const Layout& in, const Layout& out);
bool reduce_scatter(RequestBuilder& t, const Layout& in, const Layout& out, const Numbers& counts);
bool reduce_scatter_block(RequestBuilder& t, const Layout& in, const Layout& out);
bool scan(RequestBuilder& t, const Layout& in, const Layout& out);
bool exscan(RequestBuilder& t, const Layout& in, const Layout& out);

// Blocking forms: by the team of the communicator if it has one (shared/team.h), otherwise by a schedule. Teams only
// have those that are here. `in_place` is told as above.
base::Status barrier(core::Comm& comm);
base::Status broadcast(core::Comm& comm, const Layout& buffer, int root);
base::Status gather(core::Comm& comm, const Layout& mine, const Layout& all, int root);
base::Status scatter(core::Comm& comm, const Layout& all, const Layout& mine, int root);
base::Status allgather(core::Comm& comm, const Layout& mine, const Layout& all);
base::Status alltoall(core::Comm& comm, const Layout& out, const Layout& in);
base::Status gatherv(core::Comm& comm, const Layout& mine, const Blocks& all, int root);
base::Status scatterv(core::Comm& comm, const Blocks& all, const Layout& mine, int root);
base::Status allgatherv(core::Comm& comm, const Layout& mine, const Blocks& all);
base::Status alltoall(core::Comm& comm, const Blocks& out, const Blocks& in);
base::Status reduce(core::Comm& comm, const Reduction& reduction, const Layout& in, const Layout& out,
                    int root);
base::Status allreduce(core::Comm& comm, const Reduction& reduction, const Layout& in, const Layout& out);
base::Status reduce_scatter(core::Comm& comm, const Reduction& reduction, const Layout& in, const Layout& out,
                            const Numbers& counts);
base::Status reduce_scatter_block(core::Comm& comm, const Reduction& reduction, const Layout& in,
                                  const Layout& out);
base::Status scan(core::Comm& comm, const Reduction& reduction, const Layout& in, const Layout& out);
base::Status exscan(core::Comm& comm, const Reduction& reduction, const Layout& in, const Layout& out);

/// `comm` has a topology.
base::Status exchange_with_neighbours(core::Comm& comm, const Blocks& out, const Blocks& in);

}  // namespace clump::coll
