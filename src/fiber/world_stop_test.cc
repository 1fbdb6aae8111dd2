#include "fiber/world_stop.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <unwind.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "fiber/awake_threads.h"
#include "fiber/completion.h"
#include "fiber/fiber.h"

namespace clump::fiber {
namespace {

using namespace std::chrono_literals;

/// Whether the suspended thread of control has a frame of the code [begin, begin + 4 KiB).
bool has_frame(const Registers& registers, const void* begin) {
  struct Search {
    std::uintptr_t begin;
    bool found = false;
  } search{reinterpret_cast<std::uintptr_t>(begin)};
  clump_call_behind(
      &registers,
      [](void* argument) {
        _Unwind_Backtrace(
            [](_Unwind_Context* context, void* wanted) {
              auto& search = *static_cast<Search*>(wanted);
              const std::uintptr_t at = _Unwind_GetIP(context);
              search.found = search.found || (at > search.begin && at < search.begin + 4096 &&
                                              _Unwind_FindEnclosingFunction(reinterpret_cast<void*>(at)) ==
                                                  reinterpret_cast<void*>(search.begin));
              return _URC_NO_REASON;
            },
            argument);
      },
      &search);
  return search.found;
}

struct Waiting {
  Completion awaited;
  std::atomic<bool> begun{false}, over{false};
  Identity identity;
};

[[gnu::noinline]] void wait_here(Waiting& waiting) {
  waiting.begun = true;
  waiting.awaited.wait();
  waiting.over = true;
}

/// It sleeps, is found, has its frames, and does not go on while it is held.
void expect_held(Waiting& waiting) {
  while (!waiting.begun) std::this_thread::sleep_for(1ms);
  BlockedThread found;
  for (int tries = 0; found.who == nullptr && tries < 20000; ++tries) {
    std::this_thread::sleep_for(1ms);
    const WorldStop hold;
    const void* const who = waiting.awaited.sleeper();
    for (const BlockedThread& one : hold.blocked_threads())
      if (who != nullptr && one.who == who) found = one;
    if (found.who == nullptr) continue;
    EXPECT_EQ(found.rank, &waiting.identity);
    EXPECT_TRUE(has_frame(found.registers, reinterpret_cast<const void*>(&wait_here)));
    EXPECT_FALSE(has_frame(found.registers, reinterpret_cast<const void*>(&expect_held)));
    waiting.awaited.signal();
    std::this_thread::sleep_for(50ms);
    EXPECT_FALSE(waiting.over);
    EXPECT_TRUE(has_frame(found.registers, reinterpret_cast<const void*>(&wait_here)));
  }
  EXPECT_NE(found.who, nullptr);
  for (int tries = 0; !waiting.over && tries < 20000; ++tries) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(waiting.over);
}

TEST(WorldStop, AKernelThreadIsFoundAndHeld) {
  Waiting waiting;
  std::thread thread([&] {
    adopt_identity(&waiting.identity);
    wait_here(waiting);
  });
  expect_held(waiting);
  thread.join();
}

TEST(WorldStop, AFiberIsFoundAndHeld) {
  ASSERT_TRUE(make_workers({-1, -1}, 16, nullptr) && start_workers());
  static Waiting waiting;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_begins();
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, nullptr,
                [](void*) -> void* {
                  become_fiber(1, &waiting.identity);
                  wait_here(waiting);
                  end_here();
                },
                nullptr),
            0);
  pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  expect_held(waiting);
}

TEST(WorldStop, WhatOthersTellAboutTheirWaitsIsRead) {
  static const int what = 0;
  Waiting waiting;
  std::thread thread([&] {
    detail::innermost_wait = &what;
    wait_here(waiting);
  });
  while (!waiting.begun) std::this_thread::sleep_for(1ms);
  bool read = false;
  for (int tries = 0; !read && tries < 20000; ++tries) {
    std::this_thread::sleep_for(1ms);
    const WorldStop hold;
    read = std::ranges::any_of(hold.blocked_threads(),
                               [](const BlockedThread& one) { return one.waits == &what; });
  }
  EXPECT_TRUE(read);
  waiting.awaited.signal();
  thread.join();
}

}  // namespace
}  // namespace clump::fiber
