// The shared-memory core of collectives among ranks of one address space: what each rank has called, with
// which buffers, and the work that follows once all of them are known. For shared/ only.
//
//   rank 0 ... n-1 --arguments--> slots_[rank], buffers_[rank]     all have arrived --> work(rank) for each
//   rank
//
// Team (team.h) and PendingCollective (pending.h) decide when the ranks are complete and which thread works:
// the ranks of a Team wait for each other, those of a PendingCollective do not. The work is in parts, one for
// each rank; parts are independent, and any thread may do any of them. Operands are combined in an order that
// depends on the communicator alone, never on which rank comes first.
#pragma once

#include <memory>

#include "base/status.h"
#include "coll/call.h"
#include "coll/select/select.h"
#include "core/comm.h"

namespace clump::coll {

class PackedSignature;

class SharedCollective {
 public:
  SharedCollective(const SharedCollective&) = delete;
  SharedCollective& operator=(const SharedCollective&) = delete;

  /// What ranks compare, of the call of one of them. `broadcasts`: see PackedSignature.
  PackedSignature signature_of(int rank, const Call& call, Algorithm algorithm,
                               std::uint64_t broadcasts) const;

  int size() const { return size_; }
  /// Whether the groups follow one another in the order of ranks, so that a tree over groups keeps it.
  bool ordered() const { return ordered_; }

 protected:
  struct Buffers;
  struct Exchange;
  struct Neighbourhood;
  struct Block;
  struct ArgumentSlot;
  struct LocalGroup;

  explicit SharedCollective(const core::Comm& comm);
  ~SharedCollective();

  // The work, when all ranks have arrived and agree.
  void work_for(LocalGroup& group, const ArgumentSlot& me, const Reduction* reduction);
  /// One rank's part.
  void work(ArgumentSlot& me, const Reduction* reduction);
  /// By all ranks together, in what only moves data.
  Count bytes_touched(const ArgumentSlot& me) const;

  // When they do not agree, and for each rank.
  base::Status complain(const ArgumentSlot& me);

  const int size_;
  int group_count_ = 0;
  bool ordered_ = true;
  std::unique_ptr<ArgumentSlot[]> slots_;  ///< by rank
  std::unique_ptr<Buffers[]> buffers_;     ///< by rank
  std::unique_ptr<LocalGroup[]> groups_;

 private:
  friend class PendingCollectives;

  bool is_mismatched(int rank, const Call& call) const;

  /// Whether a leader without work left waits for this group's; see in_steps().
  virtual bool is_waited_for(const LocalGroup& group) const = 0;
  /// The call of the broadcast with this number by a ring that a rank has not read, though others have.
  virtual PackedSignature broadcast(std::uint64_t number) const = 0;

  void move(const ArgumentSlot& me);
  /// [begin, end), so much at a time; `bytes` is what there is to move in all, `streamed` whether what is
  /// written goes past the caches.
  struct Steps {
    Count begin, end, step, bytes;
    bool streamed = false;
  };
  /// Calls work(first, count) for all steps.
  template <typename Work>
  void in_steps(const ArgumentSlot& me, const Steps& all, Work work);
  /// The bytes that both have room for; the more that one of them has stay as they are. Nothing happens if
  /// they are the same place.
  void fetch(const ArgumentSlot& me, const Layout& to, const Layout& from);
  void fetch_long(const ArgumentSlot& me, const Layout& to, const Layout& from, Count bytes);
  void copy_block(const ArgumentSlot& me, const Block& to, const Block& from);
  Count block_bytes(LocalGroup& group) const;
  void broadcast_slice(const ArgumentSlot& me);
  void give_block(const ArgumentSlot& me);
  void swap_blocks(const ArgumentSlot& me);
  /// Where elements are combined: where a result goes; in the cache, and copied from there; or past the
  /// caches.
  enum class Results { kPlaced, kCopied, kStreamed };
  template <typename Place, typename Write>
  void combine(Count begin, Count end, const ArgumentSlot& me, const Reduction& reduction, Place place,
               Results results, Write write);
  void combine_slice(const ArgumentSlot& me, int slice, int slices, const Reduction& reduction);
  static constexpr int kAll = -1;
  /// `root` gets the results, or kAll.
  void reduce_slice(const ArgumentSlot& me, Count begin, Count end, int root, const Reduction& reduction);
  void reduce_block(const ArgumentSlot& me, const Reduction& reduction);
  void scan_slice(const ArgumentSlot& me, Count begin, Count end, const Reduction& reduction);
  void exscan_slice(const ArgumentSlot& me, Count begin, Count end, const Reduction& reduction);

  void move_blocks(ArgumentSlot& me);
  void swap_block(ArgumentSlot& me, int peer);
  void check_block(ArgumentSlot& me, int source, const Layout& to, const Layout& from);
  void fetch_from_neighbours(ArgumentSlot& me);
  void find_blocks(const ArgumentSlot& me, Neighbourhood& mine);

  base::Status compare_calls(const ArgumentSlot& me);
  base::Status compare_broadcasts(const ArgumentSlot& me, const ArgumentSlot& other);
  base::Status compare_blocks(const ArgumentSlot& me);

  bool spare_ = false;  ///< there are cores that no rank here is mapped to
};

}  // namespace clump::coll
