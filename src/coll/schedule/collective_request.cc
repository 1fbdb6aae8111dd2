#include "coll/schedule/collective_request.h"

#include "coll/select/choose.h"
#include "core/rank.h"

namespace clump::coll {

CollectiveRequest::CollectiveRequest(core::Comm& comm, Kind kind)
    : call_(comm.owner.call.load(std::memory_order_relaxed)) {
  this->comm = base::Ref<core::Comm>(&comm);
  persistent = kind == Kind::kPersistent;
  if (persistent) state = State::kInactive;
}

void CollectiveRequest::keep(const datatype::Datatype& type) {
  if (!type.is_predefined()) kept_.emplace_back(&type);
}

void CollectiveRequest::will_combine(const core::Op& op, const datatype::Datatype& type) {
  if (!op.is_predefined() || !has_floats(type)) return;
  computes_ = true;
  kind = Request::Kind::kComputes;
}

void CollectiveRequest::ask(bool) {
  // relaxed: ordered by the completion.
  if (const std::uint32_t exceptions = met_.exchange(0, std::memory_order_relaxed); exceptions != 0)
    fiber::meet(exceptions);
}

base::Status CollectiveRequest::start() {
  if (!persistent) return Request::start();
  state = State::kActive;
  completion.reset();
  result = {};
  begin();
  return {};
}

base::Status CollectiveRequest::cancel() {
  return base::fail(MPI_ERR_REQUEST,
                    "the request is of a collective operation, which cannot be cancelled: complete it "
                    "(MPI_Wait)");
}

base::Status CollectiveRequest::may_detach() const {
  if (completion.done()) return {};
  return base::fail(MPI_ERR_REQUEST,
                    "the request is of a collective operation in progress, which has to be completed "
                    "(MPI_Wait) before it is freed");
}

void CollectiveRequest::tell(std::vector<core::Awaited>& all) const {
  all.push_back({.kind = core::Awaited::Kind::kCollective,
                 .context = static_cast<std::uint32_t>(comm->context),
                 .tag = tag(),
                 .call = call_});
}

}  // namespace clump::coll
