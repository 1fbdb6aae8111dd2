// The blocking forms of the collectives that teams have.
#include <cstdint>

#include "coll/dispatch/calls.h"
#include "coll/select/choose.h"
#include "coll/coll.h"
#include "coll/node/node_team.h"
#include "coll/select/select.h"
#include "coll/shared/team.h"
#include "net/joint_work.h"

namespace clump::coll {

namespace {

/// For an operation of a team; what is not for teams is chosen again, and noted, by the schedule.
Algorithm choose_here(const core::Comm& comm, Collective collective, const Situation& situation) {
  const Algorithm algorithm = choose(comm, collective, situation);
  if (is_for_teams(algorithm)) note(comm, collective, algorithm, situation.bytes);
  return algorithm;
}

Algorithm choose(const core::Comm& comm, const Team& team, Collective collective, Count bytes) {
  return choose_here(comm, collective,
                     {.ranks = comm.size(),
                      .bytes = bytes,
                      .team = true,
                      .where = Where::kProcess,
                      .carried = Team::can_carry(collective, comm.size(), bytes),
                      .swapped = team.can_swap(bytes),
                      .touched = team.is_touched(comm.rank, collective, bytes)});
}

/// Teams combine operands where they lie, and keep their order as far as they themselves are in order.
/// Whatever depends on the type here is the same on all ranks: operands of a reduction are alike.
Algorithm choose(const core::Comm& comm, const Team& team, const Reduction& reduction, const Layout& in,
                 Collective collective) {
  const Operations operations = operations_of(reduction);
  const bool suits = (operations == Operations::kPredefined || in.type->is_dense()) &&
                     (operations != Operations::kAny || team.ordered());
  const Count as_array = in.count * in.type->extent();
  return choose_here(comm, collective,
                     {.ranks = team.size(),
                      .bytes = in.bytes(),
                      .operation = operations,
                      .team = suits,
                      .one_order = needs_one_order(comm, reduction, *in.type),
                      .where = Where::kProcess,
                      .carried = Team::can_carry(collective, team.size(), as_array),
                      .swapped = team.can_swap(as_array),
                      .touched = team.is_touched(comm.rank, collective, in.bytes())});
}

/// The meeting place of processes of one node; null where there is none.
NodeTeam* node_team_of(core::Comm& comm) {
  core::Team* const team = team_of(comm);
  return team->kind == core::Team::Kind::kNode ? static_cast<NodeTeam*>(team) : nullptr;
}

/// Whether an operation is one for it: `bytes` is a rank's part, `slot` what each rank's slot has to hold,
/// both the same on all ranks.
bool meets(const core::Comm& comm, Collective collective, Count bytes, Count slot,
           Operations operations = Operations::kPredefined) {
  const Situation situation{.ranks = comm.size(),
                            .bytes = bytes,
                            .operation = operations,
                            .node = slot <= NodeTeam::kRoom,
                            .where = Where::kNode};
  if (choose(comm, collective, situation) != Algorithm::kNodeShm) return false;
  note(comm, collective, Algorithm::kNodeShm, bytes);
  return true;
}

bool meets(const core::Comm& comm, Collective collective, const Reduction& reduction, const Layout& in) {
  const Count slot = in.type->is_dense() ? in.bytes() : NodeTeam::kRoom + 1;
  return meets(comm, collective, in.bytes(), slot, operations_of(reduction));
}

/// How an operation ended, or that it is still to be done. One word: what writes the two parts of an optional
/// has it read back as a whole, and the processor waits for that: a tenth of the time of a small broadcast.
class Done {
 public:
  Done() = default;
  Done(base::Status status) : code_(status.code()) {}
  explicit operator bool() const { return code_ != kNot; }
  base::Status operator*() const { return base::Status::from_code(static_cast<int>(code_)); }

 private:
  static constexpr std::int64_t kNot = std::int64_t{1} << 32;  // no int
  std::int64_t code_ = kNot;
};

/// The team does what `call` says, if the operation is one for teams.
Done by_team(core::Comm& comm, Team& team, SharedCollective::Call&& call) {
  call.algorithm = call.reduction != nullptr ? choose(comm, team, *call.reduction, call.from, call.collective)
                                             : choose(comm, team, call.collective, call.bytes);
  const base::Status met = team.run(comm.rank, call);
  if (!met.ok() || is_for_teams(call.algorithm)) return met;
  return {};
}

/// The same for blocks that may differ in size.
Done by_team(core::Comm& comm, Collective collective, int root, const Blocks& out, const Blocks& in) {
  Team* const team = Team::of(comm);
  if (team == nullptr) return {};
  const Count bytes = team->most_given(comm.rank, collective, root, out, in);
  const Algorithm algorithm = choose(comm, *team, collective, bytes);
  if (!is_for_teams(algorithm)) return {};
  return team->exchange(comm.rank, algorithm, collective, root, out, in);
}

Where where_is(core::Comm& comm) {
  switch (team_of(comm)->kind) {
    case core::Team::Kind::kHere:
      return Where::kProcess;
    case core::Team::Kind::kNode:
      return Where::kNode;
    default:
      return Where::kAnywhere;
  }
}

/// Otherwise there are messages.
template <typename Write>
base::Status by_schedule(core::Comm& comm, const Reduction& reduction, Write write) {
  Schedule s(comm, reduction);
  s.set_where(where_is(comm));
  write(s);
  return s.run();
}
template <typename Write>
base::Status by_schedule(core::Comm& comm, Write write) {
  return by_schedule(comm, Reduction(), write);
}

}  // namespace

base::Status barrier(core::Comm& comm) {
  if (Team* const team = Team::of(comm))
    if (is_for_teams(choose(comm, *team, Collective::kBarrier, 0))) return team->barrier(comm.rank);
  if (NodeTeam* const node = node_team_of(comm))
    if (meets(comm, Collective::kBarrier, 0, 0)) return node->barrier();
  return by_schedule(comm, [](Schedule& s) { barrier(s); });
}

base::Status broadcast(core::Comm& comm, const Layout& buffer, int root) {
  if (Team* const team = Team::of(comm)) {
    if (const auto done = by_team(comm, *team, call_of_broadcast(buffer, root))) return *done;
  } else if (NodeTeam* const node = node_team_of(comm)) {
    if (meets(comm, Collective::kBroadcast, buffer.bytes(), buffer.bytes()))
      return node->broadcast(buffer, root);
  }
  return by_schedule(comm, [&](Schedule& s) { broadcast(s, buffer, root); });
}

base::Status gather(core::Comm& comm, const Layout& mine, const Layout& all, int root) {
  if (Team* const team = Team::of(comm)) {
    if (const auto done = by_team(comm, *team, call_of_gather(comm, mine, all, root))) return *done;
  } else if (NodeTeam* const node = node_team_of(comm)) {
    if (meets(comm, Collective::kGather, mine.bytes(), mine.bytes())) return node->gather(mine, all, root);
  }
  return by_schedule(comm, [&](Schedule& s) { gather(s, mine, all, root); });
}

base::Status scatter(core::Comm& comm, const Layout& all, const Layout& mine, int root) {
  if (Team* const team = Team::of(comm)) {
    if (const auto done = by_team(comm, *team, call_of_scatter(comm, all, mine, root))) return *done;
  } else if (NodeTeam* const node = node_team_of(comm)) {
    if (meets(comm, Collective::kScatter, mine.bytes(), mine.bytes())) return node->scatter(all, mine, root);
  }
  return by_schedule(comm, [&](Schedule& s) { scatter(s, all, mine, root); });
}

base::Status allgather(core::Comm& comm, const Layout& mine, const Layout& all) {
  if (Team* const team = Team::of(comm)) {
    if (const auto done = by_team(comm, *team, call_of_allgather(comm, mine, all))) return *done;
  } else if (NodeTeam* const node = node_team_of(comm)) {
    if (meets(comm, Collective::kAllgather, mine.bytes(), mine.bytes())) return node->allgather(mine, all);
  }
  return by_schedule(comm, [&](Schedule& s) { allgather(s, mine, all); });
}

base::Status alltoall(core::Comm& comm, const Layout& out, const Layout& in) {
  if (Team* const team = Team::of(comm)) {
    if (const auto done = by_team(comm, *team, call_of_alltoall(comm, out, in))) return *done;
  } else if (NodeTeam* const node = node_team_of(comm)) {
    if (meets(comm, Collective::kAlltoall, block_bytes(out, comm.size()), out.bytes()))
      return node->alltoall(out, in);
  }
  return by_schedule(comm, [&](Schedule& s) { alltoall(s, out, in); });
}

base::Status gatherv(core::Comm& comm, const Layout& mine, const Blocks& all, int root) {
  if (const auto done = by_team(comm, Collective::kGatherv, root, Blocks(mine), all)) return *done;
  return by_schedule(comm, [&](Schedule& s) { gatherv(s, mine, all, root); });
}

base::Status scatterv(core::Comm& comm, const Blocks& all, const Layout& mine, int root) {
  if (const auto done = by_team(comm, Collective::kScatterv, root, all, Blocks(mine))) return *done;
  return by_schedule(comm, [&](Schedule& s) { scatterv(s, all, mine, root); });
}

base::Status allgatherv(core::Comm& comm, const Layout& mine, const Blocks& all) {
  if (const auto done = by_team(comm, Collective::kAllgatherv, 0, Blocks(mine), all)) return *done;
  return by_schedule(comm, [&](Schedule& s) { allgatherv(s, mine, all); });
}

base::Status alltoall(core::Comm& comm, const Blocks& out, const Blocks& in) {
  if (const auto done = by_team(comm, Collective::kAlltoallv, 0, out, in)) return *done;
  return by_schedule(comm, [&](Schedule& s) { alltoall(s, out, in); });
}

base::Status reduce(core::Comm& comm, const Reduction& reduction, const Layout& in, const Layout& out,
                    int root) {
  if (Team* const team = Team::of(comm)) {
    if (const auto done = by_team(comm, *team, call_of_reduce(reduction, in, out, root))) return *done;
  } else if (NodeTeam* const node = node_team_of(comm)) {
    if (meets(comm, Collective::kReduce, reduction, in)) return node->reduce(reduction, in, out, root);
  }
  return by_schedule(comm, reduction, [&](Schedule& s) { reduce(s, in, out, root); });
}

base::Status allreduce(core::Comm& comm, const Reduction& reduction, const Layout& in, const Layout& out) {
  if (Team* const team = Team::of(comm)) {
    if (const auto done = by_team(comm, *team, call_of_reduction(Collective::kAllreduce, reduction, in, out)))
      return *done;
  } else if (NodeTeam* const node = node_team_of(comm)) {
    if (meets(comm, Collective::kAllreduce, reduction, in)) return node->allreduce(reduction, in, out);
  }
  return by_schedule(comm, reduction, [&](Schedule& s) { allreduce(s, in, out); });
}

namespace {

/// The caller's block begins with element `first` of the operands.
Done reduce_scatter_by_team(core::Comm& comm, const Reduction& reduction, const Layout& in, const Layout& out,
                            Count first) {
  Team* const team = Team::of(comm);
  if (team == nullptr) return {};
  Layout from = in;
  // In place, results would go where the other ranks find their operands.
  Scratch copied{nullptr, {0}};
  if (in.base == out.base && operations_of(reduction) == Operations::kPredefined) {
    copied = take_scratch(static_cast<std::size_t>(in.count * in.type->extent()));
    if (copied == nullptr)
      return base::fail(MPI_ERR_NO_MEM, "there is no memory for {} bytes of intermediate results",
                        in.bytes());
    from.base = copied.get();
    net::joint_copy(from, in, 0, in.bytes());
  }
  return by_team(comm, *team, call_of_reduce_scatter(reduction, from, out, first));
}

}  // namespace

base::Status reduce_scatter(core::Comm& comm, const Reduction& reduction, const Layout& in, const Layout& out,
                            const Numbers& counts) {
  const Extent mine = extent_of(comm, counts);
  if (const auto done =
          reduce_scatter_by_team(comm, reduction, {in.base, mine.whole, in.type}, out, mine.first))
    return *done;
  return by_schedule(comm, reduction, [&](Schedule& s) { reduce_scatter(s, in, out, counts); });
}

base::Status reduce_scatter_block(core::Comm& comm, const Reduction& reduction, const Layout& in,
                                  const Layout& out) {
  const Layout all{in.base, comm.size() * out.count, in.type};
  if (const auto done = reduce_scatter_by_team(comm, reduction, all, out, comm.rank * out.count))
    return *done;
  return by_schedule(comm, reduction, [&](Schedule& s) { reduce_scatter_block(s, in, out); });
}

base::Status scan(core::Comm& comm, const Reduction& reduction, const Layout& in, const Layout& out) {
  if (Team* const team = Team::of(comm)) {
    if (const auto done = by_team(comm, *team, call_of_reduction(Collective::kScan, reduction, in, out)))
      return *done;
  }
  return by_schedule(comm, reduction, [&](Schedule& s) { scan(s, in, out); });
}

base::Status exscan(core::Comm& comm, const Reduction& reduction, const Layout& in, const Layout& out) {
  if (Team* const team = Team::of(comm)) {
    if (const auto done = by_team(comm, *team, call_of_exscan(reduction, in, out))) return *done;
  }
  return by_schedule(comm, reduction, [&](Schedule& s) { exscan(s, in, out); });
}

base::Status exchange_with_neighbours(core::Comm& comm, const Blocks& out, const Blocks& in) {
  if (Team* const team = Team::of(comm)) return team->exchange_with_neighbours(comm, out, in);
  return by_schedule(comm, [&](Schedule& s) { exchange_with_neighbours(s, *comm.topology, out, in); });
}

}  // namespace clump::coll
