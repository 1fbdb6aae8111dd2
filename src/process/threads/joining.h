// How a fiber waits for the end of a thread that its rank has made. The C library's pthread_join() blocks the
// kernel thread, and with it all fibers of the worker, until the monitor takes the worker away: a rank that
// makes and joins threads all the time would delay all others.
#pragma once

#include <pthread.h>

#include "base/ref.h"
#include "fiber/completion.h"
#include "process/threads/thread_table.h"

namespace clump::image {

/// The end of one thread that a rank makes. The thread holds a reference, and so do those that wait for it.
class ThreadEnd final : public base::RefCounted {
 public:
  /// Called by the thread that makes another one, before the other can run: wait_for() waits until it has
  /// begun, and is known.
  static void announce();
  /// Called instead of begins(), by the same thread, if the other could not be made.
  static void withdraw();
  /// Called by the thread as the first thing that it does, before it may take memory. From now on wait_for()
  /// finds it.
  void begins();
  /// Called by the thread as the last thing that it does. wait_for() does not find it any more, as the C
  /// library may give its pthread_t to another thread.
  void comes();
  /// Returns when the thread has ended, or has almost ended. Returns at once for an unknown thread, and if
  /// the caller is no fiber, or its run is explored.
  static void wait_for(pthread_t thread);

 private:
  friend class ThreadTable<ThreadEnd>;

  fiber::Completion over_;
  // All threads of the process may use these, with the lock of the table.
  pthread_t thread_{};
  base::Ref<ThreadEnd> self_;  // while it is in the table of those that run
  ThreadEnd* next_ = nullptr;
  ThreadEnd** link_ = nullptr;
};

}  // namespace clump::image
