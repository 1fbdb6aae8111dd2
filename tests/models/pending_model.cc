// A pending collective of two groups with a rank each (src/coll/shared/pending.cc: submit_work, work_from,
// end_all, let_go): the last rank that comes leaves a task for each worker, threads take parts, the end of
// the last part completes the requests, and the last user gives the object back. Properties: both requests
// complete, once; a rank that waits sees the data of all parts; the object is given back once, after its last
// use.
#include <gtest/gtest.h>

#include <string>

#include "model.h"

namespace clump::models {
namespace {

constexpr auto relaxed = std::memory_order_relaxed, acquire = std::memory_order_acquire,
               release = std::memory_order_release, acq_rel = std::memory_order_acq_rel,
               seq_cst = std::memory_order_seq_cst;
constexpr Register r0{0}, done{1}, r2{2};
bool is_0(const Registers& r) { return r[0] == 0; }

struct Protocol {
  bool counts_before = true;          ///< a task is counted as a user before it is submitted
  std::memory_order parts = acq_rel;  ///< of the count of parts that are left
};

struct Words {
  explicit Words(Model& model)
      : users(model.location("users")),
        parts_left(model.location("parts_left")),
        inbox(model.location("inbox")),
        given_back(model.location("given back")) {
    for (const std::string i : {"0", "1"}) {
      begun[i == "1"] = model.location("begun " + i);
      // 1: the data of its part are written; 2 and more: how often its request was completed.
      request[i == "1"] = model.location("request " + i);
    }
  }
  Location users, parts_left, inbox, given_back, begun[2], request[2];
};

/// let_go()
void let_go(Program& program, const Words& words, const std::string& name) {
  program.load(r0, words.users, acquire)
      .jump_if([](const Registers& r) { return r[0] == 1; }, name + " last")
      .add(r0, words.users, -1, acq_rel)
      .jump_if([](const Registers& r) { return r[0] != 1; }, name + " over")
      .label(name + " last")
      .add(r0, words.given_back, 1, acq_rel)
      .check(is_0, "it is given back twice")
      .label(name + " over");
}

/// work_from(), and let_go() after it. `begun` has one place, as each group has one rank.
void work_from(Program& program, const Words& words, int group, const Protocol& protocol) {
  program.load(r0, words.given_back, relaxed)
      .check(is_0, "it is used after it was given back")
      .let([](Registers& r) { r[1] = 0; });
  for (const int part : {group, 1 - group}) {
    const std::string over = "after part " + std::to_string(part);
    program.load(r0, words.begun[part], relaxed)
        .jump_if([](const Registers& r) { return r[0] != 0; }, over)
        .add(r0, words.begun[part], 1, relaxed)
        .jump_if([](const Registers& r) { return r[0] != 0; }, over)
        .store(words.request[part], 1, relaxed)
        .let([](Registers& r) { ++r[1]; })
        .label(over);
  }
  program.jump_if([](const Registers& r) { return r[1] == 0; }, "let go")
      .let([](Registers& r) { r[2] = static_cast<std::int8_t>(-r[1]); })
      .add(r0, words.parts_left, r2, protocol.parts)
      .jump_if([](const Registers& r) { return r[0] != r[1]; }, "let go");
  for (const int one : {1 - group, group})  // end_all(), complete()
    program.load(r0, words.request[one], relaxed)
        .check([](const Registers& r) { return r[0] == 1; }, "the data of a part are not seen")
        .add(r0, words.request[one], 1, acq_rel)
        .futex_wake(words.request[one], 1);
  program.label("let go");
  let_go(program, words, "worked:");
}

void wait_for_request(Program& program, const Words& words, int group) {
  program.label("wait")
      .load(r0, words.request[group], acquire)
      .jump_if([](const Registers& r) { return r[0] >= 2; }, "complete")
      .futex_wait(r2, words.request[group], r0)
      .jump("wait")
      .label("complete")
      .load(r0, words.request[1 - group], relaxed)
      .check([](const Registers& r) { return r[0] >= 1; }, "a rank does not see the data of all")
      .end();
}

Outcome explore(Memory memory, const Protocol& protocol) {
  Model model;
  const Words words(model);
  Program& last = model.thread("the last rank");
  last.store(words.users, 1, relaxed).store(words.parts_left, 2, relaxed);
  if (protocol.counts_before) last.add(r0, words.users, 1, relaxed);
  last.store(words.inbox, 1, release).futex_wake(words.inbox, 1);
  if (!protocol.counts_before) last.add(r0, words.users, 1, relaxed);
  last.add(r0, words.users, 1, relaxed);  // its own task, which it runs itself
  let_go(last, words, "begun:");
  work_from(last, words, 0, protocol);
  wait_for_request(last, words, 0);

  Program& other = model.thread("the other worker");
  other.label("idle").futex_wait(r0, words.inbox, 0).load(r0, words.inbox, acquire).jump_if(is_0, "idle");
  work_from(other, words, 1, protocol);
  wait_for_request(other, words, 1);
  return model.explore(memory, [&](const State& s) {
    return s.ended(0) && s.ended(1) && s.value(words.given_back) == 1 && s.value(words.request[0]) == 2 &&
           s.value(words.request[1]) == 2;
  });
}

TEST(PendingModel, AllRequestsCompleteAndTheObjectIsGivenBackOnce) {
  for (const Memory memory : {Memory::kSequential, Memory::kReleaseAcquire}) {
    const Outcome outcome = explore(memory, {});
    EXPECT_TRUE(outcome.holds) << outcome.how;
    RecordProperty(memory == Memory::kSequential ? "sequential" : "release_acquire",
                   static_cast<int>(outcome.states));
  }
}

TEST(PendingModel, FindsATaskThatIsCountedTooLate) {
  EXPECT_FALSE(explore(Memory::kSequential, {.counts_before = false}).holds);
}

TEST(PendingModel, FindsPartsThatAreNotHandedOn) {
  EXPECT_FALSE(explore(Memory::kReleaseAcquire, {.parts = relaxed}).holds);
}

}  // namespace
}  // namespace clump::models
