// The handlers that a rank has given to pthread_atfork(). fork() in a rank runs that rank's, and no other's.
#pragma once

namespace clump::image {

class Image;

namespace fork_handlers {

/// Around fork() in the calling rank: newest first before it, oldest first after it, as POSIX says. A handler
/// may register others; they take part from the next fork() on.
class AroundFork {
 public:
  AroundFork();
  AroundFork(const AroundFork&) = delete;
  AroundFork& operator=(const AroundFork&) = delete;
  /// With what fork() has returned. An error is the parent's.
  void after(int child);

 private:
  struct State;
  State* state_ = nullptr;  ///< null if the rank has no handlers
};

/// The object with this __dso_handle is unloaded.
void forget(Image& image, const void* object);

}  // namespace fork_handlers
}  // namespace clump::image
