// Threads that wait in a process without workers. By itself, because what progress_sleeper::keep() has begun
// does not end.
#include "fiber/progress_sleeper.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "fiber/completion.h"
#include "fiber/fiber.h"

namespace clump::fiber {
namespace {

constexpr int kThreads = 6;
std::array<Completion, kThreads> waits;
std::atomic<unsigned> arrived{0};  // what has come for whom: a bit each

/// As a channel: takes in what has come.
bool take_in_messages(int) {
  const unsigned came = arrived.exchange(0);
  for (unsigned i = 0; i < kThreads; ++i)
    if ((came >> i & 1) != 0) waits[i].signal();
  return came != 0;
}

// Whoever watches takes in what has come for himself and for the one that was to watch next, and both leave.
TEST(ProgressSleeper, SomebodyWatchesAsLongAsAnybodyWaits) {
  static constinit base::Bell bell;
  set_spinning(false);
  progress_sleeper::keep(bell);
  on_progress(take_in_messages);
  for (int round = 0; round < 300; ++round) {
    std::atomic<int> left{kThreads};
    std::array<std::thread, kThreads> threads;
    for (int i = 0; i < kThreads; ++i)
      threads[static_cast<std::size_t>(i)] = std::thread([&left, i] {
        waits[static_cast<std::size_t>(i)].wait();
        --left;
      });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (unsigned pair = 0; pair < kThreads; pair += 2) {
      arrived.fetch_or(3u << pair);
      bell.ring();
      const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (left > kThreads - 2 - static_cast<int>(pair) && std::chrono::steady_clock::now() < patience)
        std::this_thread::yield();
      ASSERT_EQ(left, kThreads - 2 - static_cast<int>(pair)) << "nobody watches, in round " << round;
    }
    for (std::thread& thread : threads) thread.join();
    for (Completion& wait : waits) wait.reset();
  }
}

}  // namespace
}  // namespace clump::fiber
