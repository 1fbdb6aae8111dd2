#include "p2p/match_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

#include "seed.h"

namespace clump::p2p {
namespace {

struct Message : MatchEntry {
  Message(std::uint32_t context, int source, int tag) { key = {context, source, tag}; }
};

TEST(MatchQueue, FindsNothingWhenEmpty) {
  const MatchQueue<Message> queue;
  EXPECT_EQ(queue.find({1, 2, 3}), nullptr);
  EXPECT_EQ(queue.find_if([](const Message&) { return true; }), nullptr);
}

TEST(MatchQueue, SameKeyComesOutInOrder) {
  MatchQueue<Message> queue;
  Message first(1, 2, 3), other(1, 2, 4), second(1, 2, 3);
  queue.push(first);
  queue.push(other);
  queue.push(second);
  EXPECT_EQ(queue.find({1, 2, 3}), &first);
  queue.remove(first);
  EXPECT_FALSE(first.queued);
  EXPECT_EQ(queue.find({1, 2, 3}), &second);
  EXPECT_EQ(queue.find_if([](const Message&) { return true; }), &other);
}

// Against the obvious list, through growth and removal from anywhere.
TEST(MatchQueue, BehavesLikeAList) {
  std::mt19937 random(static_cast<unsigned>(test_seed(7)));
  std::deque<Message> storage;
  std::vector<Message*> reference;
  MatchQueue<Message> queue;
  for (int step = 0; step < 20'000; ++step) {
    if (random() % 5 < 3) {
      Message& m =
          storage.emplace_back(random() % 2, static_cast<int>(random() % 5), static_cast<int>(random() % 50));
      queue.push(m);
      reference.push_back(&m);
    } else {
      const MatchKey key{static_cast<std::uint32_t>(random() % 2), static_cast<int>(random() % 5),
                         static_cast<int>(random() % 50)};
      const auto expected =
          std::find_if(reference.begin(), reference.end(), [&](Message* m) { return m->key == key; });
      Message* found = queue.find(key);
      ASSERT_EQ(found, expected == reference.end() ? nullptr : *expected);
      if (found != nullptr) {
        queue.remove(*found);
        reference.erase(expected);
      }
    }
    ASSERT_EQ(queue.size(), reference.size());
  }
  for (Message* expected : reference) {
    Message* found = queue.find_if([](const Message&) { return true; });
    ASSERT_EQ(found, expected);
    queue.remove(*found);
  }
}

}  // namespace
}  // namespace clump::p2p
