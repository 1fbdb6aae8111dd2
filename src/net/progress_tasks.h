// Progress tasks: work that follows from the arrival of messages for ranks that are not there to see it. The
// thread that brought the last message does it, or a thread that works for the rank's worker
// (Channel::submit()).
#pragma once

#include "base/mpsc_stack.h"

namespace clump::net {

/// Work to be done soon, by any thread. It never waits for anything. Its owner keeps it until run() is
/// called, once for each time that it was submitted; run() may end it.
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

/// Tasks that wait for a thread that has time for them.
class ProgressTaskList : public base::MpscStack<&ProgressTask::next_> {};

/// Runs linked tasks in the calling thread: now, or when the Holding or the task that it is in the middle of
/// is over. So tasks that make others possible do not pile up on the stack.
void run_here(ProgressTask* tasks);

/// While one lives, run_here() of the calling thread only takes note of its tasks; the outermost one's end
/// runs them. For code that delivers messages and holds a lock.
class Holding {
 public:
  Holding() noexcept;
  ~Holding();
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;
};

}  // namespace clump::net
