// The handlers that a rank has given to pthread_atfork(). fork() in a rank runs only the handlers of that
// rank.
#pragma once

namespace clump::image {

class Image;

namespace fork_handlers {

/// Runs the handlers around fork() in the calling rank: the newest first before it, the oldest first after
/// it, as POSIX requires. A handler may register others; they take part from the next fork() on.
class AroundFork {
 public:
  AroundFork();
  AroundFork(const AroundFork&) = delete;
  AroundFork& operator=(const AroundFork&) = delete;
  /// Runs the handlers for the result of fork(). An error is the parent's.
  void after(int child);

 private:
  struct State;
  State* state_ = nullptr;  ///< null if the rank has no handlers
};

/// Removes the handlers of an object that is unloaded; `object` is its __dso_handle.
void forget(Image& image, const void* object);

}  // namespace fork_handlers
}  // namespace clump::image
