// A message finds no room in a lane to another process and is kept back; the consumer gives room back, and
// wakes the producer's process (src/net/lane.h: want_room, room_is_wanted; src/net/shm/shm_channel.cc: post,
// flush; src/base/bell.h). Property: the message is sent.
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
  bool producer_fence = true, consumer_fence = true;
  std::memory_order wish = release;  ///< of the store in want_room()
};

Outcome explore(Memory memory, const Protocol& protocol) {
  Model model;
  const Location room = model.location("room"), wanted = model.location("room_wanted"),
                 kept = model.location("kept back"), mutex = model.location("outlet.mutex"),
                 bell = model.location("bell"), sent = model.location("sent");
  // flush(), with the lock: tries, says that it wants room, tries again.
  const auto flush = [&](Program& program) {
    program.load(r0, room, acquire).jump_if(is_not_0, "send").store(wanted, 1, protocol.wish);
    if (protocol.producer_fence) program.fence();
    program.load(r0, room, acquire)
        .jump_if(is_0, "unlock")
        .label("send")
        .store(kept, 0, relaxed)
        .store(sent, 1, relaxed)
        .label("unlock")
        .store(mutex, 0, release);
  };
  Program& producer = model.thread("producer");
  producer.label("lock")
      .compare_exchange(r0, mutex, 0, 1, acquire)
      .jump_if(is_0, "lock")
      .store(kept, 1, relaxed);
  flush(producer);
  producer.end();

  Program& sleeper = model.thread("progress sleeper");  // of the producer's process
  sleeper.label("again")
      .store(bell, 1, seq_cst)
      .fence()
      .load(r0, kept, relaxed)
      .jump_if(is_0, "sleep")
      .label("lock")
      .compare_exchange(r0, mutex, 0, 1, acquire)
      .jump_if(is_0, "lock")
      .load(r0, kept, relaxed)
      .jump_if(is_0, "unlock");
  flush(sleeper);
  sleeper.label("sleep").futex_wait(r0, bell, 1).jump("again");

  Program& consumer = model.thread("consumer", 1).store(room, 1, release);
  if (protocol.consumer_fence) consumer.fence();
  consumer.load(r0, wanted, relaxed)
      .jump_if(is_0, "end")
      .exchange(r0, wanted, 0, seq_cst)
      .jump_if(is_0, "end")
      .fence()  // Bell::ring()
      .load(r1, bell, relaxed)
      .jump_if([](const Registers& r) { return r[1] == 0; }, "end")
      .exchange(r0, bell, 0, acq_rel)
      .jump_if(is_0, "end")
      .futex_wake(bell, 9)
      .label("end")
      .end();
  return model.explore(memory, [&](const State& s) { return s.value(sent) == 1; });
}

TEST(LaneRoomModel, WhatIsKeptBackIsSent) {
  for (const Memory memory : {Memory::kSequential, Memory::kReleaseAcquire}) {
    const Outcome outcome = explore(memory, {});
    EXPECT_TRUE(outcome.holds) << outcome.how;
    RecordProperty(memory == Memory::kSequential ? "sequential" : "release_acquire",
                   static_cast<int>(outcome.states));
  }
}

TEST(LaneRoomModel, FindsAMissingFenceOnEitherSide) {
  EXPECT_FALSE(explore(Memory::kReleaseAcquire, {.producer_fence = false, .wish = seq_cst}).holds);
  EXPECT_FALSE(explore(Memory::kReleaseAcquire, {.consumer_fence = false}).holds);
}

}  // namespace
}  // namespace clump::models
