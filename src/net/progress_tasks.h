// What follows from the arrival of messages for ranks that are not there to see it: work that is done by
// whoever brought the last message, or by whoever works for the rank's worker (Channel::submit()).
#pragma once

#include <atomic>

namespace clump::net {

/// Work that somebody has to do soon. It never waits for anything. Its owner keeps it until run() is called,
/// which may be by any thread, once for each time that it was left; run() may end it.
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

/// Tasks that wait for somebody who has time. Any thread.
class ProgressTaskList {
 public:
  bool empty() const noexcept { return newest_.load(std::memory_order_relaxed) == nullptr; }
  void push(ProgressTask& task) noexcept {
    task.next_ = newest_.load(std::memory_order_relaxed);
    // release: pairs with the acquire in take_all().
    while (!newest_.compare_exchange_weak(task.next_, &task, std::memory_order_release,
                                          std::memory_order_relaxed)) {
    }
  }
  /// All of them, linked, the oldest first; null if there are none.
  ProgressTask* take_all() noexcept {
    ProgressTask* oldest = nullptr;
    for (ProgressTask* task = newest_.exchange(nullptr, std::memory_order_acquire); task != nullptr;) {
      ProgressTask* const next = task->next_;
      task->next_ = oldest;
      oldest = task;
      task = next;
    }
    return oldest;
  }

 private:
  std::atomic<ProgressTask*> newest_{nullptr};
};

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
