// What ends a sleep before its time. Inside of this layer.
#pragma once

#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>

#include "image/signal_state.h"

namespace clump::image::signals {

/// Sleeps until a handler of the calling thread's has run (true), or until the time (false). While the thread
/// sleeps nothing else runs handlers, and they may leave by siglongjmp(). `handled`: the count of handlers
/// before the caller let signals in; a handler that has run since then ends the wait.
bool wait_for_handler(Thread& self, std::optional<std::chrono::steady_clock::time_point> until,
                      std::uint64_t handled);

/// A call that waits in the kernel with another mask meanwhile. What is pending with us and open by that mask
/// the kernel does not know: it ends the call before it begins.
class MaskedCall {
 public:
  /// Null: the mask stays.
  explicit MaskedCall(const sigset_t* mask);
  ~MaskedCall();
  MaskedCall(const MaskedCall&) = delete;
  MaskedCall& operator=(const MaskedCall&) = delete;

  /// A handler has run: the call fails with EINTR.
  bool was_interrupted() const { return was_interrupted_; }
  /// For the kernel.
  const sigset_t* mask() const { return mask_; }

 private:
  const sigset_t* mask_;
  sigset_t open_{};
  Thread* self_ = nullptr;  ///< null: the kernel knows all
  Set before_ = 0;
  bool was_interrupted_ = false;
};

/// `call` with the mask that the kernel shall have; its result.
template <typename Call>
int with_mask(const sigset_t* mask, Call call) {
  const MaskedCall masked(mask);
  if (!masked.was_interrupted()) return call(masked.mask());
  errno = EINTR;
  return -1;
}

}  // namespace clump::image::signals
