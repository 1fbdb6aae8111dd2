// Another process leaves a message and rings, while a thread goes to sleep: the progress sleeper of a process
// without workers (src/fiber/progress_sleeper.cc: sleep_while, wake_up), or a worker thread
// (src/fiber/worker.cc: WorkerThread::sleep), with src/base/bell.h. Property: the message is taken in, and a
// thread that is woken for another reason goes on. Of a worker thread also: it is counted awake once for each
// time that it wakes.
#include <gtest/gtest.h>

#include "model.h"

namespace clump::models {
namespace {

constexpr auto relaxed = std::memory_order_relaxed, acquire = std::memory_order_acquire,
               release = std::memory_order_release, acq_rel = std::memory_order_acq_rel,
               seq_cst = std::memory_order_seq_cst;
constexpr Register r0{0}, r1{1}, r2{2};
bool is_0(const Registers& r) { return r[0] == 0; }
bool is_not_0(const Registers& r) { return r[0] != 0; }

void note(const char* memory, const Outcome& outcome) {
  EXPECT_TRUE(outcome.holds) << outcome.how;
  testing::Test::RecordProperty(memory, static_cast<int>(outcome.states));
}

struct Fences {
  bool sleeper = true, ringer = true;
};

// The progress sleeper.

/// `message`: what it waits for comes as a message. Otherwise another thread of its process ends its wait.
Outcome progress_sleeper(Memory memory, bool message, Fences fences) {
  Model model;
  const Location bell = model.location("bell"), lane = model.location("lane"),
                 state = model.location("state", 1);  // 1: it waits
  Program& sleeper = model.thread("progress sleeper");
  const auto look = [&](const std::string& again) {
    sleeper.load(r0, lane, acquire)
        .jump_if(is_0, again)
        .exchange(r0, lane, 0, relaxed)  // what it takes in is for itself
        .store(state, 0, seq_cst)
        .jump("again")
        .label(again);
  };
  sleeper.label("again").load(r0, state, seq_cst).jump_if(is_0, "end");
  look("nothing");
  sleeper.store(bell, 1, seq_cst);
  if (fences.sleeper) sleeper.fence();
  sleeper.load(r0, state, seq_cst).jump_if(is_0, "end");
  look("still nothing");
  sleeper.futex_wait(r0, bell, 1).store(bell, 0, relaxed).jump("again").label("end").end();

  Program& other = model.thread(message ? "sender" : "thread beside", message ? 1 : 0);
  if (message) {
    other.store(lane, 1, release);
    if (fences.ringer) other.fence();
    other.load(r0, bell, relaxed);
  } else {
    other.compare_exchange(r0, state, 1, 0, seq_cst).load(r0, bell, seq_cst);
  }
  other.jump_if(is_0, "end").exchange(r0, bell, 0, acq_rel).jump_if(is_0, "end").futex_wake(bell, 9);
  other.label("end").end();
  return model.explore(memory, [](const State& s) { return s.ended(0) && s.ended(1); });
}

TEST(BellModel, TheProgressSleeperWakesForAMessage) {
  note("sequential", progress_sleeper(Memory::kSequential, true, {}));
  note("release_acquire", progress_sleeper(Memory::kReleaseAcquire, true, {}));
}

TEST(BellModel, TheProgressSleeperWakesForAThreadBeside) {
  note("sequential", progress_sleeper(Memory::kSequential, false, {}));
  note("release_acquire", progress_sleeper(Memory::kReleaseAcquire, false, {}));
}

TEST(BellModel, FindsAMissingFenceOnEitherSide) {
  EXPECT_FALSE(progress_sleeper(Memory::kReleaseAcquire, true, {.sleeper = false}).holds);
  EXPECT_FALSE(progress_sleeper(Memory::kReleaseAcquire, true, {.ringer = false}).holds);
}

// A worker thread. A sender of another process rings, a thread of its own wakes it.

Outcome worker(Memory memory, Fences fences) {
  constexpr int kAsleep = 1, kRung = 2;
  Model model;
  const Location bell = model.location("bell"), lane = model.location("lane"),
                 inbox = model.location("inbox"), awake = model.location("awake", 1);
  Program& worker = model.thread("worker thread");
  // r1: whether it has found something
  const auto look = [&](const std::string& name) {
    worker.load(r1, inbox, relaxed)
        .load(r0, lane, acquire)
        .let([](Registers& r) { r[1] = static_cast<std::int8_t>(r[0] != 0 || r[1] != 0); })
        .jump_if([](const Registers& r) { return r[1] == 0; }, name)
        .exchange(r0, inbox, 0, acquire)
        .exchange(r0, lane, 0, acquire)
        .label(name);
  };
  worker.label("idle").store(bell, kAsleep, seq_cst);
  if (fences.sleeper) worker.membarrier();
  look("looked");
  worker.jump_if([](const Registers& r) { return r[1] == 0; }, "sleep")
      .exchange(r0, bell, 0, acq_rel)
      .jump_if(is_not_0, "idle")
      .add(r0, awake, -1, acq_rel)  // another thread has counted it, too
      .jump("idle")
      .label("sleep")
      .add(r0, awake, -1, acq_rel)
      .check([](const Registers& r) { return r[0] >= 1; }, "it is counted asleep twice")
      .label("asleep")
      .load(r0, bell, acquire)
      .jump_if([](const Registers& r) { return r[0] != kAsleep; }, "woken")
      .futex_wait(r0, bell, kAsleep)
      .jump("asleep")
      .label("woken")
      .load(r0, bell, relaxed)
      .jump_if([](const Registers& r) { return r[0] != kRung; }, "idle")
      .add(r0, awake, 1, acq_rel)
      .exchange(r0, bell, 0, acq_rel)
      .jump_if(is_not_0, "idle")
      .add(r0, awake, -1, acq_rel)
      .jump("idle");

  Program& sender = model.thread("sender", 1).store(lane, 1, release);
  if (fences.ringer) sender.fence();
  sender.load(r2, bell, relaxed)
      .jump_if([](const Registers& r) { return r[2] % 2 == 0; }, "end")
      .compare_exchange(r0, bell, r2, kRung, acq_rel)
      .jump_if(is_0, "end")
      .futex_wake(bell, 9)
      .label("end")
      .end();

  Program& beside = model.thread("thread beside").add(r0, inbox, 1, seq_cst).load(r0, bell, seq_cst);
  beside.jump_if(is_0, "end")
      .add(r0, awake, 1, acq_rel)
      .exchange(r0, bell, 0, acq_rel)
      .jump_if(is_not_0, "wake")
      .add(r0, awake, -1, acq_rel)
      .jump("end")
      .label("wake")
      .futex_wake(bell, 9)
      .label("end")
      .end();
  // In the end it sleeps, and is counted so.
  return model.explore(memory, [&](const State& s) {
    return s.ended(1) && s.ended(2) && s.value(lane) == 0 && s.value(inbox) == 0 &&
           s.value(bell) == kAsleep && s.value(awake) == 0;
  });
}

TEST(BellModel, AWorkerThreadWakesAndIsCountedAwakeOnce) {
  note("sequential", worker(Memory::kSequential, {}));
  note("release_acquire", worker(Memory::kReleaseAcquire, {}));
}

TEST(BellModel, FindsAMissingFenceOfAWorkerThreadOrOfItsSender) {
  EXPECT_FALSE(worker(Memory::kReleaseAcquire, {.sleeper = false}).holds);
  EXPECT_FALSE(worker(Memory::kReleaseAcquire, {.ringer = false}).holds);
}

}  // namespace
}  // namespace clump::models
