// Window: one-sided communication of one rank (MPI-5.0 chapter 12). The bodies in src/mpi/windows.cc and
// one_sided.cc have checked handles, counts and buffers; everything about the window is checked here.
//
// A put, get or accumulate to a rank whose memory can be reached (window_map.h) is complete when the call
// returns: the origin has moved the bytes (direct.h). Operations for other ranks are messages (messages.h),
// which the target's process serves without its program; they are complete at the next flush.
//
// Functions are called by threads of the owning rank.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "core/accesses.h"
#include "core/comm.h"
#include "core/rank.h"
#include "core/window.h"
#include "datatype/datatype.h"
#include "datatype/reduce.h"
#include "fiber/float_control.h"
#include "rma/sanitizer.h"
#include "rma/window_map.h"

namespace clump::p2p {
class ReceiveOperation;
}

namespace clump::rma {

class Messages;
class Service;
class IncomingOperation;
class AllWindows;
class WindowChecks;

/// A place in a rank's part of a window, as a call names it.
struct Place {
  int rank;  ///< may be MPI_PROC_NULL
  MPI_Aint displacement;
  Count count;
  const datatype::Datatype& type;
};

/// An operation that combines: MPI_Accumulate and its family.
struct Combination {
  datatype::Layout operand;  ///< of MPI_NO_OP: not read
  datatype::Layout result;   ///< gets what was there before; no type: nobody wants it
  datatype::PredefinedOp op;
};

class Window final : public core::Window {
 public:
  struct Making {
    core::Rank& self;
    core::Comm& comm;
    const core::Info* info;
    int flavor;  ///< MPI_WIN_FLAVOR_CREATE, ...
    void* base = nullptr;
    MPI_Aint size = 0;
    Count unit = 1;
  };
  /// Makes the window; all ranks of the communicator call it. `base()` is the caller's memory then.
  static base::Status make(const Making& making, base::Ref<Window>& window);
  Window(core::Rank& owner, base::Ref<core::Comm> comm, int flavor);
  ~Window() override;

  // What the window is.
  std::byte* base() const { return mine().base; }
  Count size() const { return mine().size; }
  int rank() const { return comm->rank; }
  int ranks() const { return comm->size(); }
  const Target& target(int rank) const { return targets_[static_cast<std::size_t>(rank)]; }
  const int flavor;
  const base::Ref<core::Comm> comm;  ///< the window's own, which no program sees
  /// As the thread that makes it computes, so do threads that combine for ranks of other hosts (service.cc).
  const fiber::FloatControl control = fiber::FloatControl::here();
  // The values of attributes, whose addresses the program gets.
  MPI_Aint size_attribute = 0;
  int unit_attribute = 0, flavor_attribute = 0, model_attribute = MPI_WIN_UNIFIED;

  /// Whether the caller's epochs are over.
  base::Status may_be_freed() const;
  /// MPI_Win_free: waits until all ranks have called it and nothing is under way.
  base::Status finish();
  /// MPI_Win_shared_query.
  base::Status query(int rank, MPI_Aint& size, Count& unit, void*& base);

  // Dynamic windows.
  base::Status attach(void* base, MPI_Aint size);
  base::Status detach(const void* base);

  // Communication. With `request`: complete there at the latest when the request is.
  base::Status put(const datatype::Layout& from, const Place& to, MPI_Request* request = nullptr);
  base::Status get(const datatype::Layout& to, const Place& from, MPI_Request* request = nullptr);
  base::Status combine(const Combination& what, const Place& with, MPI_Request* request = nullptr);
  base::Status compare_and_swap(const void* value, const void* expected, void* result, const Place& with);

  // Synchronisation.
  base::Status fence(int assertions);
  base::Status start(const core::Group& group, int assertions);
  base::Status complete();
  base::Status post(const core::Group& group, int assertions);
  base::Status wait();
  base::Status test(bool& done);
  base::Status lock(LockType type, int rank, int assertions);
  base::Status unlock(int rank);
  base::Status lock_all(int assertions);
  base::Status unlock_all();
  base::Status flush(int rank);
  base::Status flush_all();
  base::Status sync();

  /// mpiexec --check; null: it is not asked for.
  WindowChecks* checks() const { return checks_.get(); }
  base::Status look_at_own(const core::BufferInUse& use) override;

  /// "rank 3 of window 'table'", for messages.
  std::string name_of(int rank) const;
  std::string description() const;

 private:
  /// A rank has asked for what no process of the job asks for (service.cc).
  void end_job(int origin, const char* wrong);
  friend class Messages;
  friend class Service;
  friend class IncomingOperation;
  friend class AllWindows;
  friend class WindowChecks;

  enum class Access : std::uint8_t { kNone, kStarted, kLocks, kAll };
  enum class Held : std::uint8_t { kNo, kShared, kExclusive, kUnchecked, kBeingTaken };
  static bool is_held(Held held) { return held != Held::kNo && held != Held::kBeingTaken; }

  const Target& mine() const { return target(rank()); }
  LockWaiter* waiters() const { return map_->controls.waiters(); }

  // What operations begin with. What they say when they fail is written out of line.
  base::Status check_rank(const char* name, int rank) const {
    const bool is_rank = static_cast<std::size_t>(rank) < targets_.size();
    return is_rank || rank == MPI_PROC_NULL ? base::Status() : not_a_rank(name, rank);
  }
  [[gnu::cold]] base::Status not_a_rank(const char* name, int rank) const;
  base::Status check_access(int rank) {
    const bool is_locked = (access_ == Access::kLocks || access_ == Access::kAll) && is_held(held(rank));
    return is_locked ? base::Status() : check_other_access(rank);
  }
  base::Status check_other_access(int rank);
  /// The place's offset in the target's part of the window; of a dynamic one it is the address.
  base::Status find_place(const Place& place, Count bytes, Count& offset);
  base::Status find_attached(const Place& place, Count bytes) const;
  /// The type of an accumulate's elements, and the operation on them; no kernel: MPI_REPLACE or MPI_NO_OP.
  struct Operation {
    const datatype::Datatype* element = nullptr;
    datatype::Kernel kernel = nullptr;
  };
  base::Status find_operation(const datatype::Layout& origin, const Place& place, datatype::PredefinedOp op,
                              Operation& found) const;
  [[gnu::cold]] base::Status not_committed(const Place& place) const;
  [[gnu::cold]] base::Status unequal(const Place& place, Count bytes) const;
  [[gnu::cold]] base::Status negative(const Place& place) const;
  [[gnu::cold]] base::Status out_of_range(const Place& place, Count first, Count bytes) const;
  [[gnu::cold]] base::Status not_in_epoch(int rank) const;
  /// mpiexec --check: fails if the access conflicts with one that is open. `element`: of accumulates.
  base::Status check_conflicts(OpenAccess::Kind kind, const Place& place, Count offset,
                               const datatype::Datatype* element = nullptr) {
    if (map_->conflicts == nullptr) [[likely]]
      return {};
    return add_access(kind, place, offset, element);
  }
  [[gnu::cold]] base::Status add_access(OpenAccess::Kind kind, const Place& place, Count offset,
                                        const datatype::Datatype* element);
  static datatype::Layout layout_at(const Target& target, const Place& place, Count offset);
  base::Status no_memory(const Place& place, Count offset) const;

  // Epochs.
  /// A fence of memory: what this thread has written before is there for others, and the reverse.
  static void order_memory() { std::atomic_thread_fence(std::memory_order_seq_cst); }
  /// The same for operations alone. Those that have only read need nothing more than to stay before what
  /// follows.
  static void order_operations() {
    if (!has_written_) return std::atomic_thread_fence(std::memory_order_acquire);
    has_written_ = false;
    order_memory();
  }
  /// Whether the calling thread has written to a window since its last order_operations(). If another one
  /// calls that for it, it has learnt of the operation, and with it of what was written.
  static inline constinit thread_local bool has_written_ = false;
  /// For programs built with ThreadSanitizer: loads and stores in the window before and after this are
  /// ordered, for all ranks of this process. By each call that orders them.
  void tell_sanitizer() const { tell_sanitizer_of_order(map_.get()); }
  base::Status check_assertions(int assertions, int allowed) const {
    return (assertions & ~allowed) == 0 ? base::Status() : wrong_assertions(assertions, allowed);
  }
  [[gnu::cold]] base::Status wrong_assertions(int assertions, int allowed) const;
  base::Status check_no_access(const char* what) const;
  /// The ranks of a group that the program has given to MPI_Win_start or MPI_Win_post: those of this process,
  /// and others. They are kept for the next call, because a program uses a few groups many times.
  struct Partners {
    base::Ref<const core::Group> group;
    std::vector<int> here, elsewhere;
  };
  base::Status find_partners(const core::Group& group, Partners& partners) const;
  bool has_called(EpochSignals::Call call, int rank);
  void await(EpochSignals::Call call, int rank);
  void await(EpochSignals::Call call, int rank, p2p::ReceiveOperation& note);
  void take_lock(LockType type, int rank);
  bool take_soon(LockType type, int rank);
  base::Status give_lock_back(LockType type, int rank);
  void wait_for_grant(LockType type, int rank);
  bool try_once(LockType type, int rank);
  base::Status release(int rank);
  [[gnu::cold]] base::Status not_locked(int rank) const;
  void make_held();
  /// MPI_Win_lock_all: the first operation on a rank takes its lock.
  void touch(int rank);
  /// MPI_Win_lock_all: takes the locks of the memory that the owner may load and store.
  void touch_addressed();
  /// The owner gets the address of a rank's memory.
  void add_addressed(int rank);
  std::atomic<Held>& held_at(int rank) const {
    // acquire: pairs with make_held().
    return held_.load(std::memory_order_acquire)[static_cast<std::size_t>(rank)];
  }
  Held held(int rank) const { return held_at(rank).load(std::memory_order_acquire); }
  /// Guards what the calls of MPI_Win_lock and MPI_Win_unlock change for the whole window: threads of the
  /// rank may lock different targets at the same time. A thread that is alone needs no lock. Not held while a
  /// thread waits.
  class EpochChange : base::LockUnlessAlone {
   public:
    explicit EpochChange(Window& window) : LockUnlessAlone(window.epoch_mutex_, window.owner.is_alone()) {}
  };

  // For origins that cannot reach this rank's memory. Any thread.
  void serve_lock(LockType type, int origin);
  void serve_unlock(LockType type);
  /// Whether the window has memory at this place of the owner.
  bool holds(const datatype::Layout& place);
  /// Whether the owner has attached any of these bytes.
  bool meets_attached(const datatype::Reach& reach);

  core::AccessCounters& counters_;
  base::Ref<WindowMap> map_;
  std::span<const Target> targets_;     // map_'s
  std::unique_ptr<Messages> messages_;  // null: every rank reaches every other one's memory
  std::unique_ptr<WindowChecks> checks_;

  // The access epoch. Threads of the rank read it during operations, while others of them lock and unlock
  // other targets; calls that begin or end another kind of epoch come one at a time (MPI-5.0 section 12.5).
  base::ShortMutex epoch_mutex_;  // of EpochChange
  std::atomic<Access> access_{Access::kNone};
  std::atomic<bool> fenced_{false};      // a fence has opened an epoch, which the next one ends
  std::atomic<bool> fence_used_{false};  // operations were called in it
  std::uint64_t fences_ = 0;
  bool all_unchecked_ = false;                     // MPI_Win_lock_all with MPI_MODE_NOCHECK
  std::atomic<std::atomic<Held>*> held_{nullptr};  // by rank; owned; made by the first lock
  int locks_ = 0;                                  // of kLocks; guarded by epoch_mutex_
  std::vector<int> touched_;      // of kAll: the ranks whose locks were needed; guarded by epoch_mutex_
  Partners started_;              // of kStarted
  std::vector<bool> is_started_;  // by rank; that of started_
  std::atomic<bool> waits_for_lock_{false};  // a thread of the rank does, in a queue

  /// The ranks whose memory the owner may load and store, in rising order: its own rank, and those that
  /// MPI_Win_shared_query has told it. Not of MPI_Win_allocate_shared, where it may do so with all.
  std::vector<int> addressed_;  // guarded by addressed_mutex_: threads of the rank may ask and lock
  base::ShortMutex addressed_mutex_;

  // The exposure epoch.
  bool posted_ = false;
  Partners exposed_;                                                 // while posted_
  std::vector<std::unique_ptr<p2p::ReceiveOperation>> completions_;  // of `exposed_.elsewhere`

  // For debuggers (facts.h): 1 + the rank whose lock, MPI_Win_post or MPI_Win_complete a call waits for; 0:
  // none does.
  std::atomic<std::int32_t> awaited_lock_{0}, awaited_post_{0}, awaited_complete_{0};
  /// Writes that down while a call waits.
  class NoteWait {
   public:
    NoteWait(std::atomic<std::int32_t>& awaited, int rank) : awaited_(awaited) {
      awaited_.store(1 + rank, std::memory_order_relaxed);
    }
    ~NoteWait() { awaited_.store(0, std::memory_order_relaxed); }
    NoteWait(const NoteWait&) = delete;
    NoteWait& operator=(const NoteWait&) = delete;

   private:
    std::atomic<std::int32_t>& awaited_;
  };

  std::vector<Attached::Piece> attached_;  // of a dynamic window: all; guarded by attached_mutex_
  base::ShortMutex attached_mutex_;

  [[maybe_unused]] const std::int32_t number_;    // of the owner, in the job; debuggers read it
  Window *next_ = nullptr, *previous_ = nullptr;  // among AllWindows
};

}  // namespace clump::rma
