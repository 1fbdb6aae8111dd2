// The blocking forms of the collectives that teams have.
#include "coll/choose.h"
#include "coll/coll.h"
#include "coll/node_team.h"
#include "coll/pieces.h"
#include "coll/select.h"
#include "coll/team.h"

namespace clump::coll {

namespace {

/// For an operation of a team; what is not for teams is chosen again, and noted, by the schedule.
Algorithm choose_here(const core::Comm& comm, Collective collective, const Situation& situation) {
  const Algorithm algorithm = choose(comm, collective, situation);
  if (is_for_teams(algorithm)) note(comm, collective, algorithm, situation.bytes);
  return algorithm;
}

Algorithm choose(const core::Comm& comm, Collective collective, Count bytes) {
  return choose_here(comm, collective, {comm.size(), bytes, Operations::kPredefined, true});
}

/// Teams combine operands where they lie, and keep their order as far as they themselves are in order.
/// Whatever depends on the type here is the same on all ranks: operands of a reduction are alike.
Algorithm choose(const core::Comm& comm, const Team& team, const Reduction& reduction, const Layout& in,
                 Collective collective) {
  const Operations operations = operations_of(reduction);
  const bool suits = (operations == Operations::kPredefined || in.type->is_dense()) &&
                     (operations != Operations::kAny || team.ordered());
  return choose_here(comm, collective, {team.size(), in.bytes(), operations, suits});
}

/// The meeting place of processes of one node, if the operation is one for it: `bytes` is what each rank's
/// slot has to hold, the same on all ranks.
NodeTeam* meet_on_node(core::Comm& comm, Collective collective, Count bytes,
                       Operations operations = Operations::kPredefined) {
  core::Team* const team = team_of(comm);
  if (team->kind != core::Team::Kind::kNode) [[likely]]
    return nullptr;
  const Situation situation{
      .ranks = comm.size(), .bytes = bytes, .operation = operations, .node = bytes <= NodeTeam::kRoom};
  if (choose(comm, collective, situation) != Algorithm::kNodeMeets) return nullptr;
  note(comm, collective, Algorithm::kNodeMeets, bytes);
  return static_cast<NodeTeam*>(team);
}

NodeTeam* meet_on_node(core::Comm& comm, Collective collective, const Reduction& reduction,
                       const Layout& in) {
  const bool suits = in.type->is_dense();
  return meet_on_node(comm, collective, suits ? in.bytes() : NodeTeam::kRoom + 1, operations_of(reduction));
}

/// Count of one of the blocks that a buffer has for each rank.
Count block_bytes(const Layout& all, int ranks) { return all.count / ranks * all.type->size(); }

}  // namespace

base::Status barrier(core::Comm& comm) {
  if (NodeTeam* const node = meet_on_node(comm, Collective::kBarrier, 0)) return node->barrier();
  if (Team* const team = Team::of(comm))
    if (is_for_teams(choose(comm, Collective::kBarrier, 0))) return team->barrier(comm.rank);
  Schedule s(comm);
  barrier(s);
  return s.run();
}

base::Status broadcast(core::Comm& comm, const Layout& buffer, int root) {
  if (NodeTeam* const node = meet_on_node(comm, Collective::kBroadcast, buffer.bytes()))
    return node->broadcast(buffer, root);
  if (Team* const team = Team::of(comm)) {
    const Count bytes = buffer.bytes();
    const Algorithm algorithm = choose(comm, Collective::kBroadcast, bytes);
    const base::Status met = team->run(comm.rank, {.collective = Collective::kBroadcast,
                                                   .algorithm = algorithm,
                                                   .root = root,
                                                   .bytes = bytes,
                                                   .from = buffer,
                                                   .to = buffer});
    if (!met.ok() || is_for_teams(algorithm)) return met;
  }
  Schedule s(comm);
  broadcast(s, buffer, root);
  return s.run();
}

base::Status gather(core::Comm& comm, const Layout& mine, const Layout& all, int root) {
  if (NodeTeam* const node = meet_on_node(comm, Collective::kGather, mine.bytes()))
    return node->gather(mine, all, root);
  if (Team* const team = Team::of(comm)) {
    const Count bytes = mine.bytes();
    const Algorithm algorithm = choose(comm, Collective::kGather, bytes);
    const base::Status met =
        team->run(comm.rank, {.collective = Collective::kGather,
                              .algorithm = algorithm,
                              .root = root,
                              .bytes = bytes,
                              .from = mine,
                              .to = all,
                              .odd = comm.rank == root && block_bytes(all, team->size()) != bytes});
    if (!met.ok() || is_for_teams(algorithm)) return met;
  }
  Schedule s(comm);
  gather(s, mine, all, root);
  return s.run();
}

base::Status scatter(core::Comm& comm, const Layout& all, const Layout& mine, int root) {
  if (NodeTeam* const node = meet_on_node(comm, Collective::kScatter, mine.bytes()))
    return node->scatter(all, mine, root);
  if (Team* const team = Team::of(comm)) {
    const Count bytes = mine.bytes();
    const Algorithm algorithm = choose(comm, Collective::kScatter, bytes);
    const base::Status met =
        team->run(comm.rank, {.collective = Collective::kScatter,
                              .algorithm = algorithm,
                              .root = root,
                              .bytes = bytes,
                              .from = all,
                              .to = mine,
                              .odd = comm.rank == root && block_bytes(all, team->size()) != bytes});
    if (!met.ok() || is_for_teams(algorithm)) return met;
  }
  Schedule s(comm);
  scatter(s, all, mine, root);
  return s.run();
}

base::Status allgather(core::Comm& comm, const Layout& mine, const Layout& all) {
  if (NodeTeam* const node = meet_on_node(comm, Collective::kAllgather, mine.bytes()))
    return node->allgather(mine, all);
  if (Team* const team = Team::of(comm)) {
    const Count bytes = mine.bytes();
    const Algorithm algorithm = choose(comm, Collective::kAllgather, bytes);
    const base::Status met = team->run(comm.rank, {.collective = Collective::kAllgather,
                                                   .algorithm = algorithm,
                                                   .bytes = bytes,
                                                   .from = mine,
                                                   .to = all,
                                                   .odd = block_bytes(all, team->size()) != bytes});
    if (!met.ok() || is_for_teams(algorithm)) return met;
  }
  Schedule s(comm);
  allgather(s, mine, all);
  return s.run();
}

base::Status alltoall(core::Comm& comm, const Layout& out, const Layout& in) {
  if (NodeTeam* const node = meet_on_node(comm, Collective::kAlltoall, out.bytes()))
    return node->alltoall(out, in);
  if (Team* const team = Team::of(comm)) {
    const Count bytes = block_bytes(out, team->size());
    const Algorithm algorithm = choose(comm, Collective::kAlltoall, bytes);
    const base::Status met = team->run(comm.rank, {.collective = Collective::kAlltoall,
                                                   .algorithm = algorithm,
                                                   .bytes = bytes,
                                                   .from = out,
                                                   .to = in,
                                                   .in_place = is_in_place(out, in),
                                                   .odd = block_bytes(in, team->size()) != bytes});
    if (!met.ok() || is_for_teams(algorithm)) return met;
  }
  Schedule s(comm);
  alltoall(s, out, in);
  return s.run();
}

base::Status reduce(core::Comm& comm, const Reduction& reduction, const Layout& in, const Layout& out,
                    int root) {
  if (NodeTeam* const node = meet_on_node(comm, Collective::kReduce, reduction, in))
    return node->reduce(reduction, in, out, root);
  if (Team* const team = Team::of(comm)) {
    const Algorithm algorithm = choose(comm, *team, reduction, in, Collective::kReduce);
    const base::Status met = team->run(comm.rank, {.collective = Collective::kReduce,
                                                   .algorithm = algorithm,
                                                   .root = root,
                                                   .bytes = in.bytes(),
                                                   .from = in,
                                                   .to = out,
                                                   .reduction = &reduction});
    if (!met.ok() || is_for_teams(algorithm)) return met;
  }
  Schedule s(comm, reduction);
  reduce(s, in, out, root);
  return s.run();
}

base::Status allreduce(core::Comm& comm, const Reduction& reduction, const Layout& in, const Layout& out) {
  if (NodeTeam* const node = meet_on_node(comm, Collective::kAllreduce, reduction, in))
    return node->allreduce(reduction, in, out);
  if (Team* const team = Team::of(comm)) {
    const Algorithm algorithm = choose(comm, *team, reduction, in, Collective::kAllreduce);
    const base::Status met = team->run(comm.rank, {.collective = Collective::kAllreduce,
                                                   .algorithm = algorithm,
                                                   .bytes = in.bytes(),
                                                   .from = in,
                                                   .to = out,
                                                   .reduction = &reduction});
    if (!met.ok() || is_for_teams(algorithm)) return met;
  }
  Schedule s(comm, reduction);
  allreduce(s, in, out);
  return s.run();
}

base::Status exchange_with_neighbours(core::Comm& comm, const Blocks& out, const Blocks& in) {
  if (Team* const team = Team::of(comm)) return team->exchange_with_neighbours(comm, out, in);
  Schedule s(comm);
  exchange_with_neighbours(s, *comm.topology, out, in);
  return s.run();
}

}  // namespace clump::coll
