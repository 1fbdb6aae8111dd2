// Frames over a connection to a link channel that no process of another job would send.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "net/link/abstract_socket.h"
#include "net/link/test_jobs.h"
#include "net/link/wire.h"
#include "seed.h"

namespace clump::net {

namespace {

using link::Frame;
using link::Kind;

/// A connection to a job's process that anything may be written to. The job that it claims to be of is
/// another one each time.
class Forger {
 public:
  explicit Forger(const Job& job)
      : socket_(link::connected_socket(link::link_address(job.name, 0))), token_(job.name.token) {
    EXPECT_GE(socket_, 0);
    ::fcntl(socket_, F_SETFL, 0);
    const timeval limit{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  ~Forger() { ::close(socket_); }
  Forger(const Forger&) = delete;
  Forger& operator=(const Forger&) = delete;

  Forger& send(const void* data, std::size_t bytes) {
    (void)!::send(socket_, data, bytes, MSG_NOSIGNAL);  // it may be closed by now
    return *this;
  }
  Forger& send(const Frame& frame, const std::string& bytes = {}) {
    send(&frame, sizeof frame);
    return send(bytes.data(), bytes.size());
  }
  Forger& hello(const std::function<void(Frame& frame, link::Hello& hello)>& change = {}) {
    Frame frame{.kind = Kind::kHello, .bytes = sizeof(link::Hello)};
    link::Hello body{.token = token_, .job = {base::random_number() | 1, 5}};
    std::strncpy(body.version, CLUMP_VERSION, sizeof body.version - 1);
    if (change) change(frame, body);
    send(&frame, sizeof frame);
    return send(&body, sizeof body);
  }
  /// The next frame of the other side; kRefused if it has closed, or says nothing.
  Frame read_next() {
    Frame frame{.kind = Kind::kRefused};
    (void)!::recv(socket_, &frame, sizeof frame, MSG_WAITALL);
    return frame;
  }
  /// The same, but for what it says about places.
  Frame read() {
    for (;;)
      if (const Frame frame = read_next(); frame.kind != Kind::kHere) return frame;
  }
  /// Whether the other side closes the connection, whatever it sends before.
  bool is_closed() {
    char byte[1024];
    ssize_t count;
    do count = ::recv(socket_, byte, sizeof byte, 0);
    while (count > 0);
    return count == 0 || errno == ECONNRESET;
  }

 private:
  const int socket_;
  const std::uint64_t token_;
};

class LinkDamaged : public Link {
 protected:
  void SetUp() override { ASSERT_TRUE(server.channel->listen().ok()); }
  /// It is let in, and the server needs a place of its rank 0, place_.
  Forger& greet(Forger& forger, const std::function<void(Frame& frame, link::Hello& hello)>& change = {}) {
    forger.hello(change);
    EXPECT_EQ(forger.read().kind, Kind::kWelcome);
    const std::size_t before = server.receiver.count();
    forger.send({.kind = Kind::kHere});
    forger.send({.kind = Kind::kEager, .context = kJobContext, .bytes = 4}, "1234");
    wait_for([&] { return server.receiver.count() == before + 1; });
    place_ = server.receiver.at(before).envelope.source();
    needed_ = server.channel->hold(place_);
    EXPECT_TRUE(needed_);
    return forger;
  }
  /// The connection is closed, and the server knows why. Nothing else has happened.
  void expect_wrong(Forger& forger, const std::string& why) {
    EXPECT_TRUE(forger.is_closed()) << why;
    ++wrong_;
    wait_for([&] { return server.losses == wrong_; });
    EXPECT_NE(server.lost_by.find(" has sent a wrong frame to clump-link-"), std::string::npos)
        << server.lost_by;
    EXPECT_NE(server.lost_by.find(fmt::format("process {}", ::getpid())), std::string::npos)
        << server.lost_by;
    EXPECT_NE(server.lost_by.find(why), std::string::npos) << server.lost_by << "\nand not: " << why;
    needed_ = {};
  }
  void expect_that_all_goes_on() {
    const std::size_t before = server.receiver.count();
    meet();
    send(7);
    wait_for([&] { return server.receiver.count() == before + 1; });
  }
  int wrong_ = 0, place_ = -1;
  HeldPlace needed_;
};

constexpr std::uint64_t kNoAddress = 0x10;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST_F(LinkDamaged, NothingIsTakenBeforeTheGreeting) {
  for (std::uint32_t kind = 0; kind < 16; ++kind) {
    Forger forger(server);
    const Frame frame{
        .kind = static_cast<Kind>(kind), .bytes = 8, .message = kNoAddress, .rendezvous = kNoAddress};
    forger.send(frame, "12345678");
    EXPECT_TRUE(forger.is_closed()) << "kind " << kind;
  }
  const auto is_refused = [&](const std::function<void(Frame&, link::Hello&)>& change) {
    return Forger(server).hello(change).is_closed();
  };
  EXPECT_TRUE(is_refused([](Frame& frame, link::Hello&) { frame.bytes = kMost; }));
  EXPECT_TRUE(is_refused([](Frame& frame, link::Hello&) { frame.bytes = -1; }));
  EXPECT_TRUE(is_refused([](Frame& frame, link::Hello&) { --frame.bytes; }));
  EXPECT_TRUE(is_refused([](Frame&, link::Hello& hello) { ++hello.mark; }));
  EXPECT_TRUE(is_refused([](Frame&, link::Hello& hello) { ++hello.token; }));
  EXPECT_TRUE(is_refused([](Frame&, link::Hello& hello) { hello.process = -1; }));
  EXPECT_TRUE(is_refused([](Frame&, link::Hello& hello) { hello.job.id = 0; }));
  EXPECT_TRUE(is_refused([&](Frame&, link::Hello& hello) { hello.job = server.name; }));
  EXPECT_TRUE(
      is_refused([](Frame&, link::Hello& hello) { std::memset(hello.version, 'x', sizeof hello.version); }));
  EXPECT_EQ(server.losses, 0);
  expect_that_all_goes_on();
}

// A process that ends before it has sent a message is missed all the same.
TEST_F(LinkDamaged, TellsAtOnceThatItHoldsAPlace) {
  const link::JobName job{base::random_number() | 1, 5};
  Forger forger(server);
  forger.hello([&](Frame&, link::Hello& hello) { hello.job = job; });
  EXPECT_EQ(forger.read_next().kind, Kind::kWelcome);
  needed_ = server.channel->hold_place_of({job, 0, 0}, place_);
  EXPECT_EQ(forger.read_next().kind, Kind::kHere);
  needed_ = {};
  EXPECT_EQ(forger.read_next().kind, Kind::kBye);

  const link::JobName later{job.id ^ 2, 5};
  needed_ = server.channel->hold_place_of({later, 0, 0}, place_);
  Forger other(server);
  other.hello([&](Frame&, link::Hello& hello) { hello.job = later; });
  EXPECT_EQ(other.read_next().kind, Kind::kWelcome);
  EXPECT_EQ(other.read_next().kind, Kind::kHere);
}

TEST_F(LinkDamaged, AProcessThatEndsBeforeItHasAnsweredIsLost) {
  const PeerName name{{base::random_number() | 1, 5}, 0, 0};
  const int listener = link::bound_socket(link::link_address(name.job, 0), SOCK_STREAM);
  ASSERT_EQ(::listen(listener, 1), 0);
  held = client.channel->hold_place_of(name, place);
  send(7);
  ::close(::accept(listener, nullptr, nullptr));
  wait_for([&] { return client.losses == 1; });
  ::close(listener);
}

TEST_F(LinkDamaged, FieldsOutOfTheirRange) {
  const auto wrong = [&](const Frame& frame, const std::string& why) {
    Forger forger(server);
    greet(forger).send(frame);
    expect_wrong(forger, why);
  };
  for (const std::uint32_t kind : {0U, 14U, 77U, ~0U})
    wrong({.kind = static_cast<Kind>(kind)}, fmt::format("kind {} from", kind));
  for (const Kind kind : {Kind::kHello, Kind::kWelcome, Kind::kRefused})
    wrong({.kind = kind}, "it was said before");
  for (const Kind kind : {Kind::kEager, Kind::kRts, Kind::kCancel}) {
    wrong({.kind = kind, .source = -1, .message = 7}, "there is no such rank");
    wrong({.kind = kind, .envelope_source = -1, .message = 7}, "there is no such rank");
    wrong({.kind = kind, .bytes = -1, .message = 7}, "there is no such length");
  }
  wrong({.kind = Kind::kEager, .bytes = kMost}, "there is no such length");
  wrong({.kind = Kind::kCrowded, .source = -1}, "there is no such rank");
  wrong({.kind = Kind::kCrowded, .bytes = 2}, "there is no such length");
  for (const Kind kind : {Kind::kRts, Kind::kCancel})
    wrong({.kind = kind, .message = kNoAddress}, "there is no such number of a message");
  for (const Kind kind : {Kind::kCts, Kind::kData}) {
    wrong({.kind = kind, .bytes = 0, .message = 7}, "there is no such length");
    wrong({.kind = kind, .bytes = -5, .message = 7}, "there is no such length");
  }
  for (const Kind kind : {Kind::kCts, Kind::kFin, Kind::kCancelled})
    wrong({.kind = kind, .bytes = 8, .message = kNoAddress}, "that message was not announced to it");
  wrong({.kind = Kind::kData, .bytes = 8, .rendezvous = kNoAddress}, "nothing fetches that");
  expect_that_all_goes_on();
}

TEST_F(LinkDamaged, RanksThatAreNotThereGetNothing) {
  Forger forger(server);
  greet(forger);
  for (const std::int32_t rank : {-1, 1, 1 << 30}) {
    forger.send({.kind = Kind::kEager, .destination = rank, .context = kContext, .bytes = 4}, "1234");
    forger.send({.kind = Kind::kRts, .destination = rank, .context = kContext, .bytes = 4, .message = 7});
    const Frame answer = forger.read();
    EXPECT_EQ(answer.kind, Kind::kFin);
    EXPECT_EQ(answer.message, 7U);
  }
  EXPECT_EQ(server.receiver.count(), 1U);
}

TEST_F(LinkDamaged, AnnouncedMessages) {
  std::vector<int> values(1000);
  const auto wrong = [&](const std::vector<Frame>& frames, const std::string& why) {
    auto& message = *new Send;  // it is released when the connection has gone
    message.envelope = Envelope(kContext, 0, 3);
    message.synchronous = true;
    message.bytes = static_cast<Count>(values.size() * sizeof(int));
    message.payload = ints(values);
    Forger forger(server);
    greet(forger);
    server.channel->send({0, place_}, message);
    const Frame rts = forger.read();
    ASSERT_EQ(rts.kind, Kind::kRts);
    for (Frame frame : frames) {
      frame.message = rts.message;
      forger.send(frame);
    }
    expect_wrong(forger, why);
    wait_for([&] { return message.is_released.load(); });
    EXPECT_FALSE(message.is_cancelled);
  };
  wrong({{.kind = Kind::kCts, .bytes = 4001}}, "the message has less");
  wrong({{.kind = Kind::kCts, .bytes = kMost}}, "the message has less");
  wrong({{.kind = Kind::kCancelled}}, "it was not asked to give it back");
  wrong({{.kind = Kind::kFin}, {.kind = Kind::kFin}}, "that message was not announced to it");
  wrong({{.kind = Kind::kCts, .bytes = 400}, {.kind = Kind::kCts, .bytes = 400}},
        "that message was not announced to it");
}

TEST_F(LinkDamaged, MoreDataThanWereAskedFor) {
  for (const std::int64_t more : {std::int64_t{4}, std::int64_t{1} << 20, kMost - 400}) {
    Forger forger(server);
    greet(forger);
    forger.send({.kind = Kind::kRts, .context = kContext, .bytes = 400, .message = 7});
    const Frame asked = forger.read();
    ASSERT_EQ(asked.kind, Kind::kCts);
    EXPECT_EQ(asked.bytes, 400);
    forger.send({.kind = Kind::kData, .bytes = 400 + more, .rendezvous = asked.rendezvous},
                std::string(4000, 'x'));
    expect_wrong(forger, "it is more than is missing");
  }
  expect_that_all_goes_on();
}

// A process may have two connections, and what one of them fetches may come over the other.
TEST_F(LinkDamaged, DataOverTwoConnections) {
  const link::JobName job{base::random_number() | 1, 5};
  const auto as_one = [&](Frame&, link::Hello& hello) { hello.job = job; };
  Forger first(server), second(server);
  greet(first, as_one);
  second.hello(as_one);
  EXPECT_EQ(second.read().kind, Kind::kWelcome);
  first.send({.kind = Kind::kRts, .context = kContext, .bytes = 400, .message = 7});
  const Frame asked = first.read();
  ASSERT_EQ(asked.kind, Kind::kCts);
  // A message, and the beginning of 400 bytes, in one piece: when the message is there the data have begun.
  const std::size_t before = server.receiver.count();
  const Frame parts[] = {{.kind = Kind::kEager, .context = kContext},
                         {.kind = Kind::kData, .bytes = 400, .rendezvous = asked.rendezvous}};
  std::string begun(reinterpret_cast<const char*>(parts), sizeof parts);
  begun += "1234";
  second.send(begun.data(), begun.size());
  wait_for([&] { return server.receiver.count() == before + 1; });
  first.send({.kind = Kind::kData, .bytes = 396, .rendezvous = asked.rendezvous}, std::string(396, 'x'));
  wait_for([&] { return server.receiver.count() == before + 2; });
  second.send(std::string(396, 'x').data(), 396);
  expect_wrong(second, "it is more than is missing");
  EXPECT_TRUE(first.is_closed()) << "it is of the same process";
}

TEST_F(LinkDamaged, AnythingAtAll) {
  std::mt19937 random(static_cast<unsigned>(test_seed(5)));
  const auto draw = [&](unsigned below) { return static_cast<unsigned>(random()) % below; };
  server.receiver.waits = true;  // it would take the memory for what is announced
  for (int round = 0; round < 100; ++round) {
    Forger forger(server);
    if (round % 4 != 0) {
      forger.hello();
      forger.send({.kind = Kind::kHere});
    }
    for (int i = 0; i < 20; ++i) {
      Frame frame{.kind = static_cast<Kind>(1 + draw(13)),
                  .context = kContext,
                  .bytes = draw(3),
                  .message = 3 + 4 * draw(4),
                  .rendezvous = 3 + 4 * draw(4)};
      const std::uint32_t values[] = {
          0, 1, 8, 0x7fffffff, 0x80000000, 0xffffffff, static_cast<std::uint32_t>(random())};
      for (unsigned changes = draw(3); changes > 0; --changes)
        std::memcpy(reinterpret_cast<std::byte*>(&frame) + std::size_t{4} * draw(sizeof frame / 4),
                    &values[draw(std::size(values))], 4);
      forger.send(&frame, draw(8) == 0 ? draw(sizeof frame) : sizeof frame);
      const bool has_body = frame.kind == Kind::kEager && frame.bytes > 0 && frame.bytes < 4096;
      if (has_body)
        forger.send(std::string(static_cast<std::size_t>(frame.bytes), 'x').data(),
                    static_cast<std::size_t>(frame.bytes));
    }
  }
  EXPECT_EQ(server.losses, 0) << "it needs nothing of them";
  wait_for([&] { return client.channel->connect(server.rank()).ok(); });
}

}  // namespace

}  // namespace clump::net
