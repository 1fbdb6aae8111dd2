// Progress tasks: work that follows from the arrival of messages for ranks that are not running at that
// moment. It is done by the thread that delivered the last message, or by a thread that works for the rank's
// worker (Channel::submit()).
#pragma once

#include "base/mpsc_stack.h"

namespace clump::net {

/// Work to be done soon, by any thread. It never waits. Its owner keeps it alive until run() is called, once
/// for each submission; run() may delete it.
class ProgressTask {
 public:
  virtual void run() = 0;

 protected:
  ~ProgressTask() = default;

 private:
  friend class ProgressTaskList;
  friend class Holding;
  friend void run_here(ProgressTask* tasks);
  ProgressTask* next_ = nullptr;
};

/// Submitted tasks that no thread has taken yet.
class ProgressTaskList : public base::MpscStack<&ProgressTask::next_> {};

/// Runs linked tasks in the calling thread: at once, or when the current Holding or the task that is running
/// has ended. So tasks that submit others do not nest on the stack.
void run_here(ProgressTask* tasks);

/// While one lives, run_here() in the calling thread only notes its tasks; the end of the outermost one runs
/// them. For code that delivers messages and holds a lock.
class Holding {
 public:
  Holding() noexcept;
  ~Holding();
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;
};

}  // namespace clump::net
