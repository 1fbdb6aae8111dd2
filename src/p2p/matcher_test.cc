// The matcher against a naive model: the same random calls go to both, and both must tell the same.
//
// The model keeps two plain lists in the order of the calls. A message matches the oldest posted receive that
// fits it, a receive the oldest message that fits it (MPI-5.0 section 3.5). Each message has a number, so it
// is seen which one a receive has got.
#include "p2p/matcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "seed.h"

namespace clump::p2p {
namespace {

using datatype::Layout;

const datatype::Datatype* ints() { return datatype::predefined(MPI_INT); }

bool fits(const MatchKey& wanted, const MatchKey& message) {
  return wanted.context == message.context &&
         (wanted.source == MPI_ANY_SOURCE || wanted.source == message.source) &&
         (wanted.tag == MPI_ANY_TAG || wanted.tag == message.tag);
}

/// A receive of up to kRoom ints, and what the model says it has got.
struct Posted {
  static constexpr int kRoom = 40;
  explicit Posted(const MatchKey& wanted)
      : data(kRoom, -1), receive(operation, wanted, Layout{data.data(), kRoom, ints()}) {}
  core::Operation operation;
  std::vector<int> data;
  Receive receive;
  int expected = -1;  ///< the number of the message; -1: none yet
};

/// A message that stays with its sender until it is received.
struct Kept final : net::SendRequest {
  Kept(int number, const MatchKey& key, int count) : data(static_cast<std::size_t>(count), number) {
    envelope = net::Envelope(key.context, key.source, key.tag);
    synchronous = true;
    bytes = static_cast<Count>(data.size() * sizeof(int));
    payload = {data.data(), count, ints()};
  }
  void released() override { was_released = true; }
  std::vector<int> data;
  bool was_released = false;
};

struct Message {
  int number;
  MatchKey key;
  int count;
  Kept* kept = nullptr;
};

class Model {
 public:
  /// The receive that gets it; null: it waits.
  Posted* arrive(const Message& message) {
    for (auto it = posted_.begin(); it != posted_.end(); ++it)
      if (fits((*it)->receive.key, message.key)) {
        Posted* const found = *it;
        posted_.erase(it);
        return found;
      }
    waiting_.push_back(message);
    return nullptr;
  }
  /// The number of the message that it gets; -1: it is kept.
  int post(Posted& receive) {
    const auto found = find(receive.receive.key);
    if (found == waiting_.end()) {
      posted_.push_back(&receive);
      return -1;
    }
    const int number = found->number;
    waiting_.erase(found);
    return number;
  }
  std::list<Message>::iterator find(const MatchKey& key) {
    return std::ranges::find_if(waiting_, [&](const Message& message) { return fits(key, message.key); });
  }
  bool take_back(Posted& receive) {
    const auto found = std::ranges::find(posted_, &receive);
    if (found == posted_.end()) return false;
    posted_.erase(found);
    return true;
  }
  bool take_back(const Kept& kept) {
    return std::erase_if(waiting_, [&](const Message& message) { return message.kept == &kept; }) != 0;
  }
  std::list<Message>& waiting() { return waiting_; }
  std::list<Posted*>& posted() { return posted_; }

 private:
  std::list<Posted*> posted_;
  std::list<Message> waiting_;
};

class Interleaving {
 public:
  explicit Interleaving(unsigned seed) : random_(seed) {}

  void steps(int count) {
    for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) step();
    finish();
  }

 private:
  int number(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  /// Few of each, so that many fit. Contexts of one part and of others.
  MatchKey key(bool wanted) {
    static constexpr std::uint32_t kContexts[] = {0, 1, 2, 16, 17};
    MatchKey key{kContexts[number(5)], number(3), number(3)};
    if (wanted && number(4) == 0) key.source = MPI_ANY_SOURCE;
    if (wanted && number(4) == 0) key.tag = MPI_ANY_TAG;
    return key;
  }

  void step() {
    switch (number(10)) {
      case 0:
      case 1:
      case 2:
        return send_eager();
      case 3:
        return send_kept();
      case 4:
      case 5:
      case 6:
        return post();
      case 7:
        return cancel_receive();
      case 8:
        return cancel_send();
      default:
        return number(2) == 0 ? probe() : probe_and_receive();
    }
  }

  Message next_message() {
    return {next_++, key(false), number(4) == 0 ? Posted::kRoom : number(20), nullptr};
  }

  void send_eager() {
    const Message message = next_message();
    std::vector<int> data(static_cast<std::size_t>(message.count), message.number);
    Posted* const receiver = model_.arrive(message);
    ASSERT_TRUE(matcher_.take({message.key.context, message.key.source, message.key.tag},
                              message.count * Count{sizeof(int)}, {data.data(), message.count, ints()},
                              net::Sink::Bound::kIgnore));
    std::ranges::fill(data, -2);  // the buffer is the sender's again
    if (receiver != nullptr) check_got(*receiver, message.number, message.key, message.count);
  }

  void send_kept() {
    Message message = next_message();
    message.count = std::max(message.count, 1);
    Kept& kept = *kept_.emplace_back(std::make_unique<Kept>(message.number, message.key, message.count));
    message.kept = &kept;
    Posted* const receiver = model_.arrive(message);
    const bool matched = matcher_.arrive(kept);
    ASSERT_EQ(matched, receiver != nullptr);
    if (!matched) return;
    matcher_.move(kept);
    EXPECT_TRUE(kept.was_released);
    check_got(*receiver, message.number, message.key, message.count);
  }

  void post() {
    Posted& receive = *all_.emplace_back(std::make_unique<Posted>(key(true)));
    const auto waiting = model_.find(receive.receive.key);
    const Message message = waiting == model_.waiting().end() ? Message{-1, {}, 0, nullptr} : *waiting;
    const int expected = model_.post(receive);
    matcher_.post(receive.receive);
    ASSERT_EQ(receive.operation.completion.done(), expected >= 0);
    if (expected >= 0) check_got(receive, message.number, message.key, message.count);
  }

  void cancel_receive() {
    if (all_.empty()) return;
    Posted& receive = *all_[static_cast<std::size_t>(number(static_cast<int>(all_.size())))];
    if (receive.operation.completion.done()) return;  // the matcher does not know it any more
    if (!model_.take_back(receive)) return;           // it was taken back before
    EXPECT_TRUE(matcher_.retract(receive.receive));
    EXPECT_FALSE(receive.operation.completion.done());
  }

  void cancel_send() {
    if (kept_.empty()) return;
    Kept& kept = *kept_[static_cast<std::size_t>(number(static_cast<int>(kept_.size())))];
    if (kept.was_released) return;
    const bool was_there = model_.take_back(kept);
    EXPECT_EQ(matcher_.retract(kept), was_there);
    EXPECT_FALSE(kept.was_released);
  }

  void probe() {
    const MatchKey wanted = key(true);
    const auto expected = model_.find(wanted);
    Matcher::Probed found{};
    ASSERT_EQ(matcher_.probe(wanted, found), expected != model_.waiting().end());
    if (expected == model_.waiting().end()) return;
    EXPECT_EQ(found.source, expected->key.source);
    EXPECT_EQ(found.tag, expected->key.tag);
    EXPECT_EQ(found.bytes, expected->count * Count{sizeof(int)});
  }

  /// MPI_Mprobe and MPI_Mrecv.
  void probe_and_receive() {
    const MatchKey wanted = key(true);
    const auto expected = model_.find(wanted);
    Unexpected* const taken = matcher_.withdraw(wanted);
    ASSERT_EQ(taken != nullptr, expected != model_.waiting().end());
    if (taken == nullptr) return;
    const Message message = *expected;
    model_.waiting().erase(expected);
    Posted& receive = *all_.emplace_back(std::make_unique<Posted>(wanted));
    matcher_.receive_taken(taken, receive.receive);
    check_got(receive, message.number, message.key, message.count);
  }

  static void check_got(Posted& receive, int message, const MatchKey& key, int count) {
    ASSERT_TRUE(receive.operation.completion.done());
    const core::Result& result = receive.operation.result;
    EXPECT_EQ(result.source, key.source);
    EXPECT_EQ(result.tag, key.tag);
    EXPECT_EQ(result.bytes, count * Count{sizeof(int)});
    for (int i = 0; i < Posted::kRoom; ++i)
      ASSERT_EQ(receive.data[static_cast<std::size_t>(i)], i < count ? message : -1);
  }

  /// What waits at the end is what the model has.
  void finish() {
    const Matcher::Lengths lengths = matcher_.lengths();
    EXPECT_EQ(lengths.posted, std::ssize(model_.posted()));
    EXPECT_EQ(lengths.unexpected, std::ssize(model_.waiting()));
    for (Posted* const receive : model_.posted()) EXPECT_TRUE(matcher_.retract(receive->receive));
    for (const Message& message : model_.waiting())
      if (message.kept != nullptr) {
        EXPECT_TRUE(matcher_.retract(*message.kept));
      }
  }

  std::mt19937 random_;
  Matcher matcher_;
  Model model_;
  std::vector<std::unique_ptr<Posted>> all_;
  std::vector<std::unique_ptr<Kept>> kept_;
  int next_ = 0;
};

TEST(Matcher, DoesAsTheModelDoes) {
  const auto first = static_cast<unsigned>(test_seed(1));
  for (unsigned seed = first; seed < first + 200 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Interleaving(seed).steps(400);
  }
}

// Longer queues: tables grow, and what was cancelled leaves gaps.
TEST(Matcher, DoesAsTheModelDoesWithLongQueues) {
  const auto first = static_cast<unsigned>(test_seed(1));
  for (unsigned seed = first; seed < first + 3 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Interleaving(seed).steps(20000);
  }
}

// A message that is longer than its receive: what there is room for, and the error; also of one that waited.
TEST(Matcher, TellsOfMessagesThatAreTooLong) {
  for (const bool early : {false, true}) {
    Matcher matcher;
    std::vector<int> data(Posted::kRoom + 2, 7);
    const auto send = [&] {
      EXPECT_TRUE(matcher.take({4, 1, 2}, static_cast<Count>(data.size() * sizeof(int)),
                               {data.data(), static_cast<Count>(data.size()), ints()},
                               net::Sink::Bound::kRespect));
    };
    Posted receive({4, 1, 2});
    if (early) send();
    matcher.post(receive.receive);
    if (!early) send();
    ASSERT_TRUE(receive.operation.completion.done());
    EXPECT_EQ(base::Status::from_code(receive.operation.result.error).error_class(), MPI_ERR_TRUNCATE);
    EXPECT_EQ(receive.operation.result.bytes, Posted::kRoom * Count{sizeof(int)});
    EXPECT_EQ(receive.data, std::vector<int>(Posted::kRoom, 7));
  }
}

// No more is copied than the bound lets wait, and there is room again when it was received.
TEST(Matcher, KeepsToItsBound) {
  Matcher matcher;
  matcher.set_bound(1024 * 1024);
  std::vector<int> data(8 * 1024, 3);
  const Layout payload{data.data(), static_cast<Count>(data.size()), ints()};
  int taken = 0;
  while (taken < 1000 && matcher.take({2, 0, taken}, payload.bytes(), payload, net::Sink::Bound::kRespect))
    ++taken;
  EXPECT_GT(taken, 20);
  EXPECT_LT(taken, 40);
  std::vector<int> into(data.size());
  for (int tag = 0; tag < taken; ++tag) {
    core::Operation operation;
    Receive receive(operation, {2, 0, tag}, {into.data(), payload.count, ints()});
    matcher.post(receive);
    ASSERT_TRUE(operation.completion.done());
  }
  EXPECT_TRUE(matcher.take({2, 0, 0}, payload.bytes(), payload, net::Sink::Bound::kRespect));
}

// Several senders at once, and a receiver with and without wildcards: nothing is lost, and what one sender
// sends with one tag comes in its order.
TEST(Matcher, KeepsTheOrderOfEachSender) {
  constexpr int kSenders = 3, kEach = 3000;
  Matcher matcher;
  std::vector<std::thread> senders;
  for (int source = 0; source < kSenders; ++source)
    senders.emplace_back([&matcher, source] {
      for (int i = 0; i < kEach; ++i) {
        int value = i;
        ASSERT_TRUE(
            matcher.take({6, source, i % 2}, sizeof value, {&value, 1, ints()}, net::Sink::Bound::kIgnore));
      }
    });
  std::vector<int> next(kSenders * 2, 0);
  for (int i = 0; i < kSenders * kEach; ++i) {
    int value = -1;
    core::Operation operation;
    Receive receive(operation, {6, MPI_ANY_SOURCE, MPI_ANY_TAG}, {&value, 1, ints()});
    matcher.post(receive);
    operation.completion.wait();
    const auto stream = static_cast<std::size_t>(operation.result.source * 2 + operation.result.tag);
    ASSERT_EQ(value, next[stream] * 2 + operation.result.tag);
    ++next[stream];
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(matcher.lengths().unexpected, 0);
}

}  // namespace
}  // namespace clump::p2p
