// Short messages that go together.
#include <cstring>

#include "net/ofi/test_channels.h"

namespace clump::net {
namespace {

/// Floods: many short messages, one right after the other, from rank 0 to rank 1.
class OfiFlood : public Ofi {
 protected:
  void SetUp() override {
    Ofi::SetUp();
    ASSERT_TRUE(drain_until([&] { return send_one(); }));
    ASSERT_TRUE(drain_until([&] { return sink(1).came == 1; }));
  }
  bool send_one() {
    int number = sent_;
    const bool sent =
        channel(0).try_send({0, 1}, {4, 0, number}, sizeof number, bytes_at(&number, sizeof number));
    sent_ += sent ? 1 : 0;
    return sent;
  }
  void send(int count) {
    for (const int end = sent_ + count; sent_ < end;)
      if (!send_one()) drain_for(0ms);  // the network thread is inside, or there is no room
  }
  /// While the sender does not look. False: they do not come.
  bool receive_all() {
    const auto end = std::chrono::steady_clock::now() + 60s;
    do channel(1).drain(0);
    while (sink(1).came < sent_ && std::chrono::steady_clock::now() < end);
    return sink(1).came == sent_;
  }
  void expect_order() {
    ASSERT_TRUE(drain_until([&] { return sink(1).came == sent_; }));
    for (int i = 0; i < sent_; ++i) {
      Basket::Entry& entry = sink(1).entry(static_cast<std::size_t>(i));
      ASSERT_EQ(entry.envelope.tag(), i);
      ASSERT_EQ(std::memcmp(entry.data.data(), &i, sizeof i), 0);
    }
  }
  int sent_ = 0;
};

TEST_F(OfiFlood, GoesTogether) {
  bool any_was_held_back = false;
  for (int round = 0; round < 20; ++round) {
    send(50);
    any_was_held_back = channel(0).holds_back() || any_was_held_back;
    // A thread that looks sends them.
    ASSERT_TRUE(drain_until([&] { return sink(1).came == sent_; }));
  }
  EXPECT_TRUE(any_was_held_back);
  send(5000);  // more than goes at once
  expect_order();
}

TEST_F(OfiFlood, IsNoneIfThereAreFewOrTheyComeSlowly) {
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    send(2 + round % 2);
    ASSERT_FALSE(channel(0).holds_back()) << "in round " << round;
    ASSERT_TRUE(receive_all());
    // Longer than between messages of a burst.
    for (const auto end = std::chrono::steady_clock::now() + 20us; std::chrono::steady_clock::now() < end;) {
    }
  }
  expect_order();
}

TEST_F(OfiFlood, ArrivesThoughItsSenderComputes) {
  int held_back = 0, by_timer = 0;
  for (int round = 0; round < 20; ++round) {
    while (!channel(0).may_sleep()) drain_for(0ms);  // then no thread looks for long
    const std::uint64_t before = channel(0).network_thread().sent_late();
    send(50);
    held_back += channel(0).holds_back() ? 1 : 0;
    ASSERT_TRUE(receive_all());
    by_timer += channel(0).network_thread().sent_late() > before ? 1 : 0;
  }
  EXPECT_GT(held_back, 0);
  EXPECT_GE(by_timer, held_back / 2) << "not when the network thread looks for other reasons";
}

TEST_F(OfiFlood, IsOvertakenByNothing) {
  std::deque<Bytes> data;
  std::deque<Message> sent;
  for (int round = 0; round < 50; ++round) {
    send(20);
    // At once, out of its buffer, or as an offer.
    const std::size_t sizes[] = {3000, 10'000, 100'000};
    data.push_back(pattern(sizes[round % 3]));
    std::memcpy(data.back().data(), &sent_, sizeof sent_);
    sent.emplace_back(data.back(), sent_);
    ++sent_;
    channel(0).send({0, 1}, sent.back());
  }
  send(20);
  expect_order();
  EXPECT_TRUE(drain_until(
      [&] { return std::ranges::all_of(sent, [](const Message& one) { return one.times_released == 1; }); }));
}

TEST_F(OfiFlood, EndsWhereTheReceiverHasNoRoom) {
  sink(1).set_crowded(true);
  for (int i = 0; i < 60'000; ++i) {
    send_one();
    if (i % 20'000 == 0) drain_for(5ms);
  }
  EXPECT_LE(sent_, (1 << 20) / 128) << "the window, in messages with what each costs beside its bytes";
  EXPECT_GT(sent_, 7000);
  expect_order();
  sink(1).set_crowded(false);
  drain_for(5ms);
  const int before = sent_;
  EXPECT_TRUE(drain_until([&] { return send_one(), sent_ > before + 7000; })) << "there is room again";
  expect_order();
}

}  // namespace
}  // namespace clump::net
