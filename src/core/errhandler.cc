#include "core/errhandler.h"

#include <mutex>
#include <utility>

namespace clump::core {

namespace {

/// Calls `function` with the type that it had before it was stored as Errhandler::Function.
template <typename Original, typename Handle>
void call_as(Errhandler::Function function, void* handle, int* error_code) {
  reinterpret_cast<Original*>(function)(static_cast<Handle*>(handle), error_code);
}

/// Never destroyed: ranks may raise errors while the process destroys its static objects.
const base::Ref<Errhandler>* predefined(Errhandler::Action action, MPI_Errhandler handle) {
  const auto* const handler = new base::Ref<Errhandler>(new Errhandler(action));
  (*handler)->handle = handle;
  return handler;
}

}  // namespace

int Errhandler::call(void* handle, int error_code) const {
  switch (action) {
    case Action::kComm:
      call_as<MPI_Comm_errhandler_function, MPI_Comm>(function, handle, &error_code);
      break;
    case Action::kWin:
      call_as<MPI_Win_errhandler_function, MPI_Win>(function, handle, &error_code);
      break;
    case Action::kFile:
      call_as<MPI_File_errhandler_function, MPI_File>(function, handle, &error_code);
      break;
    case Action::kSession:
      call_as<MPI_Session_errhandler_function, MPI_Session>(function, handle, &error_code);
      break;
    case Action::kFatal:
    case Action::kAbort:
    case Action::kReturn:
      break;
  }
  return error_code;
}

base::Ref<Errhandler> Errhandler::fatal() {
  static const auto* const handler = predefined(Action::kFatal, MPI_ERRORS_ARE_FATAL);
  return *handler;
}

base::Ref<Errhandler> Errhandler::abort() {
  static const auto* const handler = predefined(Action::kAbort, MPI_ERRORS_ABORT);
  return *handler;
}

base::Ref<Errhandler> Errhandler::returns() {
  static const auto* const handler = predefined(Action::kReturn, MPI_ERRORS_RETURN);
  return *handler;
}

ErrhandlerSlot::ErrhandlerSlot(base::Ref<Errhandler> errhandler) : errhandler_(std::move(errhandler)) {}

base::Ref<Errhandler> ErrhandlerSlot::get() const {
  const std::lock_guard lock(mutex_);
  return errhandler_;
}

void ErrhandlerSlot::set(base::Ref<Errhandler> errhandler) {
  const std::lock_guard lock(mutex_);
  std::swap(errhandler_, errhandler);  // the old handler is released by the argument, after the lock
}

}  // namespace clump::core
