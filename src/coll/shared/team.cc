// How the ranks of a team meet, and what their leaders tell each other.
#include "coll/shared/team.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/prefetch.h"
#include "coll/hierarchical/hosts.h"
#include "coll/node/node_team.h"
#include "coll/shared/team_state.h"
#include "core/rank.h"

namespace clump::coll {

namespace {

constexpr PackedSignature
    kDeparture{};  // the second synchronisation of an operation: no rank can arrive with another one

bool lives_here(const core::Comm& comm) {
  const core::World& world = comm.owner.world;
  for (int rank = 0; rank < comm.size(); ++rank)
    if (world.ranks[comm.group->world_rank(rank)] == nullptr) return false;
  return true;
}

}  // namespace

core::Team* join_team(core::Comm& comm) {
  static const auto& none = *new auto(base::make_ref<core::Team>(core::Team::Kind::kNone));
  if (comm.is_inter() || comm.size() == 1 || comm.crosses_jobs())
    comm.team = none;
  else if (auto hosts = Hosts::found(comm))
    comm.team = std::move(hosts);
  else if (lives_here(comm))
    comm.team = Team::join(comm);
  else if (auto made = NodeTeam::found(comm))
    comm.team = std::move(made);
  else
    comm.team = none;
  return comm.team.get();
}

Team* Team::here(core::Comm& comm) {
  if (!comm.team && hosts_of(comm) == nullptr && !comm.is_inter() && comm.size() > 1 && lives_here(comm))
    comm.team = join(comm);
  const core::Team* const team = comm.team.get();
  return team != nullptr && team->kind == Kind::kHere ? static_cast<Team*>(comm.team.get()) : nullptr;
}

base::Ref<core::Team> Team::join(core::Comm& comm) {
  core::World& world = comm.owner.world;
  const std::lock_guard lock(world.teams.mutex);
  // One call may make several communicators with one context; no rank is in two of them.
  const std::pair key{comm.context, comm.group->world_rank(0)};
  auto& entry = world.teams.forming[key];
  if (!entry.team) entry.team = base::make_ref<Team>(comm);
  const base::Ref<core::Team> team = entry.team;
  if (++entry.joined == comm.size()) world.teams.forming.erase(key);
  return team;
}

Team::Team(const core::Comm& comm) : core::Team(Kind::kHere), SharedCollective(comm), pending_(*this) {
  for (; active_ * 2 <= group_count_; active_ *= 2) ++rounds_;
  if (active_ < group_count_) rounds_ += 2;
  leader_buffers_ = std::make_unique_for_overwrite<LeaderBuffer[]>(static_cast<std::size_t>(group_count_));
  ring_ = std::make_unique_for_overwrite<RingSlot[]>(kRingSlots);
  mailboxes_ =
      std::make_unique_for_overwrite<LeaderMailbox[]>(static_cast<std::size_t>(group_count_) * rounds_ * 2);
}

Team::~Team() = default;

bool Team::is_waited_in(int rank, const void* who) const {
  if (slots_[rank].released.sleeper() == who) return true;
  // As the leader of its group it waits for other leaders.
  const int mails = rounds_ * 2;
  const LeaderMailbox* const first =
      &mailboxes_[static_cast<std::size_t>(slots_[rank].group->number) * mails];
  return std::any_of(first, first + mails,
                     [&](const LeaderMailbox& mailbox) { return mailbox.sent.sleeper() == who; });
}

base::Status Team::barrier(int rank, const Call& call) {
  ArgumentSlot& me = slots_[rank];
  // The rest of a barrier's call is known.
  me.call = PackedSignature({.collective = Collective::kBarrier, .caller = call.caller},
                            Algorithm::kShmBarrier, false, me.broadcasts);
  me.bytes = 0;
  meet(me, nullptr);
  if (!me.is_settled()) [[likely]]
    return {};
  return depart(me);
}

base::Status Team::run(const core::Comm& comm, const Call& call, Algorithm algorithm) {
  const int rank = comm.rank;
  if (call.collective == Collective::kBarrier) return barrier(rank, call);
  if (call.collective == Collective::kNeighbours) return exchange_with_neighbours(comm, call);
  if (call.has_blocks()) return exchange(rank, call);
  ArgumentSlot& me = slots_[rank];
  me.call = signature_of(rank, call, algorithm, me.broadcasts);
  if (algorithm == Algorithm::kShmBcastRing) return publish_or_read(me, call);
  me.bytes = call.bytes;
  me.buffers->set(call.send, call.recv, call.first);
  meet(me, call.reduction);
  if (me.is_settled()) [[unlikely]]
    return depart(me);
  if (algorithm != Algorithm::kShmAll) return {};
  work(me, call.reduction);
  me.call = kDeparture;
  me.bytes = 0;
  meet(me, nullptr);
  return {};
}

base::Status Team::exchange(int rank, const Call& call) {
  ArgumentSlot& me = slots_[rank];
  me.buffers->set(call.blocks_out(), call.blocks_in());
  meet_for_blocks(me, PackedSignature::of_blocks(call, Algorithm::kShmLeader, me.broadcasts));
  return me.is_settled() ? depart(me) : base::Status();
}

void Team::meet_for_blocks(ArgumentSlot& me, PackedSignature call) {
  me.call = call;
  me.bytes = 0;  // is not the same on all ranks, and nothing depends on it
  me.group->block_bytes.store(LocalGroup::kNotCounted, std::memory_order_relaxed);
  meet(me, nullptr);
}

base::Status Team::exchange_with_neighbours(const core::Comm& comm, const Call& call) {
  ArgumentSlot& me = slots_[comm.rank];
  auto& mine = me.buffers->neighbourhood;
  if (!mine) mine = std::make_unique<Neighbourhood>(*comm.topology);
  me.buffers->set(*call.send_blocks, *call.recv_blocks);
  meet_for_blocks(me, PackedSignature::of_blocks(call, Algorithm::kShmLeader, me.broadcasts));
  return me.is_settled() ? depart(me) : base::Status();
}

base::Status Team::depart(ArgumentSlot& me) {
  return base::Status::from_code(std::exchange(me.outcome, ArgumentSlot::kOpen));
}

void Team::meet(ArgumentSlot& me, const Reduction* reduction) {
  LocalGroup& group = *me.group;
  const int size = static_cast<int>(group.members.size());
  // release: the leader sees all slots of its group; acquire: pairs with that.
  if (size > 1 && group.arrived.fetch_add(1, std::memory_order_acq_rel) != size - 1) {
    me.released.wait();
    me.released.reset();
    return;
  }
  // relaxed: no rank arrives again before it is released.
  group.arrived.store(0, std::memory_order_relaxed);
  lead(group, me, reduction);
  for (ArgumentSlot* member : group.members)
    if (member != &me) member->released.signal();
}

void Team::lead(LocalGroup& group, const ArgumentSlot& me, const Reduction* reduction) {
  Header header{me.call, me.bytes, !me.call.mismatched()};
  for (const ArgumentSlot* member : group.members)
    header.alike = header.alike && member->call == me.call && member->bytes == me.bytes;

  Value value;
  value.reduction = reduction;
  const Algorithm algorithm = me.call.algorithm();
  if (algorithm == Algorithm::kShmSmall && header.alike) bring(group, me, value);
  if (!tell_each_other(group, header, value)) [[unlikely]] {
    disagree(group);
  } else if (algorithm == Algorithm::kShmSmall) {
    return hand_out(group, me, value);
  } else if (algorithm == Algorithm::kShmLeader) {
    work_for(group, me, reduction);
  } else {
    return;
  }
  Value nothing;
  tell_each_other(group, {kDeparture}, nothing);
}

void Team::disagree(LocalGroup& group) {
  for (ArgumentSlot* member : group.members) member->settle(complain(*member));
}

// Pairs of groups 1, 2, 4, ... apart tell each other what they know, so in the end all know everything.
// Groups above a power of two fold in first: of the first pairs, the lower one lets the upper one speak for
// it. The order of groups is kept. Returns whether all ranks of the team agree.
//
// Each round would wait for three cache lines: the own mailbox, which has to be taken back from the group
// that has written it before it can be reset, the other group's, and then what that one has sent. So the
// mailboxes of later rounds are fetched for writing at once, and the own ones are reset at the end. With 64
// workers 7 instead of 12 to 17 transfers follow each other (counted, experiment 098). A late
// leader for which all others wait fetches in vain, because they fetch their mailboxes back: about 12.
//
// A mailbox that is reset at the end is pending again before a leader writes it: its next writer is in the
// exchange after the next, and for that all leaders have begun the next one.
bool Team::tell_each_other(LocalGroup& group, Header header, Value& value) {
  if (group_count_ == 1) return header.alike;
  // No leader can be two exchanges ahead of another, because each exchange needs all of them.
  const unsigned parity = group.exchanges++ & 1;
  const int number = group.number;
  const int extra = group_count_ - active_;
  const int fold_in = rounds_ - 2, fold_out = rounds_ - 1;
  const bool folds = number < 2 * extra;

  if (folds && number % 2 == 0) {
    mailbox(number + 1, fold_in, parity).send(header, value);
    Value whole;
    whole.bytes = value.bytes;
    mailbox(number, fold_out, parity).receive(header, whole, false);
    mailbox(number, fold_out, parity).sent.reset();
    if (whole.data != nullptr) value.data = whole.data;
    return header.alike;
  }
  if (folds) {
    mailbox(number, fold_in, parity).receive(header, value, true);
    mailbox(number, fold_in, parity).sent.reset();
  }
  const int self = folds ? number / 2 : number - extra;
  const auto mailbox_of = [&](int partner, int round) -> LeaderMailbox& {
    return mailbox(partner < extra ? 2 * partner + 1 : partner + extra, round, parity);
  };
  for (int round = 1; 1 << round < active_; ++round)
    base::fetch_for_writing(&mailbox_of(self ^ 1 << round, round));
  for (int round = 0; 1 << round < active_; ++round) {
    const int partner = self ^ 1 << round;
    mailbox_of(partner, round).send(header, value);
    mailbox(number, round, parity).receive(header, value, partner < self);
  }
  for (int round = 0; 1 << round < active_; ++round) mailbox(number, round, parity).sent.reset();
  if (folds) mailbox(number - 1, fold_out, parity).send(header, value);
  return header.alike;
}

Team::LeaderMailbox& Team::mailbox(int group, int round, unsigned parity) const {
  return mailboxes_[(static_cast<std::size_t>(group) * rounds_ + round) * 2 + parity];
}

// Whether the leader that this group's leader exchanges with first waits for it already, so that it has no
// work left. Read by a rank of the group that has not yet arrived at the next synchronisation. False for a
// group that folds in, because no leader tells it.
bool Team::is_waited_for(const LocalGroup& group) const {
  const int extra = group_count_ - active_;
  const bool folds = group.number < 2 * extra;
  if (group_count_ == 1 || (folds && group.number % 2 == 0)) return false;
  return mailbox(group.number, folds ? rounds_ - 2 : 0, group.exchanges & 1).sent.done();
}

void Team::LeaderMailbox::send(const Header& mine, const Value& value) {
  header = mine;
  header.has_data = mine.alike && value.data != nullptr;
  if (header.has_data) std::memcpy(data, value.data, value.bytes);
  sent.signal();
}

// The received data stays where it is until the exchange after the next, so `value` may point there. The
// caller resets `sent` before the next exchange.
void Team::LeaderMailbox::receive(Header& mine, Value& value, bool from_lower) {
  sent.wait();
  mine.alike = mine.alike && header.alike && header.call == mine.call && header.bytes == mine.bytes;
  if (!mine.alike || !header.has_data) return;
  if (value.data == nullptr) {
    value.data = data;
  } else if (from_lower) {
    value.apply(data, value.data);
  } else {
    value.apply(value.data, data);
    value.data = data;
  }
}

}  // namespace clump::coll
