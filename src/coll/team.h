// Teams: collective operations among ranks of one address space, without messages.
//
// A team is what the ranks of an intracommunicator share. Its ranks are grouped by the worker that is home to
// them. Everyone writes down what it calls and with which buffers (its Slot), and arrives; the last of a
// group to arrive is its leader for this time. Leaders tell each other (Mail), do the work that there is, and
// let the others of their group go. So each rank waits once, and only leaders, one for each worker, talk
// across cores. Much data is moved by everyone instead: then the team meets twice, before (all buffers are
// known) and after (nobody needs another one's buffer any more). For a small broadcast nobody meets
// (team_notices.cc).
//
// Leaders compare what everyone called. Ranks that meet and disagree about the operation, the root or the
// size are told so, and nobody hangs (team_disagree.cc).
//
// Any thread of a rank may call, one at a time, as for all collectives; who waits does so on a Completion.
// Operands are combined in an order that only the communicator decides, never who comes first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "base/status.h"
#include "coll/coll.h"
#include "coll/select.h"
#include "core/comm.h"

namespace clump::coll {

/// What a communicator has, of whatever kind. The first time for a communicator it is a collective operation.
core::Team* join_team(core::Comm& comm);
inline core::Team* team_of(core::Comm& comm) {
  core::Team* const known = comm.team.get();
  return known != nullptr ? known : join_team(comm);
}

class Word;

class Team final : public core::Team {
 public:
  /// What a rank says when it arrives. `from` and `to` are what it gives and what it gets, whole buffers
  /// where there is a block for each rank; a broadcast's buffer is both. Where they have no meaning at the
  /// caller they are not looked at.
  static constexpr Layout kNoLayout{};
  struct Call {
    Collective collective;
    Algorithm
        algorithm{};  ///< the same on all ranks; if not of a team, run() only finds out whether all agree
    int root = 0;
    Count bytes = 0;  ///< of one block, the same on all ranks of a correct program
    const Layout &from = kNoLayout,
                 &to = kNoLayout;  // not copied: they have just been written in smaller pieces
    bool in_place = false;
    bool odd = false;        ///< the caller's own two buffers do not fit each other
    bool exclusive = false;  ///< of a scan
    Count first = 0;         ///< of a reduce-scatter: the element of `from` where the caller's block begins
    const Reduction* reduction = nullptr;
  };

  /// The team of a communicator; null where there is none: intercommunicators, one rank alone, ranks
  /// elsewhere.
  static Team* of(core::Comm& comm) {
    core::Team* const team = team_of(comm);
    return team->kind == Kind::kHere ? static_cast<Team*>(team) : nullptr;
  }

  explicit Team(const core::Comm& comm);
  ~Team() override;

  /// Whether leaders can carry what so many ranks give, of so many bytes each (Call::bytes), or a notice can.
  static bool can_carry(Collective collective, int ranks, Count bytes);

  int size() const { return size_; }
  /// Whether `who` (Completion::sleeper()) waits here, as this rank. While there is a Hold
  /// (fiber/sleepers.h).
  bool is_waited_in(int rank, const void* who) const;
  /// Whether the groups follow one another in the order of ranks, so that a tree over groups keeps it.
  bool ordered() const { return ordered_; }

  // Blocking. `rank` is the caller's.
  base::Status barrier(int rank);
  base::Status run(int rank, const Call& call);
  /// The forms with blocks that may differ in size (gatherv, scatterv, allgatherv, alltoallv): leaders move
  /// those of the ranks of their group. `out[i]` goes to rank i, `in[i]` comes from there; where the
  /// collective has no such block it is not looked at. alltoallv in place: the same ones twice.
  base::Status exchange(int rank, Collective collective, int root, const Blocks& out, const Blocks& in);
  /// Leaders fetch what neighbours send to the ranks of their group. Blocks of two ranks may differ in size
  /// from those of two others, so nothing depends on it. `comm` is the caller's, and has a topology.
  base::Status exchange_with_neighbours(const core::Comm& comm, const Blocks& out, const Blocks& in);

 private:
  struct Buffers;
  struct Exchange;
  struct Neighbourhood;
  struct Block;
  struct Slot;
  struct Group;
  struct Header;
  struct Value;
  struct Mail;

  struct Notice;
  static constexpr int kBatch = 8, kNotices = 2 * kBatch;

  friend core::Team* join_team(core::Comm& comm);
  static base::Ref<core::Team> join(core::Comm& comm);

  void meet(Slot& me, const Reduction* reduction);
  void lead(Group& group, const Slot& me, const Reduction* reduction);
  bool tell_each_other(Group& group, Header header, Value& value);
  Mail& mail(int group, int round, unsigned parity);
  static void depart(Slot& me);

  base::Status post_or_fetch(Slot& me, const Call& call);
  base::Status post(Slot& me, std::uint64_t number, Notice& notice, const Call& call);
  void wait_for_readers(Slot& me, std::uint64_t number);
  base::Status fetch_posted(Slot& me, std::uint64_t number, const Notice& notice, const Call& call);
  void wait_for_notice(Slot& me, std::uint64_t number, const Notice& notice);
  static constexpr int kAll = std::numeric_limits<int>::max();
  static void wake_readers(Group& group, std::uint64_t number, int most);

  void bring(Group& group, const Slot& me, Value& value);
  void hand_out(const Group& group, const Slot& me, const Value& value);
  int blocks_given(const Slot& me) const;
  void bring_blocks(Group& group, const Slot& me, Value& value) const;
  void hand_out_blocks(const Group& group, const Slot& me, const Value& value) const;
  void work_for(Group& group, const Slot& me, const Reduction* reduction);
  void work(const Slot& me, const Reduction* reduction);
  void move(const Slot& me);
  /// [begin, end), so much at a time; `bytes` is what there is to move in all, `streamed` whether what is
  /// written goes past the caches.
  struct Steps {
    Count begin, end, step, bytes;
    bool streamed = false;
  };
  /// Calls work(first, count) for all steps.
  template <typename Work>
  void in_steps(const Slot& me, const Steps& all, Work work);
  bool is_waited_for(const Group& group);
  /// The bytes that both have room for; the more that one of them has stay as they are. Nothing happens if
  /// they are the same place.
  void fetch(const Slot& me, const Layout& to, const Layout& from);
  void fetch_long(const Slot& me, const Layout& to, const Layout& from, Count bytes);
  void copy_block(const Slot& me, const Block& to, const Block& from);
  Count bytes_touched(const Slot& me) const;
  Count block_bytes(Group& group) const;
  void broadcast_slice(const Slot& me);
  void give_block(const Slot& me);
  void swap_blocks(const Slot& me);
  /// Where elements are combined: where a result goes; in the cache, and copied from there; or past the
  /// caches.
  enum class Results { kPlaced, kCopied, kStreamed };
  template <typename Place, typename Write>
  void combine(Count begin, Count end, const Slot& me, const Reduction& reduction, Place place,
               Results results, Write write);
  void combine_slice(const Slot& me, int slice, int slices, const Reduction& reduction);
  void reduce_slice(const Slot& me, Count begin, Count end, const Reduction& reduction);
  void reduce_block(const Slot& me, const Reduction& reduction);
  void scan_slice(const Slot& me, Count begin, Count end, const Reduction& reduction);
  void exscan_slice(const Slot& me, Count begin, Count end, const Reduction& reduction);

  base::Status meet_for_blocks(Slot& me, Word call);
  void move_blocks(Slot& me);
  void swap_block(Slot& me, int peer);
  void check_block(Slot& me, int source, const Layout& to, const Layout& from);
  void fetch_from_neighbours(Slot& me);
  void find_blocks(const Slot& me, Neighbourhood& mine);

  void disagree(Group& group);
  base::Status complain(const Slot& me);
  base::Status compare_calls(const Slot& me);
  base::Status compare_blocks(const Slot& me);

  const int size_;
  int group_count_ = 0;
  int active_ = 1;  ///< the largest power of two that is not above group_count_
  int rounds_ = 0;  ///< of an exchange, with two for the groups above active_
  bool ordered_ = true;
  bool spare_ = false;                  ///< there are cores that no rank here is mapped to
  std::unique_ptr<Slot[]> slots_;       ///< by rank
  std::unique_ptr<Buffers[]> buffers_;  ///< by rank
  std::unique_ptr<Group[]> groups_;
  std::unique_ptr<Mail[]> mails_;
  std::unique_ptr<Notice[]> notices_;
};

}  // namespace clump::coll
