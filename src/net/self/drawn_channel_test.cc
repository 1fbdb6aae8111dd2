#include "net/self/drawn_channel.h"

#include <map>
#include <set>

#include "fiber/test_exploration.h"

namespace clump::net {
namespace {

/// Writes down what comes: its source and its tag.
class Diary final : public Sink {
 public:
  explicit Diary(std::string& text) : text_(text) {}
  bool take(Envelope envelope, Count bytes, const datatype::Layout& payload, Bound) override {
    int value = -1;
    if (bytes == sizeof value)
      datatype::pack({reinterpret_cast<std::byte*>(&value), sizeof value}, payload, 0);
    note(envelope, value == envelope.tag());
    return true;
  }
  bool arrive(SendRequest& message) override {
    note(message.envelope, message.synchronous);
    return true;
  }
  void move(SendRequest& message) override { message.released(); }
  void fetched(SendRequest&) override {}
  bool retract(SendRequest&) override { return false; }
  SendRequest* retract_remote(Envelope, const SendRequest*) override { return nullptr; }

  int came = 0;

 private:
  void note(Envelope envelope, bool well) {
    text_ += well ? std::to_string(envelope.source()) + std::to_string(envelope.tag()) + " " : "wrong ";
    ++came;
  }
  std::string& text_;
};

struct Letter final : SendRequest {
  void released() override { is_released = true; }
  bool is_released = false;
};

constexpr int kSenders = 3, kEach = 4;

/// Three ranks send to a fourth, which says what has come in which order.
void send_all(int fiber, std::string& text) {
  static Diary diary(text);
  static DrawnChannel channel({&diary, &diary, &diary, &diary});
  if (fiber == kSenders) {
    while (diary.came < kSenders * kEach) fiber::yield();
    return;
  }
  const Route route{fiber, kSenders};
  for (int i = 0; i < kEach; ++i) {
    const datatype::Layout payload{&i, sizeof i, datatype::predefined(MPI_BYTE)};
    const Envelope envelope{0, fiber, i};
    if (channel.try_send(route, envelope, sizeof i, payload)) continue;
    Letter letter;
    letter.envelope = envelope;
    channel.send(route, letter);
    while (!letter.is_released) fiber::yield();
  }
}

std::string arrivals(std::uint64_t seed) { return fiber::ExploredRun::text(seed, kSenders + 1, send_all); }

TEST(DrawnChannel, KeepsTheOrderOfEachPair) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const std::string text = arrivals(seed);
    orders.insert(text);
    ASSERT_EQ(text.size(), 3u * kSenders * kEach) << text;
    std::map<char, char> next;
    for (std::size_t at = 0; at < text.size(); at += 3) {
      char& expected = next.try_emplace(text[at], '0').first->second;
      EXPECT_EQ(text[at + 1], expected++) << text;
    }
  }
  EXPECT_GT(orders.size(), 40u);
}

TEST(DrawnChannel, TakesBackWhatHasNotArrived) {
  const std::string text = fiber::ExploredRun::text(1, 1, [](int, std::string& text) {
    Diary diary(text);
    DrawnChannel channel({&diary});
    Letter first, second;
    first.envelope = {0, 0, 1};
    second.envelope = {0, 0, 2};
    channel.send({0, 0}, first);
    channel.send({0, 0}, second);
    text += channel.retract({0, 0}, first) ? "back " : "late ";
    while (!second.is_released) fiber::yield();
    text += channel.retract({0, 0}, second) ? "back" : "late";
  });
  EXPECT_EQ(text, "back 02 late");
}

}  // namespace
}  // namespace clump::net
