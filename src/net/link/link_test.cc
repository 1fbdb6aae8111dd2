// Two link channels in one process, as if they were of two jobs.
#include "net/link/link_channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/status.h"
#include "net/link/abstract_socket.h"

namespace clump::net {

namespace {

using link::JobName;
using link::PeerName;

datatype::Layout ints(std::vector<int>& values) {
  return {values.data(), static_cast<Count>(values.size()), datatype::predefined(MPI_INT)};
}

void wait_for(const std::function<bool()>& condition) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
  ASSERT_TRUE(condition());
}

/// Keeps what arrives; fetches what is announced, if it is to.
class Receiver final : public Sink {
 public:
  struct Message {
    Envelope envelope;
    std::vector<int> values;
  };
  bool take(Envelope envelope, Count bytes, const datatype::Layout& payload, Bound) override {
    std::vector<int> values(static_cast<std::size_t>(bytes) / sizeof(int));
    datatype::copy(ints(values), payload, 0, bytes);
    const std::lock_guard lock(mutex_);
    came_.push_back({envelope, std::move(values)});
    return true;
  }
  bool arrive(SendRequest& message) override {
    const std::lock_guard lock(mutex_);
    if (waits) {
      kept_ = &message;
      return false;
    }
    return true;
  }
  void move(SendRequest& message) override {
    auto& fresh = fetching_;
    fresh.envelope = message.envelope;
    fresh.values.assign(static_cast<std::size_t>(message.bytes) / sizeof(int), 0);
    message.fetch(ints(fresh.values), message.bytes);
  }
  void fetched(SendRequest&) override {
    const std::lock_guard lock(mutex_);
    came_.push_back(std::move(fetching_));
  }
  bool retract(SendRequest&) override { return false; }
  SendRequest* retract_remote(Envelope, const SendRequest* original) override {
    const std::lock_guard lock(mutex_);
    if (kept_ == nullptr || kept_->original != original) return nullptr;
    return std::exchange(kept_, nullptr);
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return came_.size();
  }
  SendRequest* kept() {
    const std::lock_guard lock(mutex_);
    return kept_;
  }
  const Message& at(std::size_t i) { return came_[i]; }
  void become_crowded(bool is) { crowded_ = is; }

  bool waits = false;

 private:
  std::mutex mutex_;
  std::vector<Message> came_;
  Message fetching_;
  SendRequest* kept_ = nullptr;
};

struct Send final : SendRequest {
  void released() override { is_released = true; }
  void cancelled() override { is_cancelled = true; }
  std::atomic<bool> is_released{false}, is_cancelled{false};
};

constexpr std::uint32_t kJobContext = 6, kContext = 0x80000010;

/// A job of one process with one rank, 0.
struct Job {
  explicit Job(std::uint32_t checks = 0, int places = 4)
      : name{base::random_number(), base::random_number()} {
    LinkChannel::Setup setup;
    setup.job = name;
    setup.checks = checks;
    setup.first_place = 1;
    setup.places = places;
    setup.job_context = kJobContext;
    setup.process_of = [](int) { return 0; };
    setup.find_sink = [this](int rank) { return rank == 0 ? &receiver : nullptr; };
    setup.take_place = [](int) {};
    setup.lost = [this](int, const PeerName& of, const std::string&) {
      lost = of;
      ++losses;
    };
    setup.gone = [this](int) { ++departures; };
    channel = new LinkChannel(std::move(setup));  // its thread never ends
  }
  PeerName rank() const { return {name, 0, 0}; }

  JobName name;
  Receiver receiver;
  std::atomic<int> losses{0}, departures{0};
  PeerName lost;
  LinkChannel* channel;
};

/// The server listens, and the client has a place for the server's rank.
class Link : public testing::Test {
 protected:
  void meet() {
    ASSERT_TRUE(server.channel->listen().ok());
    ASSERT_TRUE(client.channel->connect(server.rank()).ok());
    held = client.channel->hold_place_of(server.rank(), place);
    ASSERT_EQ(place, 4);  // from the last one down
  }
  void send(int value, std::uint32_t context = kContext) {
    std::vector<int> values{value};
    ASSERT_TRUE(client.channel->try_send({0, place}, Envelope(context, 0, 3), sizeof value, ints(values)));
  }

  // Never freed: the threads of their channels go on.
  Job& server = *new Job;
  Job& client = *new Job;
  int place = -1;
  HeldPlace held;
};

TEST_F(Link, MessagesComeInOrder) {
  meet();
  for (int i = 0; i < 1000; ++i) send(i);
  wait_for([&] { return server.receiver.count() == 1000; });
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(server.receiver.at(static_cast<std::size_t>(i)).values.at(0), i);
  EXPECT_EQ(server.receiver.at(0).envelope, Envelope(kContext, 0, 3));
}

TEST_F(Link, SourceInTheContextOfTheJobIsAPlace) {
  meet();
  send(1, kJobContext | 1);
  wait_for([&] { return server.receiver.count() == 1; });
  EXPECT_EQ(server.receiver.at(0).envelope.source(), 4);
  EXPECT_EQ(server.channel->name_of(4), client.rank());
}

TEST_F(Link, LongMessageIsPulled) {
  meet();
  std::vector<int> values(3 << 20);
  std::iota(values.begin(), values.end(), 0);
  Send message;
  message.envelope = Envelope(kContext, 0, 3);
  message.bytes = static_cast<Count>(values.size() * sizeof(int));
  message.payload = ints(values);
  EXPECT_FALSE(client.channel->try_send({0, place}, message.envelope, message.bytes, message.payload));
  client.channel->send({0, place}, message);
  wait_for([&] { return server.receiver.count() == 1 && message.is_released; });
  EXPECT_EQ(server.receiver.at(0).values, values);
}

TEST_F(Link, WhatNoReceiveWantsCanBeCancelled) {
  meet();
  server.receiver.waits = true;
  std::vector<int> values(3);
  Send message;
  message.envelope = Envelope(kContext, 0, 3);
  message.synchronous = true;
  message.bytes = 12;
  message.payload = ints(values);
  client.channel->send({0, place}, message);
  wait_for([&] { return server.receiver.kept() != nullptr; });
  EXPECT_FALSE(client.channel->retract({0, place}, message));
  wait_for([&] { return message.is_cancelled.load(); });
  EXPECT_FALSE(message.is_released);
}

TEST_F(Link, CrowdedReceiverHasMessagesAnnounced) {
  meet();
  server.receiver.become_crowded(true);
  send(1);
  std::vector<int> values{2};
  const auto goes = [&] {
    return client.channel->try_send({0, place}, Envelope(kContext, 0, 3), sizeof(int), ints(values));
  };
  wait_for([&] { return !goes(); });
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(goes()) << "as long as it is crowded";
  server.receiver.become_crowded(false);
  Send message;
  message.envelope = Envelope(kContext, 0, 3);
  message.bytes = sizeof(int);
  message.payload = ints(values);
  client.channel->send({0, place}, message);  // which has to be announced; then the server tells
  wait_for([&] { return message.is_released.load() && goes(); });
}

TEST_F(Link, LongMessagesTakeNoMemoryWhileTheyWaitToBeWritten) {
  const auto in_use = [] {
    const struct mallinfo2 all = ::mallinfo2();
    return all.uordblks + all.hblkhd;
  };
  std::vector<int> values(1 << 20);
  Send message;
  message.payload = ints(values);
  const std::size_t before = in_use();
  std::vector<link::PendingFrame> waiting;
  for (int i = 0; i < 100; ++i) waiting.push_back(link::PendingFrame::streamed(message, 0, 4 << 20));
  EXPECT_LT(in_use(), before + (1 << 20));
}

TEST_F(Link, WrongTokenIsRefusedAndTold) {
  ASSERT_TRUE(server.channel->listen().ok());
  struct {
    link::Frame frame{.kind = link::Kind::kHello, .bytes = sizeof(link::Hello)};
    link::Hello hello;
  } greeting;
  greeting.hello.token = server.name.token + 1;
  const int asking = link::connected_socket(link::link_address(server.name, 0));
  ASSERT_GE(asking, 0);
  ASSERT_EQ(::send(asking, &greeting, sizeof greeting, 0), static_cast<ssize_t>(sizeof greeting));
  std::string answer;
  char byte = 0;
  wait_for([&] {
    while (::recv(asking, &byte, 1, MSG_DONTWAIT) == 1) answer += byte;
    return answer.find("the token is not that of the job") != answer.npos;
  });
  ::close(asking);
  EXPECT_TRUE(client.channel->connect(server.rank()).ok());
}

TEST_F(Link, WhereAProcessListensIsNotToForesee) {
  ASSERT_TRUE(server.channel->listen().ok());
  PeerName wrong = server.rank();
  ++wrong.job.token;
  const base::Status refused = client.channel->connect(wrong);
  EXPECT_EQ(refused.error_class(), MPI_ERR_PORT);
  EXPECT_NE(base::message_of(refused.code()).find("nobody listens"), std::string::npos);
  std::set<std::string> names;
  for (const JobName& job : {server.name, wrong.job, JobName{server.name.id + 1, server.name.token}})
    for (const int process : {0, 1, 2}) names.insert(link::link_address(job, process));
  EXPECT_EQ(names.size(), 9u);
}

TEST_F(Link, WhoHasAName) {
  const std::string name = link::link_address({base::random_number(), 1}, 0);
  const int bound = link::bound_socket(name, SOCK_STREAM);
  ASSERT_GE(bound, 0);
  EXPECT_NE(link::holder_of(name), "") << "it does not listen";
  ASSERT_EQ(::listen(bound, 1), 0);
  EXPECT_EQ(link::holder_of(name), "") << "this user";
  ::close(bound);
}

TEST_F(Link, OtherChecksAreRefused) {
  Job& checked = *new Job(1);
  ASSERT_TRUE(server.channel->listen().ok());
  const base::Status refused = checked.channel->connect(server.rank());
  EXPECT_NE(base::message_of(refused.code()).find("--check"), std::string::npos);
}

TEST_F(Link, NobodyListens) {
  const base::Status refused = client.channel->connect(server.rank());
  EXPECT_EQ(refused.error_class(), MPI_ERR_PORT);
  EXPECT_NE(base::message_of(refused.code()).find("nobody listens"), std::string::npos);
}

TEST_F(Link, LaterListenerIsWaitedFor) {
  held = client.channel->hold_place_of(server.rank(), place);
  send(5);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(client.channel->is_flushed());
  ASSERT_TRUE(server.channel->listen().ok());
  wait_for([&] { return server.receiver.count() == 1 && client.channel->is_flushed(); });
}

TEST_F(Link, LaterListenerIsWaitedForAfterARefusal) {
  EXPECT_EQ(client.channel->connect(server.rank()).error_class(), MPI_ERR_PORT);
  held = client.channel->hold_place_of(server.rank(), place);
  send(5);
  ASSERT_TRUE(server.channel->listen().ok());
  wait_for([&] { return server.receiver.count() == 1 && client.channel->is_flushed(); });
}

TEST_F(Link, LaterListenerIsWaitedForBesideARefusal) {
  held = client.channel->hold_place_of(server.rank(), place);
  send(5);
  EXPECT_EQ(client.channel->connect(server.rank()).error_class(), MPI_ERR_PORT);
  ASSERT_TRUE(server.channel->listen().ok());
  wait_for([&] { return server.receiver.count() == 1 && client.channel->is_flushed(); });
}

/// The threads of all link channels.
std::set<std::string> link_threads() {
  std::set<std::string> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream file(task.path() / "comm");
    std::getline(file, name);
    if (name.ends_with("link")) found.insert(task.path());
  }
  return found;
}

/// `stat`: the file of this name of a thread.
bool is_asleep(int stat) {
  char text[512];
  const ssize_t length = ::pread(stat, text, sizeof text, 0);
  const std::string_view seen(text, static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  const std::size_t name_end = seen.rfind(')');
  return name_end != seen.npos && seen[name_end + 2] == 'S';
}

TEST_F(Link, SleepsWhileThereIsNoDescriptorForAConnection) {
  const std::set<std::string> before = link_threads();
  ASSERT_TRUE(server.channel->listen().ok());
  std::string its;
  wait_for([&] {
    for (const std::string& one : link_threads())
      if (!before.contains(one)) its = one;
    return !its.empty();
  });
  const int stat = ::open((its + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(stat, 0);
  wait_for([&] { return is_asleep(stat); });
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  // All descriptors below `lowered` are taken, and the next connection needs the only one that is free.
  std::vector<int> taken{::dup(stat)};
  const rlimit lowered{static_cast<rlim_t>(taken.front()) + 1, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &lowered), 0);
  for (int one; (one = ::dup(stat)) >= 0;) taken.push_back(one);
  ::close(taken.back());
  taken.pop_back();
  const int waiting = link::connected_socket(link::link_address(server.name, 0));
  EXPECT_GE(waiting, 0);
  wait_for([&] { return is_asleep(stat); });  // which has woken it
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_TRUE(client.channel->connect(server.rank()).ok()) << "it accepts connections again";
  ::close(waiting);
  ::close(stat);
  for (const int one : taken) ::close(one);
}

TEST_F(Link, PartingIsNoLoss) {
  meet();
  send(1, kJobContext | 1);  // the server gets a place for the client's rank
  wait_for([&] { return server.receiver.count() == 1; });
  HeldPlace of_client = server.channel->hold(4);
  held = {};
  of_client = {};
  wait_for([&] { return !server.channel->is_expecting() && !client.channel->is_expecting(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(server.losses + client.losses, 0);
  EXPECT_FALSE(client.channel->is_place(place));
  meet();  // once more, by the same connection
  send(2, kJobContext | 1);
  wait_for([&] { return server.receiver.count() == 2; });
}

TEST_F(Link, StrangerThatLeavesIsNoLoss) {
  meet();
  send(1);
  wait_for([&] { return server.receiver.count() == 1; });
  const int other = link::connected_socket(link::link_address(server.name, 0));
  ASSERT_GE(other, 0);
  ::close(other);  // a connection without a name does not matter
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(server.losses, 0);
}

TEST_F(Link, APlaceStaysAsLongAsTheOtherSideNeedsIt) {
  meet();
  send(1, kJobContext | 1);
  wait_for([&] { return server.receiver.count() == 1; });
  { const HeldPlace of_client = server.channel->hold(4); }
  EXPECT_TRUE(server.channel->is_place(4));
  held = {};
  wait_for([&] { return !server.channel->is_place(4); });
  EXPECT_FALSE(server.channel->hold(4));
  EXPECT_EQ(server.departures, 1);
}

TEST_F(Link, PlacesEnd) {
  ASSERT_TRUE(server.channel->listen().ok());
  std::vector<HeldPlace> all(4);
  int number = 0;
  for (int rank = 0; rank < 4; ++rank) {
    all[static_cast<std::size_t>(rank)] = client.channel->hold_place_of({server.name, rank, 0}, number);
    EXPECT_EQ(number, 4 - rank);
  }
  EXPECT_FALSE(client.channel->hold_place_of({server.name, 4, 0}, number));
  EXPECT_EQ(number, -1);
  EXPECT_TRUE(client.channel->hold_place_of({server.name, 2, 0}, number));
  EXPECT_EQ(number, 2);
  all[2] = {};
  EXPECT_TRUE(client.channel->hold_place_of({server.name, 4, 0}, number));
  EXPECT_EQ(number, 2);
  EXPECT_FALSE(client.channel->hold_place_of(client.rank(), number));
  EXPECT_EQ(number, 0);
}

TEST_F(Link, AKeptNumberIsNoOtherRanks) {
  ASSERT_TRUE(server.channel->listen().ok());
  int first = 0, other = 0, again = 0;
  HeldPlace one = client.channel->hold_place_of({server.name, 1, 0}, first);
  KeptNumber kept = client.channel->keep(first);
  one = {};
  EXPECT_FALSE(client.channel->is_place(first));
  const HeldPlace second = client.channel->hold_place_of({server.name, 2, 0}, other);
  EXPECT_NE(other, first);
  KeptNumber twice = client.channel->keep(first);
  EXPECT_TRUE(twice);
  EXPECT_EQ(client.channel->name_of(first), PeerName({server.name, 1, 0}));
  one = client.channel->hold_place_of({server.name, 1, 0}, again);
  EXPECT_EQ(again, first) << "it is the same rank";
  EXPECT_TRUE(client.channel->is_place(first));
  one = {};
  kept = {};
  twice = {};
  EXPECT_FALSE(client.channel->keep(first)) << "nothing has it any more";
  const HeldPlace third = client.channel->hold_place_of({server.name, 3, 0}, again);
  EXPECT_EQ(again, first);
}

TEST_F(Link, ContextsOfTwoProcessesDiffer) {
  std::uint32_t ours = 0, theirs = 0, next = 0;
  ASSERT_TRUE(client.channel->new_context(ours).ok());
  ASSERT_TRUE(client.channel->new_context(next).ok());
  ASSERT_TRUE(server.channel->new_context(theirs).ok());
  EXPECT_NE(ours >> 18, theirs >> 18);
  EXPECT_NE(ours, next);
  EXPECT_EQ(ours >> 31, 1u);
  EXPECT_EQ(ours & 1, 0u);
}

}  // namespace

}  // namespace clump::net
