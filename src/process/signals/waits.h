// Waits that signals end before their time. For this layer only.
#pragma once

#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>

#include "process/signals/state.h"

namespace clump::image::signals {

/// Sleeps until a handler of the calling thread has run (true), or until the time is up (false). Meanwhile
/// only the thread itself runs handlers, so they may leave by siglongjmp(). `handled`: the count of handlers
/// before the caller allowed signals; a handler that has run since then ends the wait.
bool wait_for_handler(Thread& self, std::optional<std::chrono::steady_clock::time_point> until,
                      std::uint64_t handled);

/// A call that waits in the kernel with another mask meanwhile. The kernel does not know signals that are
/// pending in Clump; if the mask allows one of them, it ends the call before it begins.
class MaskedCall {
 public:
  /// Null: the mask stays as it is.
  explicit MaskedCall(const sigset_t* mask);
  /// Runs handlers, which may end the thread.
  ~MaskedCall() noexcept(false);
  MaskedCall(const MaskedCall&) = delete;
  MaskedCall& operator=(const MaskedCall&) = delete;

  /// Whether a handler has run: then the call fails with EINTR.
  bool was_interrupted() const { return was_interrupted_; }
  /// The mask for the kernel.
  const sigset_t* mask() const { return mask_; }

 private:
  const sigset_t* mask_;
  sigset_t open_{};
  Thread* self_ = nullptr;  ///< null: the kernel knows all pending signals
  Set before_ = 0;
  bool was_interrupted_ = false;
};

/// Makes `call` with the mask that the kernel needs, and returns its result.
template <typename Call>
int with_mask(const sigset_t* mask, Call call) {
  const MaskedCall masked(mask);
  if (!masked.was_interrupted()) return call(masked.mask());
  errno = EINTR;
  return -1;
}

}  // namespace clump::image::signals
