// How a fiber waits for a thread that its rank made. The C library's pthread_join() blocks the kernel thread,
// and with it all fibers of the worker, until the monitor takes the worker away: a rank that makes and joins
// threads all the time would make every other one wait for that.
#pragma once

#include <pthread.h>

#include "base/ref.h"
#include "fiber/completion.h"

namespace clump::image {

/// The end of one thread that a rank makes. Its maker and the thread hold it.
class ThreadEnd final : public base::RefCounted {
 public:
  /// The maker says which thread it is about; from now on it can be waited for, unless it has ended already.
  void is_of(pthread_t thread);
  /// The thread's last word. It is found no more, as the C library may give its name to another thread.
  void comes();
  /// Returns when the thread has ended, or nearly; at once for a thread that is not known (any more), and
  /// where the caller is no fiber, or its run is explored.
  static void wait_for(pthread_t thread);

 private:
  fiber::Completion over_;
  pthread_t thread_{};  // under the mutex of all of them, as what follows
  bool known_ = false;
  bool ended_ = false;
};

}  // namespace clump::image
