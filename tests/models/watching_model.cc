// The monitor goes to sleep when all workers sleep, and a worker that wakes tells it (src/fiber/watching.h,
// src/fiber/monitor.cc: run, worker_woke; src/fiber/worker.cc: WorkerThread::sleep, Worker::wake_up).
// Property: a worker that is awake, and stays busy, is seen by the monitor.
#include <gtest/gtest.h>

#include "model.h"

namespace clump::models {
namespace {

constexpr auto relaxed = std::memory_order_relaxed, acquire = std::memory_order_acquire,
               release = std::memory_order_release, acq_rel = std::memory_order_acq_rel,
               seq_cst = std::memory_order_seq_cst;
constexpr Register r0{0}, seen{1};
bool is_0(const Registers& r) { return r[0] == 0; }
bool is_not_0(const Registers& r) { return r[0] != 0; }

struct Protocol {
  bool looks_first = false;        ///< the monitor looks at the workers before it says that it will sleep
  bool exchanges = true;           ///< it says so by an exchange
  bool tells_at_last_look = true;  ///< a worker that finds work when it is about to sleep tells the monitor
};

struct Words {
  explicit Words(Model& model)
      : watching(model.location("watching", 1)),
        asleep(model.location("asleep")),
        news(model.location("news")),
        work(model.location("work")),
        taken_away(model.location("taken_away")) {}
  Location watching, asleep, news, work;
  Location taken_away;  ///< the worker, by the monitor
};

/// monitor::worker_woke().
void tell(Program& program, const Words& words, const std::string& over) {
  program.exchange(r0, words.watching, 1, acq_rel)
      .jump_if(is_not_0, over)
      .add(r0, words.news, 1, release)
      .futex_wake(words.news, 1)
      .label(over);
}

Outcome explore(Memory memory, const Protocol& protocol) {
  Model model;
  const Words words(model);
  Program& monitor = model.thread("monitor");
  monitor.label("look").load(seen, words.news, acquire);
  if (protocol.looks_first)
    monitor.store(words.watching, 1, seq_cst);
  else if (protocol.exchanges)
    monitor.exchange(r0, words.watching, 0, acq_rel);
  else
    monitor.store(words.watching, 0, seq_cst);
  monitor.load(r0, words.asleep, seq_cst).jump_if(is_0, "watches");
  if (protocol.looks_first) monitor.store(words.watching, 0, seq_cst);
  monitor.futex_wait(r0, words.news, seen).jump("look").label("watches");
  if (!protocol.looks_first) monitor.store(words.watching, 1, relaxed);
  monitor.load(r0, words.work, relaxed)
      .jump_if([](const Registers& r) { return r[0] != 2; }, "not busy")
      .store(words.taken_away, 1, relaxed)
      .end();
  monitor.label("not busy").futex_wait(r0, words.news, seen, true).jump("look");

  Program& worker = model.thread("worker thread");
  worker.store(words.asleep, 1, seq_cst)
      .membarrier()
      .load(r0, words.work, relaxed)
      .jump_if(is_0, "sleep")
      .exchange(r0, words.asleep, 0, acq_rel);
  if (protocol.tells_at_last_look) tell(worker, words, "busy");
  worker.jump("runs");
  worker.label("sleep")
      .load(r0, words.asleep, acquire)
      .jump_if(is_0, "runs")
      .futex_wait(r0, words.asleep, 1)
      .jump("sleep")
      .label("runs")
      .store(words.work, 2, relaxed)  // a fiber that computes until it loses the worker
      .end();

  Program& waker = model.thread("waker").add(r0, words.work, 1, seq_cst);
  waker.load(r0, words.asleep, seq_cst)
      .jump_if(is_0, "end")
      .exchange(r0, words.asleep, 0, acq_rel)
      .jump_if(is_0, "end")
      .futex_wake(words.asleep, 9);
  tell(waker, words, "end");
  waker.end();
  return model.explore(memory, [&](const State& s) { return s.value(words.taken_away) == 1; });
}

TEST(WatchingModel, TheMonitorSeesAWorkerThatHasWoken) {
  for (const Memory memory : {Memory::kSequential, Memory::kReleaseAcquire}) {
    const Outcome outcome = explore(memory, {});
    EXPECT_TRUE(outcome.holds) << outcome.how;
    RecordProperty(memory == Memory::kSequential ? "sequential" : "release_acquire",
                   static_cast<int>(outcome.states));
  }
}

TEST(WatchingModel, FindsTheMonitorThatLooksFirst) {
  EXPECT_FALSE(explore(Memory::kSequential, {.looks_first = true}).holds);
}

TEST(WatchingModel, FindsTheWorkerThatDoesNotTellOfItsLastLook) {
  EXPECT_FALSE(explore(Memory::kSequential, {.tells_at_last_look = false}).holds);
}

TEST(WatchingModel, FindsThatAStoreIsNotEnough) {
  EXPECT_TRUE(explore(Memory::kSequential, {.exchanges = false}).holds);
  EXPECT_FALSE(explore(Memory::kReleaseAcquire, {.exchanges = false}).holds);
}

}  // namespace
}  // namespace clump::models
