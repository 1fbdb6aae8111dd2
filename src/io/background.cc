#include "io/background.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "base/thread_name.h"
#include "fiber/awake_threads.h"
#include "fiber/exploration.h"
#include "fiber/process_cores.h"
#include "fiber/worker.h"

namespace clump::io {

namespace {

// Several, so that a slow file keeps none of the others waiting; they sleep in the kernel nearly always. More
// if there are more cores, as a thread may be copying.
constexpr int kLeastThreads = 4, kMostThreads = 64;
// How long a thread that is to help looks for a loop: the caller begins it while the thread is woken.
constexpr std::chrono::microseconds kLook{100};

class Background {
 public:
  bool add(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      if (idle_ <= static_cast<int>(queue_.size()) && threads_ < most_threads_ &&
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

  const int most_threads_ = std::clamp(fiber::count_cores_of_process(), kLeastThreads, kMostThreads);
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> queue_;
  int threads_ = 0;
  int idle_ = 0;
};

void help_for_a_while() {
  using Clock = std::chrono::steady_clock;
  for (auto until = Clock::now() + kLook; Clock::now() < until;)
    if (fiber::help()) until = Clock::now() + kLook;
}

}  // namespace

bool do_in_background(std::function<void()> work) { return Background::instance().add(std::move(work)); }

void ask_for_help(std::uint32_t parts) {
  if (parts < 2 || fiber::exploration::is_on) return;
  const auto wanted = static_cast<int>(std::min<std::uint32_t>(parts - 1, kMostThreads));
  fiber::wake_helpers(wanted);
  // Where ranks are kernel threads there are no workers, and the caller has a core, too.
  const int free = std::min(fiber::count_cores_without_helper(), fiber::count_cores_of_process() - 1);
  for (int i = 0; i < std::min(wanted, free); ++i)
    if (!do_in_background(help_for_a_while)) return;
}

}  // namespace clump::io
