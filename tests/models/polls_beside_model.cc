// A thread of a rank polls in the place of a worker that sleeps, and stops at any moment; work is left for
// the worker (src/fiber/own_worker.h: wake_worker; src/fiber/completion.cc: PollsBeside). Property: it is
// taken in.
#include <gtest/gtest.h>

#include "model.h"

namespace clump::models {
namespace {

constexpr auto relaxed = std::memory_order_relaxed, acquire = std::memory_order_acquire,
               release = std::memory_order_release, acq_rel = std::memory_order_acq_rel,
               seq_cst = std::memory_order_seq_cst;
constexpr Register r0{0};
bool is_0(const Registers& r) { return r[0] == 0; }
bool is_not_0(const Registers& r) { return r[0] != 0; }

struct Protocol {
  bool sender_fences = true;  ///< between what it leaves and its second look at the polling threads
  bool sender_looks_twice = true;
  bool poller_fences = true;  ///< between the end of its polls and its last look
  bool poller_looks_last = true;
  bool poller_works = false;  ///< in place of its last look it wakes the worker, and works
  bool poller_wakes = true;
};

Outcome explore(Memory memory, const Protocol& protocol) {
  Model model;
  const Location asleep = model.location("asleep"), polling = model.location("polling"),
                 work = model.location("work");
  model.thread("worker thread")
      .label("sleep")
      .store(asleep, 1, seq_cst)
      .membarrier()
      .load(r0, work, relaxed)
      .jump_if(is_0, "nothing")
      .exchange(r0, asleep, 0, acq_rel)
      .label("run")
      .exchange(r0, work, 0, acquire)
      .jump("sleep")
      .label("nothing")
      .futex_wait(r0, asleep, 1)
      .load(r0, asleep, acquire)
      .jump_if(is_0, "run")
      .jump("nothing");
  Program& poller = model.thread("poller").add(r0, polling, 1, relaxed);
  const auto look = [&](const std::string& nothing) {
    poller.load(r0, work, acquire).jump_if(is_0, nothing).exchange(r0, work, 0, acquire).label(nothing);
  };
  look("end of polls");
  poller.add(r0, polling, -1, relaxed);
  if (protocol.poller_fences) poller.fence();
  if (protocol.poller_looks_last && !protocol.poller_works) look("end");
  if (protocol.poller_works && protocol.poller_wakes)
    poller.load(r0, asleep, seq_cst)
        .jump_if(is_0, "end")
        .exchange(r0, asleep, 0, acq_rel)
        .jump_if(is_0, "end")
        .futex_wake(asleep, 9)
        .label("end");
  poller.end();
  Program& sender = model.thread("sender").store(work, 1, release);
  sender.load(r0, asleep, seq_cst).jump_if(is_0, "end").load(r0, polling, relaxed).jump_if(is_0, "wake");
  if (protocol.sender_fences) sender.fence();
  if (protocol.sender_looks_twice) sender.load(r0, polling, relaxed);
  sender.jump_if(is_not_0, "end")
      .label("wake")
      .exchange(r0, asleep, 0, acq_rel)
      .jump_if(is_0, "end")
      .futex_wake(asleep, 9)
      .label("end")
      .end();
  return model.explore(memory,
                       [&](const State& s) { return s.value(work) == 0 && s.ended(1) && s.ended(2); });
}

TEST(PollsBesideModel, WhatIsLeftForAWorkerIsTakenIn) {
  for (const Memory memory : {Memory::kSequential, Memory::kReleaseAcquire}) {
    EXPECT_TRUE(explore(memory, {.poller_works = true}).holds);
    const Outcome outcome = explore(memory, {});
    EXPECT_TRUE(outcome.holds) << outcome.how;
    RecordProperty(memory == Memory::kSequential ? "sequential" : "release_acquire",
                   static_cast<int>(outcome.states));
  }
}

TEST(PollsBesideModel, FindsWhatIsMissing) {
  EXPECT_FALSE(explore(Memory::kReleaseAcquire, {.sender_fences = false}).holds);
  EXPECT_FALSE(explore(Memory::kReleaseAcquire, {.sender_looks_twice = false}).holds);
  EXPECT_FALSE(explore(Memory::kReleaseAcquire, {.poller_fences = false}).holds);
  EXPECT_FALSE(explore(Memory::kSequential, {.poller_looks_last = false}).holds);
  EXPECT_FALSE(explore(Memory::kSequential, {.poller_works = true, .poller_wakes = false}).holds);
}

}  // namespace
}  // namespace clump::models
