#include "net/progress_tasks.h"

namespace clump::net {

namespace {

/// The tasks that the calling thread of control is going to run.
struct Noted {
  ProgressTask* first = nullptr;
  ProgressTask* last = nullptr;
  int holdings = 0;
};
constinit thread_local Noted noted;

}  // namespace

void run_here(ProgressTask* tasks) {
  if (tasks == nullptr) return;
  const Holding holding;
  (noted.first == nullptr ? noted.first : noted.last->next_) = tasks;
  while (tasks->next_ != nullptr) tasks = tasks->next_;
  noted.last = tasks;
}

Holding::Holding() noexcept { ++noted.holdings; }

Holding::~Holding() {
  while (noted.holdings == 1 && noted.first != nullptr) {
    ProgressTask& task = *noted.first;
    noted.first = task.next_;
    task.next_ = nullptr;
    task.run();
  }
  --noted.holdings;
}

}  // namespace clump::net
