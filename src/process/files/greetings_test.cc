// The first bytes of connections between processes of a job.
#include "process/files/greetings.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace clump::image::greetings {
namespace {

constexpr std::uint64_t kToken = 0x1234567812345678;

/// A port of the loopback interface, and a client that is connected to it.
class Greetings : public testing::Test {
 protected:
  Greetings() {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&any), sizeof any), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    socklen_t bytes = sizeof own_;
    EXPECT_EQ(::getsockname(listener_, own(), &bytes), 0);
    EXPECT_EQ(::connect(client_, own(), sizeof own_), 0);
  }
  ~Greetings() override {
    for (const int one : {listener_, client_, accepted_}) ::close(one);
  }
  sockaddr* own() { return reinterpret_cast<sockaddr*>(&own_); }
  /// What accept() returns when so many bytes have come.
  int accept(std::size_t bytes) {
    accepted_ = ::accept(listener_, nullptr, nullptr);
    EXPECT_GE(accepted_, 0);
    std::string room(bytes, '\0');
    EXPECT_EQ(::recv(accepted_, room.data(), bytes, MSG_PEEK | MSG_WAITALL), static_cast<ssize_t>(bytes));
    const int answer = let_in(listener_, accepted_);
    if (answer < 0) accepted_ = -1;
    return answer;
  }
  bool is_closed() const {
    pollfd end{client_, POLLIN, 0};
    char byte = 0;
    return ::poll(&end, 1, 20'000) == 1 && ::recv(client_, &byte, 1, 0) <= 0;
  }
  std::string request() const {
    std::string bytes(40, '\0');
    bytes.front() = 3;
    bytes.back() = 7;
    return bytes;
  }

  const int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int client_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int accepted_ = -1;
  sockaddr_in own_{};
};

TEST_F(Greetings, LetIn) {
  expect_at(listener_, kToken);
  give_at(own(), sizeof own_, kToken);
  const std::string bytes = request();
  ASSERT_TRUE(may_be_request(bytes.data(), bytes.size()));
  ssize_t sent = 0;
  ASSERT_TRUE(send_with_greeting(client_, bytes.data(), bytes.size(), 0, sent));
  EXPECT_EQ(sent, 40);
  ASSERT_GE(accept(56), 0);
  std::string came(40, 'x');
  EXPECT_EQ(::recv(accepted_, came.data(), came.size(), MSG_DONTWAIT), 40)
      << "and the provider sees the request only";
  EXPECT_EQ(came, bytes);
}

TEST_F(Greetings, StrangersAreClosed) {
  expect_at(listener_, kToken);
  const std::string bytes = request();
  ASSERT_EQ(::send(client_, bytes.data(), bytes.size(), 0), 40);
  EXPECT_EQ(accept(40), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_TRUE(is_closed());
}

TEST_F(Greetings, AnotherTokenIsNone) {
  expect_at(listener_, kToken);
  give_at(own(), sizeof own_, kToken + 1);
  const std::string bytes = request();
  ssize_t sent = 0;
  ASSERT_TRUE(send_with_greeting(client_, bytes.data(), bytes.size(), 0, sent));
  EXPECT_EQ(accept(56), -1);
  EXPECT_TRUE(is_closed());
}

TEST_F(Greetings, OtherConnectionsAreLeftAlone) {
  const std::string bytes = request();
  ssize_t sent = 0;
  EXPECT_FALSE(send_with_greeting(client_, bytes.data(), bytes.size(), 0, sent));
  EXPECT_FALSE(send_with_greeting(-1, bytes.data(), bytes.size(), 0, sent));
  ASSERT_EQ(::send(client_, "x", 1, 0), 1);
  EXPECT_GE(accept(1), 0)
      << "nothing expects a greeting there, though an earlier socket may have had the number";
}

TEST(Requests, AreKnownByTheirForm) {
  std::string bytes(40, '\0');
  EXPECT_TRUE(may_be_request(bytes.data(), 40));
  EXPECT_FALSE(may_be_request(bytes.data(), 31));
  bytes[8] = 40;  // as the length of a frame of libfabric's
  EXPECT_FALSE(may_be_request(bytes.data(), 40));
}

}  // namespace
}  // namespace clump::image::greetings
