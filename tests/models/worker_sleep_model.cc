// A worker thread goes to sleep, loses its worker to another one at any moment, and work is left for the
// worker (src/fiber/worker.cc: WorkerThread::sleep, Worker::wake; src/fiber/monitor.cc:
// replace_worker_thread). Property: whatever is left for the worker is run.
#include <gtest/gtest.h>

#include "model.h"

namespace clump::models {
namespace {

constexpr auto relaxed = std::memory_order_relaxed, acquire = std::memory_order_acquire,
               release = std::memory_order_release, acq_rel = std::memory_order_acq_rel,
               seq_cst = std::memory_order_seq_cst;
constexpr Register r0{0}, r1{1};
bool is_0(const Registers& r) { return r[0] == 0; }

struct Protocol {
  bool own_numbers = true;     ///< `asleep` is another number for each worker thread
  bool wakes_all = true;       ///< a waker wakes all that sleep at the word
  bool checks_worker = false;  ///< instead of numbers: it sleeps only while it sees that it has the worker
  bool makes_barrier = true;   ///< between the store to `asleep` and the last look
};

struct Words {
  explicit Words(Model& model)
      : asleep(model.location("asleep")),
        work(model.location("work")),
        has_worker(model.location("has_worker", 1)),
        section(model.location("section")),
        next_may_begin(model.location("next_may_begin")) {}
  Location asleep, work;
  Location has_worker, section;  ///< of the first worker thread
  Location next_may_begin;
};

/// Worker::wake().
void wake(Program& program, const Words& words, const Protocol& protocol, const std::string& over) {
  program.load(r0, words.asleep, seq_cst)
      .jump_if(is_0, over)
      .exchange(r0, words.asleep, 0, acq_rel)
      .jump_if(is_0, over)
      .futex_wake(words.asleep, protocol.wakes_all ? 9 : 1)
      .label(over);
}

/// The loop of a worker thread, from the moment when it has found nothing to run. `first`: it may lose its
/// worker.
void worker_thread(Program& program, const Words& words, const Protocol& protocol, bool first,
                   int asleep_as) {
  const auto begin_section = [&](const std::string& lost) {
    if (!first) return;
    program.store(words.section, 1, relaxed).load(r0, words.has_worker, relaxed).jump_if(is_0, lost);
  };
  const auto end_section = [&] {
    if (first) program.store(words.section, 0, release);
  };
  program.label("sleep");
  begin_section("lost");
  program.store(words.asleep, asleep_as, seq_cst);
  if (protocol.makes_barrier) program.membarrier();
  program.load(r0, words.work, relaxed)
      .jump_if(is_0, "nothing")
      .exchange(r1, words.asleep, 0, acq_rel)
      .label("run")
      .exchange(r0, words.work, 0, acquire);
  end_section();
  program.jump("sleep").label("nothing");
  end_section();
  program.label("look")
      .load(r0, words.asleep, acquire)
      .jump_if([asleep_as](const Registers& r) { return r[0] != asleep_as; }, "awake");
  if (protocol.checks_worker && first) program.load(r0, words.has_worker, acquire).jump_if(is_0, "end");
  program.futex_wait(r0, words.asleep, asleep_as).jump("look").label("awake");
  begin_section("lost");
  program.jump("run").label("lost");
  end_section();
  program.label("end").end();
}

Outcome explore(Memory memory, const Protocol& protocol) {
  Model model;
  const Words words(model);
  worker_thread(model.thread("first worker thread"), words, protocol, true, 1);
  Program& next = model.thread("next worker thread");
  next.label("wait")
      .futex_wait(r0, words.next_may_begin, 0)
      .load(r0, words.next_may_begin, acquire)
      .jump_if(is_0, "wait");
  worker_thread(next, words, protocol, false, protocol.own_numbers ? 3 : 1);
  Program& monitor = model.thread("monitor").store(words.has_worker, 0, seq_cst).membarrier();
  monitor.label("await")
      .load(r0, words.section, acquire)
      .jump_if([](const Registers& r) { return r[0] != 0; }, "await");
  wake(monitor, words, protocol, "serve");
  monitor.store(words.next_may_begin, 1, release).futex_wake(words.next_may_begin, 1).end();
  Program& waker = model.thread("waker").add(r0, words.work, 1, seq_cst);
  wake(waker, words, protocol, "end");
  waker.end();
  return model.explore(memory, [&](const State& s) { return s.value(words.work) == 0 && s.ended(3); });
}

TEST(WorkerSleepModel, WhatIsLeftForAWorkerIsRun) {
  for (const Memory memory : {Memory::kSequential, Memory::kReleaseAcquire}) {
    const Outcome outcome = explore(memory, {});
    EXPECT_TRUE(outcome.holds) << outcome.how;
    RecordProperty(memory == Memory::kSequential ? "sequential" : "release_acquire",
                   static_cast<int>(outcome.states));
  }
}

// With one number for all, a thread that has lost its worker sleeps on, and takes a wake-up of the next one.
TEST(WorkerSleepModel, FindsTheWakeUpThatAFormerWorkerThreadTakes) {
  EXPECT_FALSE(explore(Memory::kSequential, {.own_numbers = false, .wakes_all = false}).holds);
  EXPECT_FALSE(
      explore(Memory::kSequential, {.own_numbers = false, .wakes_all = false, .checks_worker = true}).holds);
}

TEST(WorkerSleepModel, FindsTheMissingBarrier) {
  EXPECT_FALSE(explore(Memory::kReleaseAcquire, {.makes_barrier = false}).holds);
  EXPECT_TRUE(explore(Memory::kSequential, {.makes_barrier = false}).holds);
}

}  // namespace
}  // namespace clump::models
