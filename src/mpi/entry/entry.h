// What every generated entry point does around its body (gen/clump_gen/entries.py writes them into
// <build>/gen/entry_*.cc). MPI_Send is a weak alias of PMPI_Send, so that tools can put themselves in between
// (MPI-5.0 section 15.2).
//
// clang-format off
//   int PMPI_Send(...) {
//     Call call("MPI_Send");
//     const base::Status outcome = [&]() -> base::Status {
//       CLUMP_TRY(call.enter());                                // which rank is this, and may it call MPI now?
//       CLUMP_TRY(check::comm(call, {"comm", comm}, the_comm)); // entry/entry_checks.h; from here on the error handler
//       ...                                                     // is that of this communicator
//       return send(*call.self, ...);                           // the body, declared in <build>/gen/mpi/bodies.h
//     }();                                                      // and written in src/mpi/<chapter>.cc
//     return outcome.ok() ? MPI_SUCCESS : call.raise(outcome);
//   }
// clang-format on
//
// Where the calls of the rank are recorded (--profile) or checked (--check), enter() fails, and the entry
// point does the same once more, out of the way, inside a Recording (trace/recording.h) or a Checking
// (check/checking.h). Otherwise this costs nothing.
//
// Any thread of a rank may call; no exception comes out of a body.
#pragma once

#include "base/status.h"
#include "base/types.h"
#include "core/comm.h"
#include "core/errhandler.h"
#include "core/file.h"
#include "core/rank.h"
#include "core/session.h"
#include "core/window.h"

namespace clump::instruments {
class Tool;
}

namespace clump::mpi {

/// Whose error handler a failure of a call is told to: the first of these that is not null.
struct ErrorTarget {
  ErrorTarget(std::nullptr_t = nullptr) {}                       // NOLINT: nobody
  ErrorTarget(core::Comm* comm) : comm(comm) {}                  // NOLINT: as the user sees it
  ErrorTarget(core::Session* session) : session(session) {}      // NOLINT
  ErrorTarget(core::Window* window) : window(window) {}          // NOLINT
  ErrorTarget(core::File* file) : file(file), of_files(true) {}  // NOLINT

  core::Errhandler* errhandler = nullptr;  ///< an argument of the call, of an object that it was to make
  core::Comm* comm = nullptr;
  core::Session* session = nullptr;
  core::Window* window = nullptr;
  core::File* file = nullptr;
  /// The call is about files: where there is no file, the error handler is that of MPI_FILE_NULL.
  bool of_files = false;
};

/// Reports a failure of `call` as MPI-5.0 section 9.3 says: puts the name of the call in front of the
/// message, calls the error handler of who is concerned, and returns the code that the call has to return.
/// Where nobody is, the handler is MPI_COMM_SELF's; outside of MPI_Init and MPI_Finalize it is the initial
/// one, which ends the job. `self` may be null.
[[gnu::cold]] int raise(core::Rank* self, const ErrorTarget& target, const char* call, base::Status status);

/// Calls the function of a user's error handler, and returns the code that the function leaves. The function
/// may leave by longjmp() or an exception: the calling thread is in no call of MPI, as records and checks see
/// it, while the function runs. `self` may be null.
[[gnu::cold]] int call_handler(core::Rank* self, const core::Errhandler& handler, void* handle, int code);

inline int raise(core::Rank& self, const ErrorTarget& target, const char* call, base::Status status) {
  return raise(&self, target, call, status);
}

/// One call of an entry point. Lives in registers of the caller, as its address is given to nobody who is not
/// inline there.
struct Call {
  explicit Call(const char* name) : name(name) {}

  const char* const name;
  core::Rank* self = nullptr;
  ErrorTarget target;
  /// Nothing was done: it is to be done inside of a Recording, or of a Checking.
  enum class SlowPath : std::uint8_t { kNone, kRecorded, kChecked };
  SlowPath slow_path = SlowPath::kNone;
  /// Whether the function is one of those that there are inside of a Checking.
  enum class Form : std::uint8_t { kOnly, kUnchecked };

  /// For most functions: between MPI_Init and MPI_Finalize of this rank, or while it has a session.
  [[gnu::always_inline]] base::Status enter(Form form = Form::kOnly) {
    core::Rank* const rank = core::current_rank();
    // relaxed: a rank's own threads are ordered after its MPI_Init by whatever started them.
    if (rank == nullptr || rank->users.load(std::memory_order_relaxed) == 0) [[unlikely]] {
      const Early early = not_ready();
      self = early.self;
      return early.why;
    }
    self = rank;
    if (rank->pending_events.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      slow_path = attend(*rank, form);
      if (slow_path != SlowPath::kNone) return base::Status::from_code(MPI_ERR_OTHER);
      CLUMP_TRY(may_call(*rank));
    }
    rank->call.store(name, std::memory_order_relaxed);  // relaxed: only read for messages
    return {};
  }
  /// For functions that can be called at any time (MPI-5.0 section 11.4.1) but work on objects of the rank.
  [[gnu::always_inline]] base::Status enter_anytime(Form form = Form::kOnly) {
    self = core::current_rank();
    if (self != nullptr) [[likely]] {
      if (form == Form::kOnly || !is_checked(*self)) [[likely]]
        return {};
      slow_path = SlowPath::kChecked;
      return base::Status::from_code(MPI_ERR_OTHER);
    }
    const Early early = enter_early();
    self = early.self;
    return early.why;
  }
  /// For functions that test or probe, after enter(): a rank may call them again and again while it waits.
  void note_poll() const { self->polls.store(true, std::memory_order_relaxed); }  // relaxed: only for reports
  /// For functions that can be called by anybody at any time: `self` may stay null.
  void enter_always() { self = core::current_rank(); }

  [[gnu::always_inline]] int raise(base::Status status) const {
    const ErrorTarget copy = target;
    return mpi::raise(self, copy, name, status);
  }

 private:
  /// What turns out where not everything is as usual.
  struct Early {
    core::Rank* self;
    base::Status why;
  };
  [[gnu::cold]] static Early not_ready();
  static bool is_checked(const core::Rank& rank) {
    return (rank.pending_events.load(std::memory_order_relaxed) & core::Rank::kChecked) != 0;
  }
  /// MPI_ERR_OTHER if the calls are watched, and this thread may not make one now: the program has asked for
  /// a lower thread level (MPI-5.0 section 11.6.2).
  [[gnu::cold]] static base::Status may_call(const core::Rank& rank);
  /// Tells what events there are; whether the call is to be recorded, and is not yet, or to be checked.
  static SlowPath attend(core::Rank& rank, Form form);
  [[gnu::cold]] static Early enter_early();
};

/// What entry points of the tool information interface begin with: tells what events there are. Null if the
/// rank is not between MPI_T_init_thread and MPI_T_finalize; then they return no_tool().
instruments::Tool* enter_tool();
base::Status no_tool();

/// What an entry point without a body does, for functions with and without a communicator.
[[gnu::cold]] int missing(const char* call);
[[gnu::cold]] int missing(const char* call, MPI_Comm comm);

/// An output of the user whose width depends on whether the call was MPI_X or MPI_X_c; bodies get a Count*
/// instead.
class CountOut {
 public:
  CountOut(int* data) : data_(data) {}                        // NOLINT: as the user's argument
  CountOut(std::int64_t* data) : data_(data), wide_(true) {}  // NOLINT

  const void* data() const { return data_; }
  Count load() const { return wide_ ? *static_cast<std::int64_t*>(data_) : *static_cast<int*>(data_); }
  /// MPI_UNDEFINED where the value does not fit, as the standard says of functions that tell a size or a
  /// count.
  void store_or_undefined(Count value) const {
    if (wide_)
      *static_cast<std::int64_t*>(data_) = value;
    else
      *static_cast<int*>(data_) = fits(value) ? static_cast<int>(value) : MPI_UNDEFINED;
  }
  /// MPI_ERR_VALUE_TOO_LARGE where the value does not fit.
  base::Status store(const char* name, Count value) const {
    if (!wide_ && !fits(value)) [[unlikely]]
      return too_large(name, value);
    store_or_undefined(value);
    return {};
  }

 private:
  static bool fits(Count value) { return value == static_cast<int>(value); }
  [[gnu::cold]] static base::Status too_large(const char* name, Count value);
  void* data_;
  bool wide_ = false;
};

}  // namespace clump::mpi
