// A collective operation that goes on by itself: what stands behind the request of a non-blocking or
// persistent collective (MPI-5.0 sections 6.12 and 6.13).
//
// Nobody polls it. Whoever completes the last message of a round leaves the operation at the channel of its
// rank (net/tasks.h); who waits at the rank's worker, or has nothing to do, takes the next steps, and the
// last of them completes the request. If there is a function of the user's to be called, these are errands of
// the rank (fiber/errands.h). docs/decisions/010-collectives-in-flight.md
#pragma once

#include <memory>
#include <vector>

#include "base/ref.h"
#include "coll/check.h"
#include "coll/schedule.h"
#include "core/request.h"
#include "net/tasks.h"

namespace clump::coll {

class Operation final : public core::Request, net::Task, Schedule::Listener {
 public:
  enum class Kind : std::uint8_t { kNonblocking, kPersistent };
  /// Takes the communicator's next collective tag. The operation keeps the communicator and the reduction's
  /// operation alive, and what it is told to keep.
  Operation(core::Comm& comm, const Reduction& reduction, Kind kind);

  /// To be written before the operation is started.
  Schedule& schedule() { return schedule_; }
  void keep(const datatype::Datatype& type);
  void keep(base::Ref<const base::RefCounted> object) { kept_.push_back(std::move(object)); }

  /// Whenever it is started, the ranks compare what they call, and go on if they agree. Null: they do not.
  void check_first(std::unique_ptr<Check> check);

  /// Starts a non-blocking one. Any thread of its rank.
  void begin();
  /// MPI_Start.
  base::Status start() override;
  base::Status cancel() override;
  base::Status may_detach() const override;
  void tell(std::vector<core::Awaited>& all) const override;
  void ask(bool keep) override;

 private:
  void run() override;
  void round_ended() override;
  void end(base::Status status);
  bool calls_user() const { return static_cast<bool>(op_); }

  base::Ref<const core::Op> op_;  // a user's
  std::vector<base::Ref<const base::RefCounted>> kept_;
  std::unique_ptr<Check> check_;
  bool checking_ = false;  // the check is not over
  const char* call_;       // what has made it
  Schedule schedule_;
};

}  // namespace clump::coll
