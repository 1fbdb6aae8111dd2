// How the ranks of a team meet, and what their leaders tell each other.
#include "coll/team.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "coll/hosts.h"
#include "coll/node_team.h"
#include "coll/team_state.h"
#include "core/rank.h"

namespace clump::coll {

namespace {

constexpr Word kDeparture{};  // of a second meeting: nobody can come to it with something else

bool lives_here(const core::Comm& comm) {
  const core::World& world = comm.owner.world;
  for (int rank = 0; rank < comm.size(); ++rank)
    if (world.ranks[comm.group->world_rank(rank)] == nullptr) return false;
  return true;
}

}  // namespace

core::Team* join_team(core::Comm& comm) {
  static const auto& none = *new auto(base::make_ref<core::Team>(core::Team::Kind::kNone));
  if (comm.is_inter() || comm.size() == 1)
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

Team::Team(const core::Comm& comm) : core::Team(Kind::kHere), Meeting(comm), appointments_(*this) {
  for (; active_ * 2 <= group_count_; active_ *= 2) ++rounds_;
  if (active_ < group_count_) rounds_ += 2;
  rooms_ = std::make_unique_for_overwrite<Room[]>(static_cast<std::size_t>(group_count_));
  notices_ = std::make_unique_for_overwrite<Notice[]>(kNotices);
  if (size_ == 2 && group_count_ == 2) pair_ = std::make_unique<Pair>();
  mails_ = std::make_unique_for_overwrite<Mail[]>(static_cast<std::size_t>(group_count_) * rounds_ * 2);
}

Team::~Team() = default;

bool Team::is_waited_in(int rank, const void* who) const {
  if (slots_[rank].released.sleeper() == who) return true;
  // As the leader of its group it waits for mail.
  const int mails = rounds_ * 2;
  const Mail* const first = &mails_[static_cast<std::size_t>(slots_[rank].group->number) * mails];
  return std::any_of(first, first + mails, [&](const Mail& mail) { return mail.sent.sleeper() == who; });
}

base::Status Team::barrier(int rank) {
  Slot& me = slots_[rank];
  me.call = Word(Collective::kBarrier, Algorithm::kTeamMeets, 0, false, false, me.broadcasts);
  me.bytes = 0;
  meet(me, nullptr);
  if (!me.is_settled()) [[likely]]
    return {};
  return depart(me);
}

base::Status Team::run(int rank, const Call& call) {
  Slot& me = slots_[rank];
  me.call = word_of(call, call.algorithm, me.broadcasts);
  if (call.algorithm == Algorithm::kTeamPosts) return post_or_fetch(me, call);
  me.bytes = call.bytes;
  me.buffers->set(call.from, call.to, call.first);
  if (call.algorithm == Algorithm::kTeamSwaps)
    return swap_rooms(me, Trade::of(rank, call), call.reduction, turns_of(rank, call.collective, call.bytes));
  meet(me, call.reduction);
  if (me.is_settled()) [[unlikely]]
    return depart(me);
  if (call.algorithm != Algorithm::kTeamShares) return {};
  Turns* const turns = turns_of(rank, call.collective, call.bytes);
  if (turns != nullptr && Trade::of(rank, call).takes())
    try_out(call.collective, *turns, buffers_[1 - rank].from);
  share(me, call.reduction, turns);
  return {};
}

void Team::share(Slot& me, const Reduction* reduction, Turns* turns) {
  const Collective collective = me.call.collective();
  work(me, reduction);
  me.call = kDeparture;
  me.bytes = 0;
  meet(me, nullptr);
  if (turns != nullptr) learn(collective, *turns);
}

base::Status Team::exchange(int rank, Algorithm algorithm, Collective collective, int root, const Blocks& out,
                            const Blocks& in) {
  Slot& me = slots_[rank];
  me.buffers->set(out, in);
  if (algorithm == Algorithm::kTeamSwaps) return swap_rooms(me, collective, root, out, in);
  meet_for_blocks(me, Word(collective, algorithm, root, false, false, me.broadcasts));
  if (algorithm == Algorithm::kTeamShares && !me.is_settled()) {
    Turns* const turns = turns_of(rank, collective, most_given(rank, collective, root, out, in));
    if (turns != nullptr && Trade::of(rank, collective, root, out, in).takes())
      try_out(collective, *turns, buffers_[1 - rank].both->out[rank]);
    share(me, nullptr, turns);
  }
  return me.is_settled() ? depart(me) : base::Status();
}

void Team::meet_for_blocks(Slot& me, Word call) {
  me.call = call;
  me.bytes = 0;  // is not the same on all ranks, and nothing depends on it
  me.group->block_bytes.store(Group::kNotCounted, std::memory_order_relaxed);
  meet(me, nullptr);
}

base::Status Team::exchange_with_neighbours(const core::Comm& comm, const Blocks& out, const Blocks& in) {
  Slot& me = slots_[comm.rank];
  auto& mine = me.buffers->neighbourhood;
  if (!mine) mine = std::make_unique<Neighbourhood>(*comm.topology);
  me.buffers->set(out, in);
  meet_for_blocks(me, Word(Collective::kNeighbours, Algorithm::kTeamLeads, 0, false, false, me.broadcasts));
  return me.is_settled() ? depart(me) : base::Status();
}

base::Status Team::depart(Slot& me) {
  return base::Status::from_code(std::exchange(me.outcome, Slot::kOpen));
}

void Team::meet(Slot& me, const Reduction* reduction) {
  Group& group = *me.group;
  const int size = static_cast<int>(group.members.size());
  // release: the leader sees all slots of its group; acquire: pairs with that.
  if (size > 1 && group.arrived.fetch_add(1, std::memory_order_acq_rel) != size - 1) {
    me.released.wait();
    me.released.reset();
    return;
  }
  // relaxed: nobody arrives again before it is released.
  group.arrived.store(0, std::memory_order_relaxed);
  lead(group, me, reduction);
  for (Slot* member : group.members)
    if (member != &me) member->released.signal();
}

void Team::lead(Group& group, const Slot& me, const Reduction* reduction) {
  Header header{me.call, me.bytes, !me.call.odd()};
  for (const Slot* member : group.members)
    header.alike = header.alike && member->call == me.call && member->bytes == me.bytes;

  Value value;
  value.reduction = reduction;
  const Algorithm algorithm = me.call.algorithm();
  if (algorithm == Algorithm::kTeamCarries && header.alike) bring(group, me, value);
  if (!tell_each_other(group, header, value)) [[unlikely]] {
    disagree(group);
  } else if (algorithm == Algorithm::kTeamCarries) {
    return hand_out(group, me, value);
  } else if (algorithm == Algorithm::kTeamLeads) {
    work_for(group, me, reduction);
  } else {
    return;
  }
  Value nothing;
  tell_each_other(group, {kDeparture}, nothing);
}

void Team::disagree(Group& group) {
  for (Slot* member : group.members) member->settle(complain(*member));
}

// Pairs of groups 1, 2, 4, ... apart tell each other what they know, so in the end all know everything.
// Groups above a power of two fold in first: of the first pairs, the lower one lets the upper one speak for
// it. The order of groups is kept. Returns whether all ranks of the team agree.
bool Team::tell_each_other(Group& group, Header header, Value& value) {
  if (group_count_ == 1) return header.alike;
  // Nobody can be two exchanges ahead of another, because each needs everyone.
  const unsigned parity = group.exchanges++ & 1;
  const int number = group.number;
  const int extra = group_count_ - active_;
  const int fold_in = rounds_ - 2, fold_out = rounds_ - 1;
  const bool folds = number < 2 * extra;

  if (folds && number % 2 == 0) {
    mail(number + 1, fold_in, parity).send(header, value);
    Value whole;
    whole.bytes = value.bytes;
    mail(number, fold_out, parity).receive(header, whole, false);
    if (whole.data != nullptr) value.data = whole.data;
    return header.alike;
  }
  if (folds) mail(number, fold_in, parity).receive(header, value, true);
  const int self = folds ? number / 2 : number - extra;
  for (int round = 0, distance = 1; distance < active_; ++round, distance *= 2) {
    const int partner = self ^ distance;
    const int peer = partner < extra ? 2 * partner + 1 : partner + extra;
    mail(peer, round, parity).send(header, value);
    mail(number, round, parity).receive(header, value, partner < self);
  }
  if (folds) mail(number - 1, fold_out, parity).send(header, value);
  return header.alike;
}

Team::Mail& Team::mail(int group, int round, unsigned parity) const {
  return mails_[(static_cast<std::size_t>(group) * rounds_ + round) * 2 + parity];
}

// Whether the leader that speaks with this group's first waits for it already: it has nothing left to do.
// Read by a rank of the group that has not yet arrived at the next meeting. Nobody tells a group that folds
// in.
bool Team::is_waited_for(const Group& group) const {
  const int extra = group_count_ - active_;
  const bool folds = group.number < 2 * extra;
  if (group_count_ == 1 || (folds && group.number % 2 == 0)) return false;
  return mail(group.number, folds ? rounds_ - 2 : 0, group.exchanges & 1).sent.done();
}

void Team::Mail::send(const Header& mine, const Value& value) {
  header = mine;
  header.has_data = mine.alike && value.data != nullptr;
  if (header.has_data) std::memcpy(data, value.data, value.bytes);
  sent.signal();
}

// What was received stays where it is until the exchange after the next, so `value` may point there.
void Team::Mail::receive(Header& mine, Value& value, bool from_lower) {
  sent.wait();
  sent.reset();
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
