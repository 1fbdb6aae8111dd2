// Tasks run in the order in which they were left, one after another, and never under a Holding.
#include "net/progress_tasks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace clump::net {
namespace {

struct Note final : ProgressTask {
  explicit Note(std::function<void()> body) : body(std::move(body)) {}
  void run() override { body(); }
  std::function<void()> body;
};

TEST(Tasks, RunInOrderAndNotWithinEachOther) {
  std::vector<int> order;
  Note third([&] { order.push_back(3); });
  Note first([&] {
    run_here(&third);  // not now
    order.push_back(1);
  });
  Note second([&] { order.push_back(2); });
  ProgressTaskList list;
  EXPECT_EQ(list.take_all(), nullptr);
  list.push(first);
  list.push(second);
  EXPECT_FALSE(list.empty());
  run_here(list.take_all());
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST(Tasks, WaitUntilTheOutermostHoldingEnds) {
  int runs = 0;
  Note note([&] { ++runs; });
  {
    const Holding outer;
    {
      const Holding inner;
      run_here(&note);
    }
    EXPECT_EQ(runs, 0);
  }
  EXPECT_EQ(runs, 1);
  run_here(&note);
  EXPECT_EQ(runs, 2);
}

TEST(Tasks, MayEndThemselves) {
  bool ended = false;
  auto* const note = new Note(nullptr);
  note->body = [&ended, note] {
    bool& flag = ended;
    delete note;
    flag = true;
  };
  run_here(note);
  EXPECT_TRUE(ended);
}

TEST(Tasks, NoneIsLostOrRunTwice) {
  constexpr int kThreads = 4, kTasks = 5000;
  ProgressTaskList list;
  std::atomic<int> runs{0};
  std::vector<std::unique_ptr<Note>> notes;
  for (int i = 0; i < kThreads * kTasks; ++i) notes.push_back(std::make_unique<Note>([&] { ++runs; }));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kTasks; ++i) {
        list.push(*notes[t * kTasks + i]);
        if (i % 3 == t % 3) run_here(list.take_all());
      }
    });
  for (auto& thread : threads) thread.join();
  run_here(list.take_all());
  EXPECT_EQ(runs, kThreads * kTasks);
}

}  // namespace
}  // namespace clump::net
