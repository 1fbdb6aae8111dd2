#include "coll/shared/request.h"

#include <utility>

#include "coll/dispatch/calls.h"
#include "coll/select/choose.h"
#include "coll/shared/team.h"
#include "core/rank.h"
#include "net/joint_work.h"

namespace clump::coll {

namespace {

// With less data a rank fetches what it needs, and with more brings its part of it to all (measured as for
// teams: the rules of select/select.cc).
constexpr Count kShared = 4 * 1024;

}  // namespace

TeamRequest::TeamRequest(core::Comm& comm, Team& team, const Reduction& reduction, Kind kind)
    : CollectiveRequest(comm, kind), team_(team), reduction_(reduction), tag_(comm.next_collective_tag()) {}

RequestBuilder::RequestBuilder(core::Comm& comm, const Reduction& reduction, Kind kind)
    : comm_(comm), reduction_(reduction), kind_(kind), team_(Team::here(comm)) {}

bool RequestBuilder::is_taken(Collective collective, Count bytes) {
  if (team_ == nullptr) return false;
  const Situation situation{
      .ranks = comm_.size(), .bytes = bytes, .operation = operations_of(reduction_), .appointed = true};
  if (choose(comm_, collective, situation) != Algorithm::kShmNonblocking) return false;
  if (collective != Collective::kNeighbours) note(comm_, collective, Algorithm::kShmNonblocking, bytes);
  operation_.reset(new TeamRequest(comm_, *team_, reduction_, kind_));
  return true;
}

bool RequestBuilder::say(const SharedCollective::Call& call) {
  if (!is_taken(call.collective, call.bytes)) return false;
  TeamRequest& made = *operation_;
  made.signature_ =
      SharedCollective::signature_of(call, call.bytes < kShared ? Algorithm::kShmLeader : Algorithm::kShmAll, 0);
  made.bytes_ = call.bytes;
  made.first_ = call.first;
  made.from_ = call.from;
  made.to_ = call.to;
  return true;
}

bool RequestBuilder::say_with_copy(const SharedCollective::Call& call) {
  if (!say(call)) return false;
  auto extra = std::make_unique<TeamRequest::Extra>();
  extra->original = call.from;
  extra->copy = take_scratch(static_cast<std::size_t>(call.from.count * call.from.type->extent()));
  operation_->from_.base = extra->copy.get();
  operation_->extra_ = std::move(extra);
  return true;
}

bool RequestBuilder::say(Collective collective, int root, const Blocks& out, int blocks_out, const Blocks& in,
                   int blocks_in) {
  if (!is_taken(collective, 0)) return false;
  operation_->signature_ = PackedSignature(collective, Algorithm::kShmAll, root, false, false, 0);
  operation_->has_blocks_ = true;
  auto extra = std::make_unique<TeamRequest::Extra>();
  extra->in = in.kept(extra->in_room, blocks_in);
  extra->out = out == in ? extra->in : out.kept(extra->out_room, blocks_out);
  operation_->extra_ = std::move(extra);
  return true;
}

void TeamRequest::begin() {
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
  team_.pending().come(*this);
}

void TeamRequest::fill_room(PairBuffers& rooms) {
  const Collective collective = signature_.collective();
  const int rank = comm->rank, root = signature_.root();
  if (!has_blocks_)
    transfer_ = PairTransfer::of(rank, {.collective = collective,
                              .root = root,
                              .from = from_,
                              .to = to_,
                              .exclusive = signature_.exclusive(),
                              .first = first_});
  else
    transfer_ = PairTransfer::of(rank, collective, root, extra_->out, extra_->in);
  room_ = rooms.fill(rank, transfer_, combining());
}

// What each collective says.

bool barrier(RequestBuilder& t) { return t.say({.collective = Collective::kBarrier}); }
bool broadcast(RequestBuilder& t, const Layout& buffer, int root) { return t.say(call_of_broadcast(buffer, root)); }
bool gather(RequestBuilder& t, const Layout& mine, const Layout& all, int root) {
  return t.say(call_of_gather(t.communicator(), mine, all, root));
}
bool scatter(RequestBuilder& t, const Layout& all, const Layout& mine, int root) {
  return t.say(call_of_scatter(t.communicator(), all, mine, root));
}
bool allgather(RequestBuilder& t, const Layout& mine, const Layout& all) {
  return t.say(call_of_allgather(t.communicator(), mine, all));
}
bool alltoall(RequestBuilder& t, const Layout& out, const Layout& in) {
  return t.say(call_of_alltoall(t.communicator(), out, in));
}

bool gatherv(RequestBuilder& t, const Layout& mine, const Blocks& all, int root) {
  const core::Comm& comm = t.communicator();
  return t.say(Collective::kGatherv, root, Blocks(mine), 1, all, comm.rank == root ? comm.size() : 0);
}
bool scatterv(RequestBuilder& t, const Blocks& all, const Layout& mine, int root) {
  const core::Comm& comm = t.communicator();
  return t.say(Collective::kScatterv, root, all, comm.rank == root ? comm.size() : 0, Blocks(mine), 1);
}
bool allgatherv(RequestBuilder& t, const Layout& mine, const Blocks& all) {
  return t.say(Collective::kAllgatherv, 0, Blocks(mine), 1, all, t.communicator().size());
}
bool alltoall(RequestBuilder& t, const Blocks& out, const Blocks& in) {
  const int size = t.communicator().size();
  return t.say(Collective::kAlltoallv, 0, out, size, in, size);
}
bool exchange_with_neighbours(RequestBuilder& t, const core::Topology& topology, const Blocks& out,
                              const Blocks& in) {
  return t.say(Collective::kNeighbours, 0, out, topology.destinations().blocks, in,
               topology.sources().blocks);
}

bool reduce(RequestBuilder& t, const Layout& in, const Layout& out, int root) {
  return t.say(call_of_reduce(t.reduction(), in, out, root));
}
bool allreduce(RequestBuilder& t, const Layout& in, const Layout& out) {
  return t.say(call_of_reduction(Collective::kAllreduce, t.reduction(), in, out));
}
bool scan(RequestBuilder& t, const Layout& in, const Layout& out) {
  return t.say(call_of_reduction(Collective::kScan, t.reduction(), in, out));
}
bool exscan(RequestBuilder& t, const Layout& in, const Layout& out) {
  return t.say(call_of_exscan(t.reduction(), in, out));
}

namespace {

// In place, results would go where the other ranks find their operands.
bool reduce_scatter_from(RequestBuilder& t, const Layout& all, const Layout& out, Count first) {
  const SharedCollective::Call call = call_of_reduce_scatter(t.reduction(), all, out, first);
  return all.base == out.base ? t.say_with_copy(call) : t.say(call);
}

}  // namespace

bool reduce_scatter(RequestBuilder& t, const Layout& in, const Layout& out, const Numbers& counts) {
  const Extent mine = extent_of(t.communicator(), counts);
  return reduce_scatter_from(t, {in.base, mine.whole, in.type}, out, mine.first);
}
bool reduce_scatter_block(RequestBuilder& t, const Layout& in, const Layout& out) {
  const core::Comm& comm = t.communicator();
  return reduce_scatter_from(t, {in.base, comm.size() * out.count, in.type}, out, comm.rank * out.count);
}

}  // namespace clump::coll
