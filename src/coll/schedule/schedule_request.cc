#include "coll/schedule/schedule_request.h"

#include "core/rank.h"
#include "fiber/own_worker.h"

namespace clump::coll {

ScheduleRequest::ScheduleRequest(core::Comm& comm, const Reduction& reduction, Kind kind)
    : CollectiveRequest(comm, kind), schedule_(comm, reduction) {
  if (reduction.op != nullptr && !reduction.op->is_predefined()) op_ = base::Ref(reduction.op);
}

void ScheduleRequest::check_first(std::unique_ptr<Check> check) {
  check_ = std::move(check);
  if (check_ != nullptr && check_->has_buffers()) kind = Request::Kind::kChecked;
}

void ScheduleRequest::ask(bool keep) {
  CollectiveRequest::ask(keep);
  if (check_ == nullptr || !check_->has_buffers()) return;
  if (result.error != MPI_SUCCESS) return;
  result.error = check_->give_back().code();
}

void ScheduleRequest::begin() {
  if (calls_user()) comm->owner.callbacks.expect(1);
  note_control();
  schedule_.compute_as(control());
  checking_ = check_ != nullptr;
  if (checking_) [[unlikely]]
    check_->start(*this);
  else
    schedule_.start(*this);
  // If an idle worker has time to copy data that others wait for, this call does not do it.
  if (!calls_user() && schedule_.begins_with_much() && fiber::wake_idle_worker()) return round_ended();
  net::run_here(this);
}

void ScheduleRequest::run() {
  if (checking_) [[unlikely]] {
    if (!check_->advance()) return;
    checking_ = false;
    // All ranks know of it, so none waits for a message of another one.
    if (!check_->status().ok()) return end(check_->status());
    schedule_.start(*this);
  }
  if (schedule_.advance()) end(schedule_.status());
}

void ScheduleRequest::end(base::Status status) {
  if (calls_user()) comm->owner.callbacks.expect(-1);
  add_met(schedule_.met());
  result.error = status.code();
  complete();
}

void ScheduleRequest::round_ended() {
  core::Rank& rank = comm->owner;
  if (calls_user()) return rank.callbacks.submit(*this);
  rank.world.routes[static_cast<std::size_t>(rank.number)]->submit(rank.number, *this);
}

}  // namespace clump::coll
