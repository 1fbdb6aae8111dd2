// What mpiexec --check looks at in calls about a window, besides conflicting accesses (conflicts.h): the
// buffers of operations at their origin, the owner's own memory, and what the program promises by assertions
// and hints. The bodies in src/mpi/check/checked_windows.cc call it around those that do the work, so a job
// that is not checked pays nothing.
//
// Called by threads of the owner, like Window; the mutex is for those that work on the window at the same
// time.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "base/status.h"
#include "core/buffers_in_use.h"
#include "core/request.h"
#include "rma/window.h"

namespace clump::rma {

class WindowChecks {
  struct Origin;

 public:
  explicit WindowChecks(Window& window);
  ~WindowChecks();

  /// The buffers of an operation at its origin: the program must not write those that are read, nor use those
  /// that are written, before something completes the operation (MPI-5.0 section 12.3).
  struct Buffers {
    std::array<datatype::Layout, 2> read{};  // no type: there is none
    datatype::Layout written{};
  };

  /// A call of an operation. The window claims the buffers when all else is found right, and the access is
  /// noted; they are kept if the operation has begun.
  class Operation {
   public:
    Operation(Window& window, int target, const Buffers& buffers)
        : checks_(*window.checks()), target_(target), buffers_(buffers) {
      current = this;
    }
    ~Operation();
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    base::Status claim();
    /// With `request`: its completion gives the buffers back.
    void begun(MPI_Request* request = nullptr);
    std::uint64_t number() const { return number_; }
    /// The one that the calling thread is in.
    static inline constinit thread_local Operation* current = nullptr;

   private:
    WindowChecks& checks_;
    const int target_;
    const Buffers& buffers_;
    std::uint64_t number_ = 0;
    Origin* origin_ = nullptr;  // not kept yet
  };

  /// What completes operations on a target (negative: on all ranks). MPI_ERR_BUFFER if a buffer has changed
  /// meanwhile.
  enum class Completes : std::uint8_t { kAtTarget, kLocally };
  base::Status complete(int target, Completes what);
  /// The request of an operation is complete.
  base::Status complete(const core::Request& request);

  // Before the call does its work, and after it.
  base::Status before_fence(int assertions);
  void after_fence(int assertions);
  /// An access epoch of locks, or of MPI_Win_start, begins.
  void before_epoch();
  /// A lock of this rank's memory, alone or among those of all; negative: of all ranks.
  base::Status before_lock();
  void after_lock(int rank);
  void unlocked_all();
  /// MPI_Win_complete: the origins' buffers are free, and ranks of other processes need nothing more.
  base::Status before_complete();
  base::Status before_post(int assertions);
  void after_wait();
  /// The owner's memory is synchronised.
  void synchronised();

  /// As core::Window::look_at_own(); `keep`: accesses that others make from now on are compared with it,
  /// until they may have learnt of it.
  base::Status look_at_own(const core::BufferInUse& use, bool keep);

 private:
  friend class Operation;
  void release(Origin& origin);
  /// What completes operations at the origin: an end of an epoch, or a flush in one of locks.
  enum class Epoch : std::uint8_t { kFence, kGroup, kLocks };
  base::Status give_back(Origin& origin, Epoch epoch);
  base::Status give_back(int target, Epoch epoch);
  /// What a fence, or MPI_Win_post, says of stores that were made.
  base::Status check_stores(int assertions) const;

  Window& window_;
  std::mutex mutex_;  // guards what follows
  std::list<std::unique_ptr<Origin>> origins_;
  std::uint64_t operations_ = 0;
  std::optional<core::Site> stored_;  ///< what wrote to the owner's memory since its last synchronisation
  // Of the last fence that others may follow: where it was called, the call that has begun an epoch of
  // another kind since then, and whether that has had operations.
  core::Site fence_, inner_;
  bool inner_used_ = false;
};

/// The request of an operation: it may be complete when it is made.
class OperationRequest final : public core::Request {
 public:
  OperationRequest(Window& window, int target);
  int awaited() const override { return rank_; }
  core::Window* window() const override { return window_.get(); }
  void ask(bool keep) override;

 private:
  const base::Ref<Window> window_;
  const int rank_;  // of the job
  bool was_asked_ = false;
};

}  // namespace clump::rma
