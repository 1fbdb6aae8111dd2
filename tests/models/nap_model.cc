// A worker thread naps without a membarrier, and sleeps for long with one (src/fiber/worker.cc:
// WorkerThread::sleep, Worker::wake_up). A rank leaves work for it, without a fence, and waits. Properties:
// the work is done; the last thread of those that count as awake (src/fiber/awake_threads.h) leaves none when
// it falls asleep, so that it may report a deadlock; in the end all are counted asleep.
#include <gtest/gtest.h>

#include "model.h"

namespace clump::models {
namespace {

constexpr auto acquire = std::memory_order_acquire, release = std::memory_order_release,
               acq_rel = std::memory_order_acq_rel, seq_cst = std::memory_order_seq_cst;
constexpr Register r0{0}, r1{1};
constexpr int kNaps = 3, kSleeps = 1;
bool is_0(const Registers& r) { return r[0] == 0; }
bool is_last(const Registers& r) { return r[0] == 1; }

struct Protocol {
  bool counts_naps_as_awake = true;
  bool makes_barrier = true;  ///< before it sleeps for long
};

struct Words {
  explicit Words(Model& model)
      : asleep(model.location("asleep")), work(model.location("work")), awake(model.location("awake", 2)) {}
  Location asleep, work, awake;
};

/// awake_threads::falls_asleep().
void fall_asleep(Program& program, const Words& words, const std::string& over) {
  program.add(r0, words.awake, -1, acq_rel)
      .jump_if([](const Registers& r) { return !is_last(r); }, over)
      .add(r1, words.work, 0, seq_cst)  // reads the newest
      .check([](const Registers& r) { return r[1] == 0; }, "a deadlock is reported, but there is work")
      .label(over);
}

/// Not a deadlock: the caller is awake itself.
void uncount(Program& program, const Words& words) { program.add(r0, words.awake, -1, acq_rel); }

void worker_thread(Program& program, const Words& words, const Protocol& protocol) {
  // nap
  program.label("idle")
      .store(words.asleep, kNaps, seq_cst)
      .load(r0, words.work, acquire)
      .jump_if(is_0, "nap");
  program.exchange(r0, words.asleep, 0, acq_rel).jump("run").label("nap");
  if (!protocol.counts_naps_as_awake) fall_asleep(program, words, "naps");
  program.futex_wait(r0, words.asleep, kNaps, true);
  if (!protocol.counts_naps_as_awake) program.add(r0, words.awake, 1, acq_rel);
  program.exchange(r0, words.asleep, 0, acq_rel).load(r0, words.work, acquire).jump_if(is_0, "sleep");
  program.label("run").exchange(r0, words.work, 0, acquire).jump("idle");
  // sleep_for_long
  program.label("sleep").store(words.asleep, kSleeps, seq_cst);
  if (protocol.makes_barrier) program.membarrier();
  program.load(r0, words.work, acquire).jump_if(is_0, "fall asleep").exchange(r0, words.asleep, 0, acq_rel);
  program.jump_if([](const Registers& r) { return r[0] != 0; }, "run");
  uncount(program, words);
  program.jump("run").label("fall asleep");
  fall_asleep(program, words, "look");
  program.load(r0, words.asleep, acquire)
      .jump_if([](const Registers& r) { return r[0] != kSleeps; }, "run")
      .futex_wait(r0, words.asleep, kSleeps)
      .jump("look");
}

/// Leaves work, wakes as Worker::wake_up() does, and falls asleep.
void rank(Program& program, const Words& words, const Protocol& protocol) {
  program.store(words.work, 1, release).load(r0, words.asleep, seq_cst).jump_if(is_0, "waits");
  program.add(r0, words.awake, 1, acq_rel).exchange(r1, words.asleep, 0, acq_rel);
  program.jump_if([](const Registers& r) { return r[1] == kSleeps; }, "wake");
  if (!protocol.counts_naps_as_awake)
    program.jump_if([](const Registers& r) { return r[1] == kNaps; }, "wake");
  uncount(program, words);
  program.label("wake").futex_wake(words.asleep, 9).label("waits");
  fall_asleep(program, words, "over");
  program.end();
}

Outcome explore(Memory memory, const Protocol& protocol) {
  Model model;
  const Words words(model);
  worker_thread(model.thread("worker thread"), words, protocol);
  rank(model.thread("rank"), words, protocol);
  return model.explore(memory, [&](const State& s) {
    return s.ended(1) && s.value(words.work) == 0 && s.value(words.awake) == 0;
  });
}

TEST(NapModel, NoWorkIsLeftAndNoDeadlockIsReportedFalsely) {
  for (const Memory memory : {Memory::kSequential, Memory::kReleaseAcquire}) {
    const Outcome outcome = explore(memory, {});
    EXPECT_TRUE(outcome.holds) << outcome.how;
    RecordProperty(memory == Memory::kSequential ? "sequential" : "release_acquire",
                   static_cast<int>(outcome.states));
  }
}

// A nap that counts as a sleep has to make the barrier.
TEST(NapModel, FindsTheNapThatCountsAsASleep) {
  EXPECT_FALSE(explore(Memory::kReleaseAcquire, {.counts_naps_as_awake = false}).holds);
}

TEST(NapModel, FindsTheMissingBarrierBeforeALongSleep) {
  EXPECT_FALSE(explore(Memory::kReleaseAcquire, {.makes_barrier = false}).holds);
}

}  // namespace
}  // namespace clump::models
