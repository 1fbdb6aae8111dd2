#include "coll/shared/request.h"

#include <utility>

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

std::unique_ptr<TeamRequest> TeamRequest::make(core::Comm& comm, const Call& call, Kind kind) {
  Team* const team = Team::here(comm);
  if (team == nullptr) return nullptr;
  const Reduction reduction = call.reduction != nullptr ? *call.reduction : Reduction();
  const Situation situation{
      .ranks = comm.size(), .bytes = call.bytes, .operation = operations_of(reduction), .nonblocking = true};
  if (choose(comm, call.collective, situation) != Algorithm::kShmNonblocking) return nullptr;
  if (call.collective != Collective::kNeighbours)
    note(comm, call.collective, Algorithm::kShmNonblocking, call.bytes);
  std::unique_ptr<TeamRequest> made(new TeamRequest(comm, *team, reduction, kind));
  if (reduction.op != nullptr) made->will_combine(*reduction.op, *call.send.type);
  if (call.has_blocks()) {
    made->signature_ = PackedSignature::of_blocks(call, Algorithm::kShmAll, 0);
    made->keep_blocks(call);
    return made;
  }
  made->signature_ = team->signature_of(comm.rank, call,
                                        call.bytes < kShared ? Algorithm::kShmLeader : Algorithm::kShmAll, 0);
  made->bytes_ = call.bytes;
  made->first_ = call.first;
  made->from_ = call.send;
  made->to_ = call.recv;
  // In place, results would go where the other ranks find their operands.
  if (call.collective == Collective::kReduceScatter && call.send.base == call.recv.base)
    made->copy_first(call);
  return made;
}

void TeamRequest::copy_first(const Call& call) {
  extra_ = std::make_unique<Extra>();
  extra_->original = call.send;
  extra_->copy = take_scratch(static_cast<std::size_t>(call.send.count * call.send.type->extent()));
  from_.base = extra_->copy.get();
}

void TeamRequest::keep_blocks(const Call& call) {
  const int size = comm->size();
  const bool is_gather = call.collective == Collective::kGatherv;
  const bool is_scatter = call.collective == Collective::kScatterv;
  const int at_root = comm->rank == call.root ? size : 0;  // elsewhere they have no meaning
  int out = is_scatter ? at_root : is_gather || call.collective == Collective::kAllgatherv ? 1 : size;
  int in = is_gather ? at_root : is_scatter ? 1 : size;
  if (call.collective == Collective::kNeighbours) {
    out = comm->topology->destinations().blocks;
    in = comm->topology->sources().blocks;
  }
  has_blocks_ = true;
  extra_ = std::make_unique<Extra>();
  extra_->in = call.blocks_in().kept(extra_->in_storage, in);
  extra_->out = call.in_place ? extra_->in : call.blocks_out().kept(extra_->out_storage, out);
}

void TeamRequest::begin() {
  note_control();
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
  team_.pending().join(*this);
}

}  // namespace clump::coll
