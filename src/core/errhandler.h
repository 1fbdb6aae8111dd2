// Error handlers (MPI-5.0 section 9.3).
#pragma once

#include <string>

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

  static base::Ref<Errhandler> fatal();    ///< MPI_ERRORS_ARE_FATAL
  static base::Ref<Errhandler> abort();    ///< MPI_ERRORS_ABORT
  static base::Ref<Errhandler> returns();  ///< MPI_ERRORS_RETURN
};

}  // namespace clump::core
