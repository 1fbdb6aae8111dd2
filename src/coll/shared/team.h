// Blocking collectives among ranks of one address space, without messages.
//
// A Team is what the ranks of an intracommunicator share. Its ranks form local groups, one for each worker
// that is home to some of them. Each rank writes its arguments into its slot and arrives at its group; the
// last rank to arrive leads the group in this operation.
//
//   rank, rank, rank --arrive--> leader of group 0 <--LeaderMailbox--> leader of group 1 <--arrive-- rank,
//   rank
//         ^                           |  the work, or a part of it          |
//         +--------- released --------+                                     +---- released --->
//
// So each rank waits once, and only the leaders, one for each worker, communicate across cores. Four ways
// (select/select.h): leaders carry little data in their mailboxes (shm_small), leaders move the data of their
// group (shm_leader), all ranks move their part and the team synchronises twice (shm_all), or the root of a
// small broadcast publishes it in a ring, without synchronisation (shm_bcast_ring, bcast_ring.cc).
//
// Leaders compare what the ranks have called. Ranks that disagree about the operation, the root or the size
// get an error, and none of them hangs (mismatch.cc). Any thread of a rank may call, one at a time, as for
// all collectives. Operands are combined in an order that depends on the communicator alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "coll/shared/pending.h"
#include "coll/shared/shared_collective.h"
#include "core/comm.h"

namespace clump::coll {

/// The team of a communicator, of any kind. The first call for a communicator is a collective operation.
core::Team* join_team(core::Comm& comm);
inline core::Team* team_of(core::Comm& comm) {
  core::Team* const known = comm.team.get();
  return known != nullptr ? known : join_team(comm);
}

template <typename Owner>
class RingProtocol;

class Team final : public core::Team, public SharedCollective {
 public:
  /// The team of a communicator; null where there is none: intercommunicators, one rank alone, ranks
  /// elsewhere.
  static Team* of(core::Comm& comm) {
    core::Team* const team = team_of(comm);
    return team->kind == Kind::kHere ? static_cast<Team*>(team) : nullptr;
  }

  /// The same, for what does not block. Null also where only an operation that blocks can find out.
  static Team* here(core::Comm& comm);

  explicit Team(const core::Comm& comm);
  ~Team() override;

  /// Whether leaders can carry what so many ranks give, of so many bytes each (Call::bytes), or a slot of
  /// the ring can.
  static bool can_carry(Collective collective, int ranks, Count bytes);

  /// Whether `who` (Completion::sleeper()) waits here, as this rank. While there is a WorldStop
  /// (fiber/world_stop.h).
  bool is_waited_in(int rank, const void* who) const;

  PendingCollectives& pending() { return pending_; }

  // Blocking. `rank` is the caller's.
  /// An algorithm that is not for teams: the ranks only find out whether they agree.
  base::Status run(const core::Comm& comm, const Call& call, Algorithm algorithm);

 private:
  struct Header;
  struct Value;
  struct LeaderMailbox;
  struct LeaderBuffer;

  struct RingSlot;
  struct Waiting;
  static constexpr int kBatch = 8, kRingSlots = 2 * kBatch;
  friend class RingProtocol<Team>;

  friend core::Team* join_team(core::Comm& comm);
  static base::Ref<core::Team> join(core::Comm& comm);

  base::Status barrier(int rank, const Call& call);
  base::Status exchange(int rank, const Call& call);
  /// Leaders fetch what neighbours send to the ranks of their group. Blocks of two ranks may differ in size
  /// from those of two others, so nothing depends on it. `comm` has a topology.
  base::Status exchange_with_neighbours(const core::Comm& comm, const Call& call);
  void meet(ArgumentSlot& me, const Reduction* reduction);
  void lead(LocalGroup& group, const ArgumentSlot& me, const Reduction* reduction);
  bool tell_each_other(LocalGroup& group, Header header, Value& value);
  LeaderMailbox& mailbox(int group, int round, unsigned parity) const;
  static base::Status depart(ArgumentSlot& me);

  base::Status publish_or_read(ArgumentSlot& me, const Call& call);
  base::Status publish(ArgumentSlot& me, std::uint64_t number, RingSlot& ring_slot, const Call& call);
  base::Status read_published(ArgumentSlot& me, std::uint64_t number, const RingSlot& ring_slot,
                              const Call& call);

  void bring(LocalGroup& group, const ArgumentSlot& me, Value& value);
  void hand_out(const LocalGroup& group, const ArgumentSlot& me, const Value& value);
  int blocks_given(const ArgumentSlot& me) const;
  void bring_blocks(LocalGroup& group, const ArgumentSlot& me, Value& value) const;
  void hand_out_blocks(const LocalGroup& group, const ArgumentSlot& me, const Value& value) const;
  bool is_waited_for(const LocalGroup& group) const override;
  PackedSignature broadcast(std::uint64_t number) const override;

  void meet_for_blocks(ArgumentSlot& me, PackedSignature call);
  void disagree(LocalGroup& group);

  int active_ = 1;  ///< the largest power of two that is not above group_count_
  int rounds_ = 0;  ///< of an exchange, with two for the groups above active_
  PendingCollectives pending_;
  std::unique_ptr<LeaderBuffer[]> leader_buffers_;  ///< by group
  std::unique_ptr<LeaderMailbox[]> mailboxes_;
  std::unique_ptr<RingSlot[]> ring_;
};

}  // namespace clump::coll
