// Helpers: kernel threads on cores that no worker has. They sleep until there is much to help with. A program
// with threads of its own needs most of these cores itself, so no helper stays awake for long.
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>

#include "base/thread_name.h"
#include "fiber/fiber.h"
#include "fiber/help.h"
#include "fiber/process_cores.h"
#include "fiber/switch.h"
#include "fiber/worker.h"

namespace clump::fiber {

namespace {

// How many empty looks at the board a helper makes before it sleeps again: they take as long as waking it,
// some microseconds.
constexpr int kLooks = 200;

class Helper {
 public:
  explicit Helper(std::vector<std::int32_t> cores) : cores_(std::move(cores)) {}
  bool start() { return start_kernel_thread(&Helper::begin, this); }

  /// Wakes the helper; false if it is awake.
  bool wake() noexcept {
    // relaxed: this is a hint, so the wake-up of a helper that is about to sleep may be lost.
    if (asleep_.load(std::memory_order_relaxed) == 0 || asleep_.exchange(0) == 0) return false;
    ::syscall(SYS_futex, &asleep_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    return true;
  }

 private:
  static void* begin(void* helper) {
    // The kernel would end the process without a report if a fault were blocked; and the memory may be that
    // of a rank that handles such faults.
    sigset_t blocked;
    ::sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) ::sigdelset(&blocked, fault);
    ::pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
    base::name_own_thread("helper");
    static_cast<Helper*>(helper)->run();
    return nullptr;
  }

  void run() {
    set_cores_of_this_thread(cores_);
    for (;;) {
      for (int looks = 0; looks < kLooks; ++looks) {
        if (help()) looks = 0;
        pause_cpu();
      }
      asleep_.store(1);
      while (asleep_.load() != 0) ::syscall(SYS_futex, &asleep_, FUTEX_WAIT_PRIVATE, 1, nullptr, nullptr, 0);
    }
  }

  const std::vector<std::int32_t> cores_;
  std::atomic<std::uint32_t> asleep_{0};
};

// Never destroyed, because helpers do not end.
std::vector<std::unique_ptr<Helper>>& helpers() {
  static auto& all = *new std::vector<std::unique_ptr<Helper>>;
  return all;
}

constinit std::atomic<int (*)()> in_parallel_region{nullptr};

}  // namespace

void ask_for_parallel_regions(int (*in_parallel)()) noexcept {
  in_parallel_region.store(in_parallel, std::memory_order_relaxed);
}

void start_helpers(int count, const std::vector<std::int32_t>& cores) {
  for (int i = 0; i < count; ++i) {
    auto& helper = helpers().emplace_back(std::make_unique<Helper>(cores));
    if (helper->start()) continue;
    helpers().pop_back();
    return;
  }
}

bool has_helpers() noexcept { return !helpers().empty(); }
int count_helpers() noexcept { return static_cast<int>(helpers().size()); }

void wake_helpers(int most) noexcept {
  const auto in_parallel = in_parallel_region.load(std::memory_order_relaxed);
  if (in_parallel != nullptr && in_parallel() != 0) return;
  for (Worker& worker : workers) {
    if (most == 0) return;
    if (worker.asleep->load(std::memory_order_relaxed) == 0) continue;  // relaxed: a hint
    worker.wake();
    --most;
  }
  // Helpers that share a part of the machine with the caller come first.
  const auto& all = helpers();
  const Fiber* const self = this_fiber();
  const std::size_t first =
      self != nullptr ? all.size() * static_cast<std::size_t>(self->home) / workers.size() : 0;
  for (std::size_t i = 0; i < all.size() && most > 0; ++i)
    if (all[(first + i) % all.size()]->wake()) --most;
}

}  // namespace clump::fiber
