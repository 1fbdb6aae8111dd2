// Collectives of little data among processes of one node, through memory that they share, without messages.
//
//   each rank: writes its operand into its slot, arrives, waits at a futex
//   the last rank to arrive: does the work for all, opens the next round
//   each rank: reads its result
//
// So each rank waits once, which is what counts where there are more processes than cores and each wait is a
// switch of processes. Two sets of slots are used in turn: no rank can be two rounds ahead of another, so
// the data of a round is read before it is overwritten. Any thread of a rank may call, one at a
// time, as for all collectives. Operands are combined in the order of ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "coll/call.h"
#include "coll/select/select.h"
#include "core/comm.h"
#include "net/shm/shared_allocator.h"

namespace clump::coll {

class NodeTeam final : public core::Team {
 public:
  /// The most bytes that a rank may give.
  static constexpr Count kRoom = 4096;

  /// The caller's own of a communicator whose ranks are of several processes of this node; null if there
  /// cannot be one. A collective operation.
  static base::Ref<NodeTeam> found(core::Comm& comm);
  ~NodeTeam() override;

  /// The operation. Ranks that disagree are told so. Nothing that a rank gives may be longer than kRoom, all
  /// blocks of an alltoall together; the type of operands is dense. For the collectives that have a rule for
  /// it.
  base::Status run(const Call& call);

 private:
  struct Place;
  base::Status barrier();
  base::Status broadcast(const Layout& buffer, int root);
  base::Status gather(const Layout& mine, const Layout& all, int root);
  base::Status scatter(const Layout& all, const Layout& mine, int root);
  base::Status allgather(const Layout& mine, const Layout& all);
  base::Status alltoall(const Layout& out, const Layout& in);
  base::Status reduce(const Reduction& reduction, const Layout& in, const Layout& out, int root);
  base::Status allreduce(const Reduction& reduction, const Layout& in, const Layout& out);

  NodeTeam(const core::Comm& comm, std::int64_t at);
  static std::size_t bytes_for(int ranks);

  /// Returns when all have arrived; `last` is called by the last one, before.
  template <typename Last>
  base::Status meet(Last last);
  base::Status complain();
  /// The call of a rank, with so many bytes in each slot. Small slots share a page or two: the fewer pages,
  /// the fewer misses of a process after a switch. The rank writes its own before it arrives; all read it
  /// until the next round but one.
  struct alignas(16) Signature {
    Collective collective;
    Caller caller;
    std::uint16_t mismatched : 1;  ///< the caller's other buffer has blocks of another size
    std::uint16_t bytes : 15;      ///< at most kRoom
    int root;
    Count other;  ///< the size of a block of the other buffer, if mismatched
    bool agrees(const Signature& with) const {
      return collective == with.collective && caller == with.caller && bytes == with.bytes &&
             root == with.root && mismatched == 0;
    }
  };
  void begin(Collective collective, int root, Count bytes);
  /// The same for a caller with two buffers: `expected`, the size of a block of the other one, has to be
  /// `bytes`. False: it is not, so the ranks will disagree.
  bool begin_both(Collective collective, int root, Count bytes, Count expected);
  Signature& signature(int rank);
  std::byte* slot(int rank);
  base::Status compare_blocks(int rank);
  // Of as many bytes as a slot has, or of one block of an alltoall: all ranks have the same sizes.
  /// Packed, into a rank's slot; and the other way.
  void give(int rank, const Layout& from);
  void get(int rank, Count offset, const Layout& to);
  /// The last rank's slot has the result afterwards.
  void combine(const Reduction& reduction, const Layout& in);

  net::SharedAllocator& shared_allocator_;
  const int self_;  // the rank's number in the job
  const int rank_, size_;
  const std::int64_t at_;
  Place& place_;
  std::vector<int> ports_;        // of all ranks, each once
  std::uint32_t round_;           // the last one that is complete
  unsigned set_ = 0;              // which slots are written: those of this operation
  std::size_t stride_ = 0;        // from one slot to the next
  Caller caller_ = Caller::kOwn;  // of this operation
};

}  // namespace clump::coll
