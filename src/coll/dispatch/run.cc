// Which engine does a blocking collective: shared memory of one process (shared/), of one node (node/), or
// messages (algorithms/, hierarchical/). The only place that asks; for requests it is make_request.cc.
#include "coll/algorithms/registry.h"
#include "coll/coll.h"
#include "coll/node/node_team.h"
#include "coll/schedule/scratch.h"
#include "coll/select/choose.h"
#include "coll/shared/team.h"
#include "net/joint_work.h"

namespace clump::coll {

namespace {

base::Status run_messages(core::Comm& comm, const Call& call, Where where) {
  Schedule schedule(comm, call.reduction != nullptr ? *call.reduction : Reduction(), call.caller);
  schedule.set_where(where);
  write(schedule, call);
  return schedule.run();
}

/// Teams combine operands where they lie, and keep their order as far as the team itself is in the order of
/// ranks. Choices by the type here are the same on all ranks: the operands of a reduction are alike.
void add_reduction(const core::Comm& comm, const Team& team, const Call& call, Situation& situation) {
  const Operations operations = operations_of(*call.reduction);
  situation.operation = operations;
  situation.team = (operations == Operations::kPredefined || call.send.type->is_dense()) &&
                   (operations != Operations::kAny || team.ordered());
  situation.one_order = needs_one_order(comm, *call.reduction, *call.send.type);
}

Algorithm choose_for_team(const core::Comm& comm, const Team& team, const Call& call) {
  const Count bytes = call.has_blocks() ? 0 : call.bytes;
  const Count as_array = call.reduction != nullptr ? call.send.count * call.send.type->extent() : bytes;
  Situation situation{.ranks = comm.size(),
                      .bytes = bytes,
                      .team = true,
                      .where = Where::kProcess,
                      .carried = Team::can_carry(call.collective, comm.size(), as_array)};
  if (call.reduction != nullptr) add_reduction(comm, team, call, situation);
  const Algorithm algorithm = choose(comm, call.collective, situation);
  // An algorithm that is not for teams is chosen again, and noted, by the schedule.
  if (is_for_teams(algorithm)) note(comm, call.collective, algorithm, bytes);
  return algorithm;
}

/// A reduce-scatter in place: results would go where the other ranks find their operands.
base::Status run_from_copy(core::Comm& comm, Team& team, const Call& call, Algorithm algorithm) {
  const Scratch copied = take_scratch(static_cast<std::size_t>(call.send.count * call.send.type->extent()));
  if (copied == nullptr)
    return base::fail(MPI_ERR_NO_MEM, "there is no memory for {} bytes of intermediate results",
                      call.send.bytes());
  const Layout from{copied.get(), call.send.count, call.send.type};
  net::joint_copy(from, call.send, 0, call.send.bytes());
  return team.run(comm,
                  {.collective = call.collective,
                   .caller = call.caller,
                   .bytes = call.bytes,
                   .send = from,
                   .recv = call.recv,
                   .first = call.first,
                   .reduction = call.reduction},
                  algorithm);
}

base::Status run_team(core::Comm& comm, Team& team, const Call& call) {
  if (call.collective == Collective::kNeighbours) return team.run(comm, call, Algorithm::kShmLeader);
  const Algorithm algorithm = choose_for_team(comm, team, call);
  const bool is_copied = call.collective == Collective::kReduceScatter && call.send.base == call.recv.base &&
                         operations_of(*call.reduction) == Operations::kPredefined;
  // Before an algorithm by messages the ranks meet as well, to compare their calls, unless the sizes are not
  // known.
  const bool meets =
      is_for_teams(algorithm) || !(call.has_blocks() || call.collective == Collective::kBarrier);
  if (meets) {
    const base::Status met =
        is_copied ? run_from_copy(comm, team, call, algorithm) : team.run(comm, call, algorithm);
    if (!met.ok() || is_for_teams(algorithm)) return met;
  }
  return run_messages(comm, call, Where::kProcess);
}

/// Bytes that a rank's slot has to hold: the same on all ranks.
Count slot_bytes(const Call& call) {
  if (call.reduction != nullptr && !call.send.type->is_dense()) return NodeTeam::kRoom + 1;
  return call.collective == Collective::kAlltoall ? call.send.bytes() : call.bytes;
}

base::Status run_node(core::Comm& comm, NodeTeam& team, const Call& call) {
  const Situation situation{
      .ranks = comm.size(),
      .bytes = call.bytes,
      .operation = call.reduction != nullptr ? operations_of(*call.reduction) : Operations::kPredefined,
      .node = slot_bytes(call) <= NodeTeam::kRoom,
      .where = Where::kNode};
  if (choose(comm, call.collective, situation) != Algorithm::kNodeShm)
    return run_messages(comm, call, Where::kNode);
  note(comm, call.collective, Algorithm::kNodeShm, call.bytes);
  return team.run(call);
}

}  // namespace

base::Status run(core::Comm& comm, const Call& call) {
  core::Team* const team = team_of(comm);
  switch (team->kind) {
    case core::Team::Kind::kHere:
      return run_team(comm, static_cast<Team&>(*team), call);
    case core::Team::Kind::kNode:
      return run_node(comm, static_cast<NodeTeam&>(*team), call);
    default:
      return run_messages(comm, call, Where::kAnywhere);
  }
}

}  // namespace clump::coll
