// The base of the requests of all non-blocking and persistent collectives, whichever engine does the work
// (MPI-5.0 sections 6.12 and 6.13).
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/ref.h"
#include "core/comm.h"
#include "core/op.h"
#include "core/request.h"
#include "fiber/float_control.h"

namespace clump::coll {

class CollectiveRequest : public core::Request {
 public:
  enum class Kind : std::uint8_t { kNonblocking, kPersistent };

  void keep(const datatype::Datatype& type);
  void keep(base::Ref<const base::RefCounted> object) { kept_.push_back(std::move(object)); }

  /// Elements of `type` are combined, which any thread may do if `op` is predefined. When it is made.
  void will_combine(const core::Op& op, const datatype::Datatype& type);
  /// Starts a non-blocking one; once. Any thread of its rank.
  virtual void begin() = 0;
  /// MPI_Start.
  base::Status start() final;
  base::Status cancel() final;
  base::Status may_detach() const final;
  void tell(std::vector<core::Awaited>& all) const final;
  /// Has the owner meet the floating-point exceptions that others have met for it.
  void ask(bool keep) override;

 protected:
  /// Keeps the communicator alive, and what it is told to keep.
  CollectiveRequest(core::Comm& comm, Kind kind);
  /// The operation's in its communicator.
  virtual int tag() const = 0;

  // A thread that combines operands computes as the thread that has begun the operation.
  /// By the thread that begins it.
  void note_control() {
    if (computes_) control_ = fiber::FloatControl::here();
  }
  /// For fiber::ComputeAs; does nothing where no numbers are combined. Until the operation is complete.
  fiber::FloatControl control() const { return control_; }
  /// By a thread that has computed, before the operation is complete.
  void add_met(std::uint32_t exceptions) {
    // relaxed: ordered by the completion.
    if (exceptions != 0) met_.fetch_or(exceptions, std::memory_order_relaxed);
  }

 private:
  bool computes_ = false;
  fiber::FloatControl control_ = fiber::FloatControl::none();
  std::atomic<std::uint32_t> met_{0};  ///< floating-point exceptions; by any thread
  const char* const call_;             // name of the function that has made it
  std::vector<base::Ref<const base::RefCounted>> kept_;
};

}  // namespace clump::coll
