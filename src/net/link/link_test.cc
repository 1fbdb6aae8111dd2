// Two link channels in one process, as if they were of two jobs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
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

#include "net/link/abstract_socket.h"
#include "net/link/public_name.h"
#include "net/link/test_jobs.h"

namespace clump::net {

namespace {

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
  for (int i = 0; i < 100; ++i) waiting.push_back(link::PendingFrame::streamed(message, {.bytes = 4 << 20}));
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

/// The link thread that has started since `before`.
class LinkThread {
 public:
  explicit LinkThread(const std::set<std::string>& before) {
    std::string its;
    wait_for([&] {
      for (const std::string& one : link_threads())
        if (!before.contains(one)) its = one;
      return !its.empty();
    });
    times_ = ::open((its + "/schedstat").c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_GE(times_, 0);
  }
  ~LinkThread() { ::close(times_); }
  LinkThread(const LinkThread&) = delete;
  LinkThread& operator=(const LinkThread&) = delete;

  /// How much time it has used.
  std::chrono::nanoseconds used() const {
    char text[128] = "";
    (void)!::pread(times_, text, sizeof text - 1, 0);
    return std::chrono::nanoseconds(std::strtoll(text, nullptr, 10));
  }
  int descriptor() const { return times_; }

 private:
  int times_ = -1;
};

/// While it lives this process has one free descriptor.
class OneFree {
 public:
  explicit OneFree(int any) : taken_{::dup(any)} {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &limit_), 0);
    const rlimit lowered{static_cast<rlim_t>(taken_.front()) + 1, limit_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &lowered), 0);
    for (int one; (one = ::dup(any)) >= 0;) taken_.push_back(one);
    ::close(taken_.back());
    taken_.pop_back();
  }
  ~OneFree() {
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &limit_), 0);
    for (const int one : taken_) ::close(one);
  }
  OneFree(const OneFree&) = delete;
  OneFree& operator=(const OneFree&) = delete;

 private:
  std::vector<int> taken_;
  rlimit limit_{};
};

// What it takes to try again, in a fifth of a second, is much less.
constexpr std::chrono::milliseconds kLook{200}, kMostUsed{50};

TEST_F(Link, SleepsWhileThereIsNoDescriptorForAConnection) {
  const std::set<std::string> before = link_threads();
  ASSERT_TRUE(server.channel->listen().ok());
  const LinkThread thread(before);
  int waiting = -1;
  {
    const OneFree none_for_the_thread(thread.descriptor());
    waiting = link::connected_socket(link::link_address(server.name, 0));
    EXPECT_GE(waiting, 0);
    const auto used = thread.used();
    std::this_thread::sleep_for(kLook);
    EXPECT_LT(thread.used() - used, kMostUsed);
  }
  EXPECT_TRUE(client.channel->connect(server.rank()).ok()) << "it accepts connections again";
  ::close(waiting);
}

TEST_F(Link, SleepsWhileThereIsNoDescriptorForAName) {
  const std::set<std::string> before = link_threads();
  const std::string name = fmt::format("name of {}", ::getpid());
  ASSERT_TRUE(server.channel->publish(name, "port").ok());
  const LinkThread thread(before);
  std::string found;
  std::thread asking;
  {
    const OneFree none_for_the_thread(thread.descriptor());
    asking = std::thread([&] { found = link::find_public_name(name); });
    std::this_thread::sleep_for(kLook / 4);
    const auto used = thread.used();
    std::this_thread::sleep_for(kLook);
    EXPECT_LT(thread.used() - used, kMostUsed);
  }
  asking.join();
  EXPECT_EQ(found, "port");
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
