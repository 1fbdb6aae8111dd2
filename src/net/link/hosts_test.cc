// The link channel over TCP, as between hosts, and strangers at its port.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "net/link/host_socket.h"
#include "net/link/proof.h"
#include "net/link/test_jobs.h"
#include "net/link/wire.h"
#include "seed.h"

namespace clump::net {

namespace {

using link::Frame;
using link::Kind;
using link::Location;
using link::Proof;
using link::Side;

constexpr const char* kAddress = "127.0.0.1";

/// A blocking connection to a port of this host.
class Caller {
 public:
  explicit Caller(const Location& there) : socket_(link::begin_to_connect(there)) {
    EXPECT_GE(socket_, 0);
    ::fcntl(socket_, F_SETFL, 0);
    const timeval limit{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  }
  ~Caller() { ::close(socket_); }
  Caller(Caller&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}

  Caller& send(std::span<const std::byte> bytes) {
    (void)!::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return *this;
  }
  Caller& send(const Frame& frame, const std::string& bytes = {}) {
    send(std::as_bytes(std::span(&frame, 1)));
    return send(std::as_bytes(std::span(bytes)));
  }
  /// False: it is closed before.
  bool read(std::span<std::byte> bytes) {
    return ::recv(socket_, bytes.data(), bytes.size(), MSG_WAITALL) == static_cast<ssize_t>(bytes.size());
  }
  /// Says what the proof wants until it is over. False: the other side has closed before.
  bool prove(Proof proof) {
    std::array<std::byte, Proof::kMost> bytes{};
    for (send(proof.output()); proof.wanted() > 0; send(proof.output())) {
      const auto came = std::span(bytes).first(proof.wanted());
      if (!read(came) || !proof.take(came)) return false;
    }
    return true;
  }
  bool is_closed() {
    std::byte byte[1024];
    ssize_t count = 0;
    do count = ::recv(socket_, byte, sizeof byte, 0);
    while (count > 0);
    return count == 0 || errno == ECONNRESET;
  }

 private:
  int socket_;
};

class LinkHosts : public Link {
 protected:
  void SetUp() override {
    for (const Job* const job : {&server, &client}) {
      ASSERT_TRUE(job->channel->listen().ok());
      ASSERT_TRUE(job->channel->listen_to_hosts(kAddress).ok());
    }
    name.where = server.channel->where();
    name.where.host ^= 2;  // so it is on another host
  }
  void meet_over_tcp() {
    ASSERT_TRUE(client.channel->connect(name).ok());
    held = client.channel->hold_place_of(name, place);
    ASSERT_EQ(place, 4);
  }
  /// Something of the client comes to the server, and it is the only thing.
  void expect_that_all_goes_on() {
    const std::size_t before = server.receiver.count();
    meet_over_tcp();
    send(7);
    wait_for([&] { return server.receiver.count() == before + 1; });
    EXPECT_EQ(server.receiver.at(before).values, std::vector{7});
    EXPECT_EQ(server.losses, 0);
  }
  Caller call() { return Caller(name.where); }
  Proof proof_of_caller(link::JobName job, int process = 0) { return {Side::kCalls, job, process}; }
  void expect_refused(const PeerName& other, const std::string& why) {
    const base::Status connected = client.channel->connect(other);
    EXPECT_EQ(connected.error_class(), MPI_ERR_PORT);
    const std::string text = base::message_of(connected.code());
    EXPECT_NE(text.find(why), std::string::npos) << text;
  }

  PeerName name = server.rank();
};

TEST_F(LinkHosts, CarriesMessages) {
  meet_over_tcp();
  send(3);
  wait_for([&] { return server.receiver.count() == 1; });
  std::vector<int> values(1 << 20, 5);
  Send message;
  message.envelope = Envelope(kContext, 0, 3);
  message.bytes = static_cast<Count>(values.size() * sizeof(int));
  message.payload = ints(values);
  client.channel->send({0, place}, message);
  wait_for([&] { return message.is_released.load() && server.receiver.count() == 2; });
  EXPECT_EQ(server.receiver.at(1).values, values);
}

TEST_F(LinkHosts, TellsWhereTheCallerIs) {
  meet_over_tcp();
  send(3, kJobContext);
  wait_for([&] { return server.receiver.count() == 1; });
  const int caller = server.receiver.at(0).envelope.source();
  EXPECT_EQ(server.channel->name_of(caller), client.rank());
  EXPECT_EQ(server.channel->name_of(caller).where, client.channel->where());
}

TEST_F(LinkHosts, OfAProcessThatDoesNotListenThereIsAnErrorAtOnce) {
  PeerName other{{1, 2}, 0, 0, name.where};
  other.where.port = 0;
  expect_refused(other, "lets only processes of its own host connect");
  other.where.port = 1;
  expect_refused(other, "127.0.0.1 port 1: Connection refused");
}

TEST_F(LinkHosts, OfAnotherJobIsAnError) {
  for (const link::JobName job : {link::JobName{server.name.id, server.name.token + 1},
                                  link::JobName{server.name.id + 1, server.name.token}})
    expect_refused({job, 0, 0, name.where}, "does not know the job");
  expect_refused({server.name, 0, 1, name.where}, "does not know the job");
  expect_that_all_goes_on();
}

TEST_F(LinkHosts, TakesNothingFromAStranger) {
  std::mt19937_64 random(test_seed(63));
  for (int i = 0; i < 100; ++i) {
    std::vector<std::byte> noise(1 + random() % 100);
    for (std::byte& one : noise) one = static_cast<std::byte>(random());
    Caller stranger = call();
    stranger.send(noise);
    if (noise.size() >= 24) {
      EXPECT_TRUE(stranger.is_closed());
    }
  }
  Caller hello = call();  // as on one host
  hello.send({.kind = Kind::kHello, .bytes = sizeof(link::Hello)}, std::string(sizeof(link::Hello), 'x'));
  EXPECT_TRUE(hello.is_closed());
  expect_that_all_goes_on();
}

TEST_F(LinkHosts, LetsNobodyInWithAWrongProof) {
  EXPECT_FALSE(call().prove(proof_of_caller({server.name.id, server.name.token + 1})));
  EXPECT_FALSE(call().prove(proof_of_caller({server.name.id + 1, server.name.token})));
  EXPECT_FALSE(call().prove(proof_of_caller(server.name, 1)));
  // The right question, and what the server has said, sent back.
  Caller mirror = call();
  mirror.send(proof_of_caller(server.name).output());
  std::array<std::byte, 32> answer{};
  EXPECT_TRUE(mirror.read(answer));
  mirror.send(std::span(answer).last(16));
  EXPECT_TRUE(mirror.is_closed());
  expect_that_all_goes_on();
}

TEST_F(LinkHosts, TakesOnlyAGreetingAfterTheProof) {
  for (std::uint32_t kind = 0; kind < 16; ++kind) {
    Caller known = call();
    ASSERT_TRUE(known.prove(proof_of_caller(server.name)));
    known.send({.kind = static_cast<Kind>(kind), .bytes = 8}, "12345678");
    EXPECT_TRUE(known.is_closed()) << kind;
  }
  expect_that_all_goes_on();
}

TEST_F(LinkHosts, HasRoomWhileManyAreSilent) {
  std::vector<Caller> silent;
  for (std::size_t i = 0; i < link::Stranger::kMost + 64; ++i) silent.push_back(call());
  expect_that_all_goes_on();
  EXPECT_TRUE(silent.front().is_closed());
}

TEST_F(LinkHosts, HearsAllWhoCallAtOnce) {
  std::vector<Caller> callers;
  std::vector<Proof> proofs;
  for (std::size_t i = 0; i < link::Stranger::kMost; ++i) {
    proofs.push_back(proof_of_caller(server.name));
    callers.push_back(call());
    callers.back().send(proofs.back().output());
  }
  for (std::size_t i = 0; i < callers.size(); ++i) {
    std::array<std::byte, 32> answer{};
    ASSERT_TRUE(callers[i].read(answer)) << i;
    EXPECT_TRUE(proofs[i].take(answer)) << i;
  }
}

TEST(LinkProof, IsAnotherOneEachTime) {
  const link::JobName job{1, 2};
  Proof one(Side::kCalls, job, 3), other(Side::kCalls, job, 3), listener(Side::kListens, job, 3);
  EXPECT_FALSE(std::ranges::equal(one.output(), other.output()));
  EXPECT_TRUE(listener.take(one.output()));
  EXPECT_TRUE(one.take(listener.output()));
  EXPECT_FALSE(other.take(listener.output())) << "it was for another question";
  EXPECT_TRUE(listener.take(one.output()));
  EXPECT_EQ(listener.wanted() + one.wanted(), 0u);
}

}  // namespace
}  // namespace clump::net
