#include "io/background.h"

#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "base/thread_name.h"
#include "fiber/awake_threads.h"
#include "fiber/worker.h"

namespace clump::io {

namespace {

// Several, so that a slow file keeps none of the others waiting; they sleep in the kernel nearly always.
constexpr int kMostThreads = 4;

class Background {
 public:
  bool add(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      if (idle_ <= static_cast<int>(queue_.size()) && threads_ < kMostThreads &&
          fiber::start_kernel_thread(&Background::begin, this))
        ++threads_;
      if (threads_ == 0) return false;
      fiber::thread_begins();
      queue_.push_back(std::move(work));
    }
    arrived_.notify_one();
    return true;
  }

  static Background& instance() {
    static auto& only = *new Background;  // its threads never end
    return only;
  }

 private:
  static void* begin(void* background) {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    base::name_own_thread("files");
    static_cast<Background*>(background)->run();
    return nullptr;
  }

  void run() {
    for (;;) {
      std::unique_lock lock(mutex_);
      ++idle_;
      arrived_.wait(lock, [&] { return !queue_.empty(); });
      --idle_;
      const std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      work();
      fiber::thread_ends();
    }
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> queue_;
  int threads_ = 0;
  int idle_ = 0;
};

}  // namespace

bool do_in_background(std::function<void()> work) { return Background::instance().add(std::move(work)); }

}  // namespace clump::io
