#include "coll/team_operation.h"

#include <utility>

#include "coll/calls.h"
#include "coll/choose.h"
#include "coll/team.h"
#include "core/rank.h"
#include "net/joint_work.h"

namespace clump::coll {

namespace {

// With less data a rank fetches what it needs, and with more brings its part of it to all (measured as for
// teams: the rules of select.cc).
constexpr Count kShared = 4 * 1024;

}  // namespace

std::unique_ptr<TeamOperation> TeamOperation::make(core::Comm& comm, const Reduction& reduction, Kind kind) {
  Team* const team = Team::here(comm);
  if (team == nullptr) return nullptr;
  return std::unique_ptr<TeamOperation>(new TeamOperation(comm, *team, reduction, kind));
}

TeamOperation::TeamOperation(core::Comm& comm, Team& team, const Reduction& reduction, Kind kind)
    : CollectiveRequest(comm, kind), team_(team), reduction_(reduction) {}

bool TeamOperation::is_for_team(Collective collective, Count bytes) const {
  const Situation situation{
      .ranks = comm->size(), .bytes = bytes, .operation = operations_of(reduction_), .appointed = true};
  return choose(*comm, collective, situation) == Algorithm::kTeamAppoints;
}

bool TeamOperation::say(const Meeting::Call& call) {
  if (!is_for_team(call.collective, call.bytes)) return false;
  note(*comm, call.collective, Algorithm::kTeamAppoints, call.bytes);
  tag_ = comm->next_collective_tag();
  word_ = Word(call.collective, call.bytes < kShared ? Algorithm::kTeamLeads : Algorithm::kTeamShares,
               call.root, call.in_place, call.odd, 0);
  if (call.exclusive) word_ = word_.as_exclusive();
  bytes_ = call.bytes;
  first_ = call.first;
  from_ = call.from;
  to_ = call.to;
  return true;
}

bool TeamOperation::say_with_copy(const Meeting::Call& call) {
  if (!say(call)) return false;
  extra_ = std::make_unique<Extra>();
  extra_->original = call.from;
  extra_->copy = take_scratch(static_cast<std::size_t>(call.from.count * call.from.type->extent()));
  from_.base = extra_->copy.get();
  return true;
}

bool TeamOperation::say(Collective collective, int root, const Blocks& out, int blocks_out, const Blocks& in,
                        int blocks_in) {
  if (!is_for_team(collective, 0)) return false;
  if (collective != Collective::kNeighbours) note(*comm, collective, Algorithm::kTeamAppoints, 0);
  tag_ = comm->next_collective_tag();
  word_ = Word(collective, Algorithm::kTeamShares, root, false, false, 0);
  has_blocks_ = true;
  extra_ = std::make_unique<Extra>();
  extra_->in = in.kept(extra_->in_room, blocks_in);
  extra_->out = out == in ? extra_->in : out.kept(extra_->out_room, blocks_out);
  return true;
}

void TeamOperation::begin() {
  if (extra_ != nullptr && extra_->original.type != nullptr) [[unlikely]] {
    const Layout& original = extra_->original;
    if (extra_->copy == nullptr) {
      result.error = base::fail(MPI_ERR_NO_MEM, "there is no memory for {} bytes of intermediate results",
                                original.bytes())
                         .code();
      return complete();
    }
    net::joint_copy(from_, original, 0, original.bytes());
  }
  team_.appointments().come(*this);
}

// What each collective says.

bool barrier(TeamOperation& t) { return t.say({.collective = Collective::kBarrier}); }
bool broadcast(TeamOperation& t, const Layout& buffer, int root) {
  return t.say(call_of_broadcast(buffer, root));
}
bool gather(TeamOperation& t, const Layout& mine, const Layout& all, int root) {
  return t.say(call_of_gather(t.communicator(), mine, all, root));
}
bool scatter(TeamOperation& t, const Layout& all, const Layout& mine, int root) {
  return t.say(call_of_scatter(t.communicator(), all, mine, root));
}
bool allgather(TeamOperation& t, const Layout& mine, const Layout& all) {
  return t.say(call_of_allgather(t.communicator(), mine, all));
}
bool alltoall(TeamOperation& t, const Layout& out, const Layout& in) {
  return t.say(call_of_alltoall(t.communicator(), out, in));
}

bool gatherv(TeamOperation& t, const Layout& mine, const Blocks& all, int root) {
  const core::Comm& comm = t.communicator();
  return t.say(Collective::kGatherv, root, Blocks(mine), 1, all, comm.rank == root ? comm.size() : 0);
}
bool scatterv(TeamOperation& t, const Blocks& all, const Layout& mine, int root) {
  const core::Comm& comm = t.communicator();
  return t.say(Collective::kScatterv, root, all, comm.rank == root ? comm.size() : 0, Blocks(mine), 1);
}
bool allgatherv(TeamOperation& t, const Layout& mine, const Blocks& all) {
  return t.say(Collective::kAllgatherv, 0, Blocks(mine), 1, all, t.communicator().size());
}
bool alltoall(TeamOperation& t, const Blocks& out, const Blocks& in) {
  const int size = t.communicator().size();
  return t.say(Collective::kAlltoallv, 0, out, size, in, size);
}
bool exchange_with_neighbours(TeamOperation& t, const core::Topology& topology, const Blocks& out,
                              const Blocks& in) {
  return t.say(Collective::kNeighbours, 0, out, topology.destinations().blocks, in,
               topology.sources().blocks);
}

bool reduce(TeamOperation& t, const Layout& in, const Layout& out, int root) {
  return t.say(call_of_reduce(t.reduction(), in, out, root));
}
bool allreduce(TeamOperation& t, const Layout& in, const Layout& out) {
  return t.say(call_of_reduction(Collective::kAllreduce, t.reduction(), in, out));
}
bool scan(TeamOperation& t, const Layout& in, const Layout& out) {
  return t.say(call_of_reduction(Collective::kScan, t.reduction(), in, out));
}
bool exscan(TeamOperation& t, const Layout& in, const Layout& out) {
  return t.say(call_of_exscan(t.reduction(), in, out));
}

namespace {

// In place, results would go where the other ranks find their operands.
bool reduce_scatter_from(TeamOperation& t, const Layout& all, const Layout& out, Count first) {
  const Meeting::Call call = call_of_reduce_scatter(t.reduction(), all, out, first);
  return all.base == out.base ? t.say_with_copy(call) : t.say(call);
}

}  // namespace

bool reduce_scatter(TeamOperation& t, const Layout& in, const Layout& out, const Numbers& counts) {
  const Extent mine = extent_of(t.communicator(), counts);
  return reduce_scatter_from(t, {in.base, mine.whole, in.type}, out, mine.first);
}
bool reduce_scatter_block(TeamOperation& t, const Layout& in, const Layout& out) {
  const core::Comm& comm = t.communicator();
  return reduce_scatter_from(t, {in.base, comm.size() * out.count, in.type}, out, comm.rank * out.count);
}

}  // namespace clump::coll
