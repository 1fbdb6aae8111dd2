// Error handlers (MPI-5.0 section 9.3).
#pragma once

#include <string>

#include "base/mutex.h"
#include "base/ref.h"
#include "base/status.h"

namespace clump::core {

class Errhandler final : public base::RefCounted {
 public:
  enum class Action { kFatal, kAbort, kReturn, kComm, kWin, kFile, kSession };
  /// Any of the user's functions: MPI_Comm_errhandler_function, ... as `action` says.
  using Function = void (*)(void* handle, int* error_code, ...);

  explicit Errhandler(Action action, Function function = nullptr) : action(action), function(function) {}

  const Action action;
  const Function function;

  /// The value that the user holds. Each MPI_Comm_get_errhandler gives out the same value again; it is valid
  /// until it was freed as often as it was given out, which `given_out` counts (user's handlers only).
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
  int given_out = 0;

  /// Whether the user gave the function; false: it is one of the predefined handlers.
  bool is_users() const { return function != nullptr; }
  /// Whether it may be set on objects of `kind` (kComm, kWin, kFile or kSession); a predefined one may be on
  /// all.
  bool suits(Action kind) const { return !is_users() || action == kind; }
  /// Calls the user's function on the calling thread, and returns the error code that the function leaves.
  /// `handle` points to the MPI_Comm, MPI_Win, MPI_File or MPI_Session, as `action` says. Only if is_users().
  /// The function may call MPI, and it may not return. It may also free the handler or set another one, so
  /// the caller holds a Ref to this object meanwhile.
  int call(void* handle, int error_code) const;

  // The predefined handlers, one object each for all ranks of the process. Any thread.
  static base::Ref<Errhandler> fatal();    ///< MPI_ERRORS_ARE_FATAL
  static base::Ref<Errhandler> abort();    ///< MPI_ERRORS_ABORT
  static base::Ref<Errhandler> returns();  ///< MPI_ERRORS_RETURN
};

/// The error handler of a communicator, session, ...: any thread may set it while others use it.
class ErrhandlerSlot {
 public:
  explicit ErrhandlerSlot(base::Ref<Errhandler> errhandler);
  /// The handler; never null. It lives at least as long as the result is held.
  base::Ref<Errhandler> get() const;
  void set(base::Ref<Errhandler> errhandler);

 private:
  mutable base::ShortMutex mutex_;
  base::Ref<Errhandler> errhandler_;
};

}  // namespace clump::core
