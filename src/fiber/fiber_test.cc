#include "fiber/fiber.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <cfenv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fiber/awake_threads.h"
#include "fiber/completion.h"
#include "fiber/own_worker.h"
#include "fiber/process_cores.h"
#include "fiber/rank_callbacks.h"
#include "fiber/worker.h"
#include "fiber/world_stop.h"

namespace clump::fiber {
namespace {

using namespace std::chrono_literals;

constexpr int kWorkers = 2;
using Clock = std::chrono::steady_clock;

/// The workers of this process begin with the first test and stay.
void need_workers() {
  static const bool started = [] {
    return make_workers(std::vector<std::int32_t>(kWorkers, -1), 4096, nullptr) && start_workers();
  }();
  ASSERT_TRUE(started);
}

/// Runs `body(i)` in `count` fibers, in blocks over the workers, and waits for their ends.
class Fibers {
 public:
  Fibers(int count, std::function<void(int)> body) : body_(std::move(body)), left_(count) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    for (int i = 0; i < count; ++i) {
      thread_begins();
      pthread_t thread;
      EXPECT_EQ(pthread_create(&thread, nullptr, &Fibers::begin, new Start{this, i, i * kWorkers / count}),
                0);
      pthread_detach(thread);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Fibers() { all_ended_.wait(); }

 private:
  struct Start {
    Fibers* fibers;
    int index, home;
  };
  static void* begin(void* argument) {
    const std::unique_ptr<Start> start(static_cast<Start*>(argument));
    become_fiber(start->home, nullptr);
    Fibers& all = *start->fibers;
    all.body_(start->index);
    if (all.left_.fetch_sub(1) == 1) all.all_ended_.signal();
    end_here();
  }

  const std::function<void(int)> body_;
  std::atomic<int> left_;
  Completion all_ended_;
};

TEST(Fiber, KeepsItsThreadLocalStorageAndRoundingMode) {
  need_workers();
  static thread_local int mine = -1;
  static thread_local std::unique_ptr<int> object;
  Fibers(32, [](int i) {
    mine = i;
    object = std::make_unique<int>(i);
    errno = 1000 + i;
    constexpr int kModes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    std::fesetround(kModes[i % 4]);
    const pthread_t self = pthread_self();
    for (int round = 0; round < 200; ++round) {
      if (round % 50 == 0)
        sleep_until(std::chrono::steady_clock::now() + 1ms);
      else
        yield();
      ASSERT_EQ(mine, i);
      ASSERT_EQ(*object, i);
      ASSERT_EQ(errno, 1000 + i);
      ASSERT_EQ(std::fegetround(), kModes[i % 4]);
      ASSERT_TRUE(pthread_equal(self, pthread_self()));
    }
  });
}

TEST(Fiber, HandsATurnToAndFro) {
  need_workers();
  constexpr int kTurns = 100'000;
  for (const int apart : {0, 1}) {  // on one worker, on two
    std::vector<Completion> turns(kTurns + 1);
    turns[0].signal();
    Fibers(4, [&](int i) {
      const int player = apart != 0 ? (i == 0 ? 0 : i == 2 ? 1 : -1) : (i < 2 ? i : -1);
      if (player < 0) return;
      for (int turn = player; turn < kTurns; turn += 2) {
        turns[turn].wait();
        turns[turn + 1].signal();
      }
    });
  }
}

// The monitor looks after what has come in for workers that are busy. While it does, no rank may be awake,
// and it is no deadlock.
TEST(Fiber, TheMonitorBringsWhatOthersSleepFor) {
  need_workers();
  static std::atomic<int> left;
  static std::atomic<bool> alarm;
  static Completion* waited_for;
  std::vector<Completion> brought(kWorkers);
  left = 0;
  alarm = false;
  waited_for = brought.data();
  thread_begins();  // this thread waits, too, so it is counted like them
  on_deadlock([] { alarm = true; });
  on_progress([](int) {
    int all = kWorkers;  // once only: after it nothing here may be touched any more
    if (this_fiber() != nullptr || !left.compare_exchange_strong(all, 0)) return false;
    std::this_thread::sleep_for(100ms);
    for (int i = 0; i < kWorkers; ++i) waited_for[i].signal();
    return true;
  });
  Fibers(kWorkers, [&](int i) {
    ++left;
    while (left != 0) {
    }
    brought[i].wait();
  });
  on_progress(nullptr);
  on_deadlock(nullptr);
  thread_ends();
  EXPECT_FALSE(alarm);
}

// A worker that looks around after a nap wakes by itself: the monitor must come back with it.
TEST(Fiber, OthersRunBesideABusyOneThatCameAfterANap) {
  need_workers();
  static Clock::time_point begin;
  static std::atomic<bool> brought[kWorkers];
  static Completion* waited_for;  // two of each worker
  std::vector<Completion> completions(2 * kWorkers);
  waited_for = completions.data();
  static constexpr auto bring = [](int worker) {
    if (brought[worker].exchange(true)) return false;
    waited_for[2 * worker].signal();
    waited_for[2 * worker + 1].signal();
    return true;
  };
  for (auto& one : brought) one = false;
  begin = Clock::now();
  // By then the monitor has seen all asleep, and there is a nap to come.
  on_progress([](int worker) { return Clock::now() - begin > 16ms && bring(worker); });
  std::atomic<int> done{0};
  Fibers fibers(2 * kWorkers, [&](int i) {
    completions[i].wait();
    ++done;
    while (done < 2 * kWorkers && Clock::now() - begin < 30s) {
    }
    EXPECT_EQ(done, 2 * kWorkers);
  });
  std::this_thread::sleep_for(300ms);
  on_progress(nullptr);
  for (int worker = 0; worker < kWorkers; ++worker) bring(worker);  // those who have slept too well
}

TEST(Fiber, IsWokenByAKernelThread) {
  need_workers();
  constexpr int kMany = 64;
  std::vector<Completion> there(kMany), back(kMany);
  Fibers fibers(kMany, [&](int i) {
    there[i].wait();
    back[i].signal();
  });
  for (int i = kMany; i-- > 0;) {
    there[i].signal();
    back[i].wait();
  }
}

// Whether it waits by then, is about to, or goes on: call() finds it. One that computes leaves them to a
// kernel thread of its rank that waits.
TEST(Fiber, RunsCallbacksOfItsRankWhileItWaits) {
  need_workers();
  static struct final : RankCallbacks {
    bool any() const noexcept override { return left.load() > done.load(); }
    void run() override {
      for (int before = done.load(); before < left.load();)
        if (done.compare_exchange_weak(before, before + 1)) ran_in_fiber = this_fiber() != nullptr;
    }
    void submit_and_await() {
      const int number = ++left;
      call();
      while (done.load() < number) std::this_thread::yield();
    }
    std::atomic<int> left{0}, done{0};
    std::atomic<bool> ran_in_fiber{false};
  } callbacks;
  static Identity rank;
  callbacks.belong_to(rank);
  constexpr int kRounds = 300;
  std::vector<Completion> waits(kRounds);
  Completion first, computes, beside;
  std::atomic<bool> begun{false}, over{false};
  std::thread thread([&] {
    adopt_identity(&rank);
    beside.wait();
  });
  while (sleeping_threads() == 0) std::this_thread::yield();
  {
    const Fibers fibers(1, [&](int) {
      adopt_identity(&rank);
      begun = true;
      first.wait();
      computes.signal();
      while (!over.load()) std::this_thread::sleep_for(1ms);
      for (Completion& one : waits) one.wait();
    });
    while (!begun.load()) std::this_thread::yield();
    std::this_thread::sleep_for(10ms);  // until the fiber sleeps; if it sleeps later, nothing is wrong
    first.signal();
    computes.wait();
    callbacks.submit_and_await();
    EXPECT_FALSE(callbacks.ran_in_fiber);
    over = true;
    beside.signal();
    thread.join();
    for (Completion& one : waits) {
      callbacks.submit_and_await();
      EXPECT_TRUE(callbacks.ran_in_fiber);
      one.signal();
    }
  }
}

// While a thread of a rank polls, what comes wakes no worker; but it does while the thread works for long.
TEST(Fiber, TheWorkerTakesInWhatComesWhileAPollingThreadWorks) {
  need_workers();
  static Identity rank;
  static std::atomic<bool> has_worked, is_left;
  static constexpr auto leave_and_await = [](void (*begin)()) {
    std::this_thread::sleep_for(200ms);  // until the worker sleeps without a limit
    while (workers[0].asleep->load() == 0) std::this_thread::yield();
    is_left = true;
    wake_worker(0);
    begin();
    const auto limit = Clock::now() + 20s;
    while (is_left && Clock::now() < limit) std::this_thread::yield();
    EXPECT_FALSE(is_left);
  };
  has_worked = is_left = false;
  rank.home = 0;
  on_progress([](int worker) {
    if (worker != 0) return false;
    if (identity() != &rank) return is_left.exchange(false);
    if (has_worked.exchange(true)) return false;
    leave_and_await(begin_long_work);
    leave_and_await([] {});
    return true;
  });
  Completion over;
  std::thread thread([&] {
    adopt_identity(&rank);
    over.wait();
  });
  while (!has_worked) std::this_thread::yield();
  over.signal();
  thread.join();
  on_progress(nullptr);
}

TEST(Fiber, WaitsForAnyOfMany) {
  need_workers();
  constexpr int kRounds = 2000;
  std::vector<Completion> first(kRounds), second(kRounds), seen(kRounds);
  Fibers(2, [&](int i) {
    for (int round = 0; round < kRounds; ++round) {
      if (i == 1) {
        (round % 3 == 0 ? second : first)[round].signal();
        seen[round].wait();
        (round % 3 == 0 ? first : second)[round].signal();
      } else {
        std::vector<Completion*> both{&first[round], &second[round]};
        wait_any(both);
        ASSERT_EQ(first[round].done(), round % 3 != 0);
        seen[round].signal();
        first[round].wait();
        second[round].wait();
      }
    }
  });
}

TEST(Fiber, SleepsAboutAsLongAsItSays) {
  need_workers();
  Fibers(16, [](int i) {
    const auto start = std::chrono::steady_clock::now();
    sleep_until(start + 5ms * i);
    EXPECT_GE(std::chrono::steady_clock::now() - start, 5ms * i);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 5ms * i + 10s);
  });
}

// Every fiber but the last spins until the last one has run, and there are more of them than workers.
TEST(Fiber, ThatSpinsDoesNotKeepOthersFromRunning) {
  need_workers();
  std::atomic<int> arrived{0};
  constexpr int kSpinners = 6;
  Fibers(kSpinners, [&](int) {
    arrived.fetch_add(1);
    while (arrived.load() < kSpinners) {
    }
  });
}

TEST(Fiber, BlockedInTheKernelDoesNotKeepOthersFromRunning) {
  need_workers();
  constexpr int kMany = 8;
  std::vector<Completion> first_ran(kMany);
  Fibers(kMany, [&](int i) {
    if (i > 0) {
      std::this_thread::sleep_for(30ms);  // the C library's: keeps the worker thread
      return first_ran[i].wait();
    }
    for (Completion& completion : first_ran) completion.signal();
  });
}

/// Soon, also on a machine that has other work.
template <typename Condition>
bool comes_true(Condition condition) {
  const auto end = Clock::now() + 20s;
  while (Clock::now() < end)
    if (condition()) return true;
  return false;
}

TEST(Fiber, WantsNoCoreWhileItSleeps) {
  need_workers();
  constexpr int kMany = 8;
  std::atomic<int> begun{0};
  std::atomic<bool> over{false};
  const Fibers fibers(kMany, [&](int) {
    begun.fetch_add(1);
    while (!over.load()) sleep_until(Clock::now() + 20ms);
  });
  EXPECT_TRUE(comes_true([&] { return begun.load() == kMany && awake_threads::wanted_cores() <= kWorkers; }));
  over.store(true);
}

TEST(Fiber, WantsNoCoreWhileItIsBlockedInTheKernel) {
  need_workers();
  std::atomic<bool> over{false};
  {
    const Fibers fibers(4, [&](int i) {
      if (i == 0)
        while (!over.load()) std::this_thread::sleep_for(100ms);
      else
        while (!over.load()) yield();  // so that the worker is wanted
    });
    EXPECT_TRUE(comes_true([] { return awake_threads::resting.load() == 1; }));
    over.store(true);
  }
  const Fibers one(1,
                   [](int) { EXPECT_TRUE(comes_true([] { return awake_threads::resting.load() == 0; })); });
}

TEST(Fiber, IsTakenByAnIdleWorker) {
  need_workers();
  std::atomic<bool> stop{false};
  std::atomic<int> ran{0};
  Fibers(4, [&](int i) {  // 0 and 1 at home on one worker, which 0 keeps busy
    if (i == 0) {
      while (!stop.load()) {
      }
    } else if (i == 1) {
      stop.store(true);
    }
    ran.fetch_add(1);
  });
  EXPECT_EQ(ran.load(), 4);
}

TEST(Fiber, HoldsItsWorkerAtHome) {
  need_workers();
  {
    const OwnWorker none;  // a kernel thread has no home
    EXPECT_FALSE(none);
  }
  std::vector<std::atomic<int>> inside(kWorkers);
  Fibers(32, [&](int) {
    for (int round = 0; round < 1000; ++round) {
      {
        const OwnWorker here;
        if (here) {
          EXPECT_EQ(inside[here.worker()].fetch_add(1), 0);
          inside[here.worker()].fetch_sub(1);
        }
      }
      if (round % 7 == 0) yield();
    }
  });
}

/// How many arenas the C library's malloc has. Each takes 64 MB of address space.
int arenas() {
  char* text = nullptr;
  std::size_t bytes = 0;
  std::FILE* const stream = ::open_memstream(&text, &bytes);
  ::malloc_info(0, stream);
  std::fclose(stream);
  const std::string all(text, bytes);
  std::free(text);
  int count = 0;
  for (std::size_t at = 0; (at = all.find("<heap nr=", at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(ServiceThread, TakesNoArenaOfMalloc) {
  static std::atomic<int> running{0};
  constexpr int kThreads = 4;  // they stay
  note_cores_of_process({0, 1});
  const int before = arenas();
  for (int i = 0; i < kThreads; ++i)
    ASSERT_TRUE(start_kernel_thread(
        [](void*) -> void* {
          ++running;
          for (;;) std::this_thread::sleep_for(1h);
        },
        nullptr));
  while (running < kThreads) std::this_thread::yield();
  EXPECT_EQ(arenas(), before);
}

}  // namespace
}  // namespace clump::fiber
