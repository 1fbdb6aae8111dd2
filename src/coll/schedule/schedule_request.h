// The request of a non-blocking or persistent collective of messages, which goes on by itself (MPI-5.0
// sections 6.12 and 6.13).
//
// No thread polls it. The thread that completes the last message of a round submits the operation to the
// channel of its rank (net/progress_tasks.h); a thread that waits at the rank's worker, or has nothing to do,
// takes the next steps, and the last of them completes the request. If there is a function of the user's to
// be called, these are callbacks of the rank (fiber/rank_callbacks.h).
// docs/decisions/010-collectives-in-flight.md
#pragma once

#include <memory>

#include "base/ref.h"
#include "coll/check/check.h"
#include "coll/schedule/collective_request.h"
#include "coll/schedule/schedule.h"
#include "net/progress_tasks.h"

namespace clump::coll {

class ScheduleRequest final : public CollectiveRequest, net::ProgressTask, Schedule::Listener {
 public:
  /// Takes the communicator's next collective tag. Keeps the reduction's operation alive.
  ScheduleRequest(core::Comm& comm, const Reduction& reduction, Kind kind);

  /// To be written before the operation is started.
  Schedule& schedule() { return schedule_; }

  /// Whenever it is started, the ranks compare what they call, and go on if they agree. Null: they do not.
  void check_first(std::unique_ptr<Check> check);

  void begin() override;
  void ask(bool keep) override;

 private:
  void run() override;
  void round_ended() override;
  void end(base::Status status);
  int tag() const override { return schedule_.tag(); }
  bool calls_user() const { return static_cast<bool>(op_); }

  base::Ref<const core::Op> op_;  // a user's
  std::unique_ptr<Check> check_;
  bool checking_ = false;  // the check is not over
  Schedule schedule_;
};

}  // namespace clump::coll
