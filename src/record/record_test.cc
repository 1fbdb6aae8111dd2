// Records as they are written by threads of several ranks, and found again in a copy of the region.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "record/recorder.h"

namespace clump::record {
namespace {

constexpr int kRanks = 130;  // three chunks of peers
constexpr unsigned kSend = 7, kReceive = 9;

/// One region for the process, as in a host process.
const Region& region() {
  static const Region opened = [] {
    int descriptor = -1;
    EXPECT_TRUE(Region::make(kRanks, 1500, descriptor).ok());
    EXPECT_TRUE(Book::open(descriptor, kRanks).ok());
    Region mapped;
    EXPECT_TRUE(mapped.map(descriptor).ok());
    return mapped;
  }();
  return opened;
}

void as_thread(const auto& work) { std::thread(work).join(); }

void send(int rank, int peer, std::int64_t bytes) {
  Recorder& mine = Recorder::mine();
  mine.begin(rank, kSend);
  EXPECT_TRUE(mine.is_in_call());
  mine.end();
  mine.sent({peer, 0, bytes});
  mine.keep({peer, 0, bytes}, {}, 8);
}

ThreadRecord& only_thread(int rank) {
  auto* const found = region().at<ThreadRecord>(region().rank(rank).threads);
  EXPECT_EQ(found->next, 0U);
  return *found;
}

/// What is used, as a thread sees it to which another one comes before each of its writes.
struct Contended {
  std::uint64_t value;
  int writes = 0;
  std::function<void()> other;

  std::uint64_t load(std::memory_order) const { return value; }
  bool compare_exchange_weak(std::uint64_t& expected, std::uint64_t desired, std::memory_order) {
    if (other) std::exchange(other, {})();
    ++writes;
    if (value == expected) return value = desired, true;
    expected = value;
    return false;
  }
};

TEST(Reservation, WhatAnotherThreadTakesInBetweenIsItsOwn) {
  Contended used{.value = 100};
  std::uint64_t theirs = 0;
  used.other = [&] { theirs = reserve(used, 64, 1000); };
  EXPECT_EQ(reserve(used, 128, 1000), 164U);
  EXPECT_EQ(theirs, 100U);
  EXPECT_EQ(used.value, 292U);
  used.other = [&] { theirs = reserve(used, 700, 1000); };  // and then there is no room
  EXPECT_EQ(reserve(used, 128, 1000), 0U);
  EXPECT_EQ(theirs, 292U);
  EXPECT_EQ(used.value, 992U);
}

TEST(Reservation, OneThatDoesNotFitWritesNothing) {
  Contended used{.value = 900};
  EXPECT_EQ(reserve(used, 101, 1000), 0U);
  EXPECT_EQ(used.writes, 0);
  EXPECT_EQ(reserve(used, 100, 1000), 900U);
  EXPECT_EQ(reserve(used, 1, 1000), 0U);
  EXPECT_EQ(used.value, 1000U);
}

TEST(Records, CountsMessagesByPeerAndSize) {
  region();
  as_thread([] {
    for (int i = 0; i < 3; ++i) send(3, 129, 1000);
    send(3, 0, 0);
  });
  ThreadRecord& thread = only_thread(3);
  EXPECT_EQ(thread.calls[kSend].calls.value(), 4U);
  EXPECT_EQ(thread.calls[kSend].bytes.value(), 3000U);
  EXPECT_EQ(thread.messages[10].messages.value(), 3U);
  EXPECT_EQ(thread.messages[0].messages.value(), 1U);
  const auto chunks = region().peers_of(thread);
  ASSERT_EQ(chunks.size(), 3U);
  EXPECT_EQ(chunks[1], 0U);
  const PeerRecord& peer = region().at<PeerChunk>(chunks[2])->peers[1];
  EXPECT_EQ(peer.messages.value(), 3U);
  EXPECT_EQ(peer.bytes.value(), 3000U);
}

TEST(Records, BlamesWhoWasWaitedFor) {
  region();
  as_thread([] {
    Recorder& mine = Recorder::mine();
    mine.wait_begins();  // outside of any call: nobody's
    mine.wait_ended(1);
    mine.begin(4, kReceive);
    mine.wait_begins();
    mine.wait_ended(-1);  // from anybody
    mine.end();
    mine.waited_for(17);
  });
  ThreadRecord& thread = only_thread(4);
  EXPECT_GT(thread.calls[kReceive].waited.value(), 0U);
  EXPECT_LE(thread.calls[kReceive].waited.value(), thread.calls[kReceive].ticks.value());
  int found = 0;
  for (const WaitRecord& wait : thread.waits) {
    if (wait.who == 0) continue;
    ++found;
    EXPECT_EQ(wait.who, std::uint64_t{18} << 16 | kReceive);
    EXPECT_EQ(wait.waits.value(), 1U);
    EXPECT_EQ(wait.ticks.value(), thread.calls[kReceive].waited.value());
  }
  EXPECT_EQ(found, 1);
}

TEST(Records, WaitingForACoreIsNoWaitingForOthers) {
  region();
  as_thread([] {
    Recorder& mine = Recorder::mine();
    const auto pass = [](std::uint64_t ticks) {
      for (const std::uint64_t end = Book::now() + ticks; Book::now() < end;) {
      }
    };
    mine.begins_watch(true);
    mine.begin(8, kReceive);
    mine.wait_begins();
    pass(1000);
    const std::uint64_t woken = Book::now();
    pass(2000);
    mine.had_no_core(woken);
    mine.wait_ended(17);
    mine.end();
    const std::uint64_t offered = Book::now();
    pass(3000);
    mine.had_no_core(offered);
  });
  ThreadRecord& thread = only_thread(8);
  const CallRecord& call = thread.calls[kReceive];
  EXPECT_GE(call.waited.value(), 1000U);
  EXPECT_GE(call.no_core.value(), 2000U);
  EXPECT_LE(call.waited.value() + call.no_core.value(), call.ticks.value());
  EXPECT_GE(thread.no_core.value(), 3000U);
  for (const WaitRecord& wait : thread.waits) {
    if (wait.who == 0) continue;
    EXPECT_EQ(wait.ticks.value(), call.waited.value());
  }
}

/// Of a kernel thread the kernel tells: while others have its core, time goes by that is not its own.
TEST(Records, TheKernelTellsWhoHadNoCore) {
  region();
  cpu_set_t before, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);  // threads inherit it
  std::atomic<bool> over{false};
  std::thread rival([&] {
    while (!over.load()) {
    }
  });
  as_thread([] {
    Recorder& mine = Recorder::mine();
    mine.begins_watch(false);
    mine.begin(9, kSend);
    mine.end();
    for (const auto end = system_nanoseconds() + 200'000'000; system_nanoseconds() < end;) {
    }
    mine.begin(9, kSend);
    for (const auto end = system_nanoseconds() + 200'000'000; system_nanoseconds() < end;) {
    }
    mine.end();
  });
  over = true;
  rival.join();
  ::sched_setaffinity(0, sizeof before, &before);
  if (region().header().core_is_untold.load() != 0) GTEST_SKIP() << "the kernel does not count";
  ThreadRecord& thread = only_thread(9);
  EXPECT_GT(thread.no_core.value(), 0U);
  EXPECT_GT(thread.calls[kSend].no_core.value(), 0U);
  EXPECT_LE(thread.calls[kSend].no_core.value(), thread.calls[kSend].ticks.value());
}

TEST(Records, MeetingsKnowWhoCameLast) {
  region();
  constexpr std::uint64_t kCollective = 12345;
  as_thread([] {
    Recorder& mine = Recorder::mine();
    mine.begin(5, kReceive);
    mine.begins_collective(kCollective, 5);
    mine.wait_begins();
    as_thread([] {
      Recorder& other = Recorder::mine();
      other.begin(6, kReceive);
      other.begins_collective(kCollective, 6);
      other.end();
      other.waited_for_last(kCollective);
    });
    mine.wait_ended(-1);
    mine.end();
    mine.waited_for_last(kCollective);
  });
  int found = 0;
  for (const WaitRecord& wait : only_thread(5).waits) {
    if (wait.who == 0) continue;
    ++found;
    EXPECT_EQ(wait.who, std::uint64_t{7} << 16 | kReceive);
  }
  EXPECT_EQ(found, 1);
  for (const WaitRecord& wait : only_thread(6).waits) EXPECT_EQ(wait.who, 0U);
}

TEST(Records, ThreadsOfARankHaveTheirOwnAndHandThemOn) {
  region();
  as_thread([] { send(8, 1, 1); });
  as_thread([] { send(8, 1, 1); });  // gets the first one's
  EXPECT_EQ(only_thread(8).calls[kSend].calls.value(), 2U);
  as_thread([] {
    send(8, 1, 1);
    as_thread([] { send(8, 1, 1); });
  });
  auto* const young = region().at<ThreadRecord>(region().rank(8).threads);
  ASSERT_NE(young->next, 0U);
  EXPECT_EQ(young->calls[kSend].calls.value(), 1U);
  EXPECT_EQ(region().at<ThreadRecord>(young->next)->calls[kSend].calls.value(), 3U);
}

TEST(Records, EventsAreKeptUntilThereAreTooMany) {
  region();
  as_thread([] {
    for (int i = 0; i < 2500; ++i) send(9, 1, i);
  });
  const ThreadRecord& thread = only_thread(9);
  EXPECT_EQ(thread.events.value(), 2000U);  // 1500, and what is left of a chunk
  EXPECT_EQ(thread.events_dropped.value(), 500U);
  const auto* const first = region().at<EventChunk>(thread.first_chunk);
  const auto* const second = region().at<EventChunk>(first->next);
  EXPECT_EQ(second->events[999].sent, 1999);
  EXPECT_EQ(second->next, 0U);
  EXPECT_LE(first->events[0].end, first->events[1].begin);
}

TEST(Records, AreWatchedFromTimeToTime) {
  region();
  RankRecord& rank = region().rank(10);
  Book::unwatch(10);
  EXPECT_EQ(rank.watched.value(), 0U);
  Book::watch(10);
  const std::uint64_t since = rank.since;
  EXPECT_NE(since, 0U);
  Book::watch(10);
  EXPECT_EQ(rank.since, since);
  Book::unwatch(10);
  EXPECT_EQ(rank.since, 0U);
  EXPECT_GT(rank.watched.value(), 0U);
  EXPECT_EQ(rank.first_watched, since);
}

TEST(Records, AreFoundInACopy) {
  region();
  as_thread([] { send(11, 2, 64); });
  std::vector<std::byte> copy(region().header().used);
  std::memcpy(copy.data(), &region().header(), copy.size());
  Region read;
  ASSERT_TRUE(read.read(copy).ok());
  const auto* const thread = read.at<ThreadRecord>(read.rank(11).threads);
  ASSERT_NE(thread, nullptr);
  EXPECT_EQ(thread->calls[kSend].bytes.value(), 64U);
  EXPECT_EQ(read.at<ThreadRecord>(copy.size()), nullptr);
  copy[0] = std::byte{0};
  EXPECT_FALSE(read.read(copy).ok());
}

}  // namespace
}  // namespace clump::record
