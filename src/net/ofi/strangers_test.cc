// Connections that no process of the job has made.
#include "net/ofi/strangers.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

namespace clump::net::ofi {
namespace {

using namespace std::chrono_literals;

/// A port of the loopback interface, and connections to it.
class Strangers : public testing::Test {
 protected:
  Strangers() {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&any), sizeof any), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
  }
  ~Strangers() override {
    for (const int one : {listener_, client_, accepted_}) ::close(one);
  }
  InternetAddress own() const { return InternetAddress::of_self(listener_); }
  void connect() { ASSERT_EQ(::connect(client_, own().get(), own().length()), 0); }
  bool may_accept(int milliseconds) const {
    pollfd coming{listener_, POLLIN, 0};
    return ::poll(&coming, 1, milliseconds) == 1;
  }
  void accept() { ASSERT_GE(accepted_ = ::accept(listener_, nullptr, nullptr), 0); }
  /// Whether the client finds the connection cut.
  bool is_cut() const {
    char byte = 0;
    return ::recv(client_, &byte, 1, MSG_DONTWAIT) < 0 && errno == ECONNRESET;
  }

  const int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int client_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int accepted_ = -1;
};

TEST_F(Strangers, SilentConnectionsAreCut) {
  connect();
  accept();
  std::this_thread::sleep_for(20ms);
  cut_if_silent(accepted_, own(), 60s);
  cut_if_silent(accepted_, InternetAddress(), 1ms);
  cut_if_silent(listener_, own(), 1ms);
  cut_if_silent(client_, own(), 1ms);
  EXPECT_FALSE(is_cut());
  cut_if_silent(accepted_, own(), 1ms);
  EXPECT_TRUE(is_cut());
  char byte = 0;
  EXPECT_LT(::recv(accepted_, &byte, 1, MSG_DONTWAIT), 0);
  EXPECT_NE(errno, EAGAIN) << "the provider sees an error";
}

TEST_F(Strangers, ConnectionsThatBeginWellAreNot) {
  connect();
  accept();
  const char request[32] = {};
  ASSERT_EQ(::send(client_, request, sizeof request, 0), 32);
  pollfd coming{accepted_, POLLIN, 0};
  ASSERT_EQ(::poll(&coming, 1, 20'000), 1);
  std::this_thread::sleep_for(20ms);
  cut_if_silent(accepted_, own(), 1ms);
  EXPECT_FALSE(is_cut());
}

TEST_F(Strangers, SilentConnectionsStayWithTheKernel) {
  keep_silent_connections_out(listener_at(own()));
  connect();
  EXPECT_FALSE(may_accept(50));
  ASSERT_EQ(::send(client_, "x", 1, 0), 1);
  EXPECT_TRUE(may_accept(20'000));
}

TEST(Descriptors, AreAsManyAsTheSystemAllows) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit few{std::min<rlim_t>(limit.rlim_max, 256), limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  allow_more_descriptors();
  rlimit raised{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &raised), 0);
  EXPECT_EQ(raised.rlim_cur, std::min<rlim_t>(limit.rlim_max, 65536));
  EXPECT_EQ(raised.rlim_max, limit.rlim_max);
  allow_more_descriptors();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
}

}  // namespace
}  // namespace clump::net::ofi
