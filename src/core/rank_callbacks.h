// Rank callbacks: tasks that only threads of one rank may run, because they call functions of its program.
#pragma once

#include "fiber/rank_callbacks.h"
#include "net/progress_tasks.h"

namespace clump::core {

class RankCallbacks final : public fiber::RankCallbacks {
 public:
  /// Leaves a task for the rank's threads. Any thread.
  void submit(net::ProgressTask& task) {
    tasks_.push(task);
    call();
  }
  bool any() const noexcept override { return !tasks_.empty(); }
  void run() override {
    if (any()) net::run_here(tasks_.take_all());
  }

 private:
  net::ProgressTaskList tasks_;
};

}  // namespace clump::core
