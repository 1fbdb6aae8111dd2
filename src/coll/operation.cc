#include "coll/operation.h"

#include "core/rank.h"

namespace clump::coll {

Operation::Operation(core::Comm& comm, const Reduction& reduction, Kind kind) : schedule_(comm, reduction) {
  if (reduction.op != nullptr && !reduction.op->is_predefined()) op_ = base::Ref(reduction.op);
  this->comm = base::Ref<core::Comm>(&comm);
  persistent = kind == Kind::kPersistent;
  if (persistent) state = State::kInactive;
}

void Operation::keep(const datatype::Datatype& type) {
  if (!type.is_predefined()) kept_.emplace_back(&type);
}

void Operation::begin() {
  if (calls_user()) comm->owner.errands.expect(1);
  schedule_.start(*this);
  net::run_here(this);
}

base::Status Operation::start() {
  if (!persistent) return Request::start();
  state = State::kActive;
  completion.reset();
  result = {};
  begin();
  return {};
}

void Operation::run() {
  if (!schedule_.advance()) return;
  if (calls_user()) comm->owner.errands.expect(-1);
  result.error = schedule_.status().code();
  complete();
}

void Operation::round_ended() {
  core::Rank& rank = comm->owner;
  if (calls_user()) return rank.errands.leave(*this);
  rank.world.routes[static_cast<std::size_t>(rank.number)]->leave(rank.number, *this);
}

void Operation::before_wait() { p2p::expect(comm->owner); }

base::Status Operation::cancel() {
  return base::fail(MPI_ERR_REQUEST,
                    "the request is of a collective operation, which cannot be cancelled: complete it "
                    "(MPI_Wait)");
}

base::Status Operation::may_detach() const {
  return base::fail(MPI_ERR_REQUEST,
                    "the request is of a collective operation in progress, which has to be completed "
                    "(MPI_Wait) before it is freed");
}

}  // namespace clump::coll
