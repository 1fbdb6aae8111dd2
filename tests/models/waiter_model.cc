// A thread waits for a completion, and may be woken meanwhile to run a callback of its rank
// (src/fiber/completion.cc: wait_for_any, Waiter::park, unpark; src/fiber/rank_callbacks.cc: call,
// CallbackWait; src/core/rank_callbacks.h: submit). Property: the callback is run and the wait ends, in any
// order; here the wait ends only after the callback was run, as in a reduction with a user's function.
#include <gtest/gtest.h>

#include "model.h"

namespace clump::models {
namespace {

constexpr auto relaxed = std::memory_order_relaxed, acquire = std::memory_order_acquire,
               release = std::memory_order_release, acq_rel = std::memory_order_acq_rel,
               seq_cst = std::memory_order_seq_cst;
constexpr Register r0{0}, r1{1};
bool is_0(const Registers& r) { return r[0] == 0; }
bool is_not_0(const Registers& r) { return r[0] != 0; }

struct Protocol {
  bool can_be_found = true;         ///< it waits so that call() finds it, also if no callback is expected yet
  bool stays_listed = false;        ///< as fibers do, and takes no lock to wait again
  bool looks_after_listing = true;  ///< it looks for callbacks once more when it is in the list
};

enum Sleep : std::int8_t { kIdle, kPermitted, kAsleep };
enum Word : std::int8_t { kPending, kWaiter, kDone };

Outcome explore(Memory memory, const Protocol& protocol) {
  Model model;
  const Location state = model.location("state"), word = model.location("completion"),
                 tasks = model.location("tasks"), list = model.location("list"),
                 mutex = model.location("mutex"), ran = model.location("ran");
  const auto lock = [&](Program& program, const std::string& name) {
    program.label(name).exchange(r0, mutex, 1, acquire).jump_if(is_not_0, name);
  };

  Program& waiter = model.thread("waiter");
  const auto run_tasks = [&](const std::string& name) {  // when it has left the list
    waiter.label(name)
        .exchange(r0, tasks, 0, acquire)
        .jump_if(is_0, name + ": none")
        .store(ran, 1, release)
        .futex_wake(ran, 1)
        .label(name + ": none");
  };
  const auto set_list = [&](const std::string& name, int value) {
    lock(waiter, name);
    waiter.store(list, value, relaxed).store(mutex, 0, release);
  };
  if (protocol.stays_listed) set_list("stay", 1);
  waiter.label("wait");
  if (protocol.can_be_found) run_tasks("run");
  waiter.compare_exchange(r0, word, kPending, kWaiter, acq_rel).jump_if(is_0, "done");
  const bool lists = protocol.can_be_found && !protocol.stays_listed;
  if (lists) set_list("list", 1);
  waiter.label("look")
      .load(r0, word, acquire)
      .jump_if([](const Registers& r) { return r[0] == kDone; }, "over");
  if (protocol.can_be_found && protocol.looks_after_listing)
    waiter.load(r0, tasks, relaxed).jump_if(is_not_0, "over");
  waiter.compare_exchange(r0, state, kIdle, kAsleep, acq_rel)
      .jump_if(is_0, "permitted")
      .label("asleep")
      .load(r0, state, relaxed)
      .jump_if([](const Registers& r) { return r[0] != kAsleep; }, "permitted")
      .futex_wait(r0, state, kAsleep)
      .jump("asleep")
      .label("permitted")
      .exchange(r0, state, kIdle, acq_rel);
  if (protocol.can_be_found && !protocol.looks_after_listing)
    waiter.load(r0, tasks, relaxed).jump_if(is_not_0, "over");
  waiter.jump("look").label("over");
  if (lists) set_list("leave", 0);
  waiter.compare_exchange(r0, word, kWaiter, kPending, relaxed).jump_if(is_not_0, "wait").label("done").end();

  const auto unpark = [&](Program& program, const std::string& over) {
    program.exchange(r1, state, kPermitted, seq_cst)
        .jump_if([](const Registers& r) { return r[1] != kAsleep; }, over)
        .futex_wake(state, 1);
  };
  Program& caller = model.thread("submits the callback").add(r0, tasks, 1, release);
  lock(caller, "look");
  caller.load(r1, list, relaxed)
      .store(mutex, 0, release)
      .jump_if([](const Registers& r) { return r[1] == 0; }, "end");
  unpark(caller, "end");
  caller.label("end").end();

  Program& completes = model.thread("completes");
  completes.label("callback")
      .futex_wait(r0, ran, 0)
      .load(r0, ran, acquire)
      .jump_if(is_0, "callback")
      .exchange(r0, word, kDone, acq_rel)
      .jump_if([](const Registers& r) { return r[0] != kWaiter; }, "end");
  unpark(completes, "end");
  completes.label("end").end();
  return model.explore(memory, [](const State& s) { return s.ended(0) && s.ended(1) && s.ended(2); });
}

TEST(WaiterModel, AWaitingThreadRunsCallbacksAndGoesOn) {
  for (const bool stays : {true, false})
    for (const Memory memory : {Memory::kSequential, Memory::kReleaseAcquire}) {
      const Outcome outcome = explore(memory, {.stays_listed = stays});
      EXPECT_TRUE(outcome.holds) << outcome.how;
      RecordProperty(memory == Memory::kSequential ? "sequential" : "release_acquire",
                     static_cast<int>(outcome.states));
    }
}

TEST(WaiterModel, FindsTheThreadThatWaitsWhereCallDoesNotFindIt) {
  EXPECT_FALSE(explore(Memory::kSequential, {.can_be_found = false}).holds);
}

TEST(WaiterModel, FindsTheCallbackThatCameBeforeTheList) {
  EXPECT_FALSE(explore(Memory::kSequential, {.looks_after_listing = false}).holds);
}

}  // namespace
}  // namespace clump::models
