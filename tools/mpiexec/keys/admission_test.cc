#include "keys/admission.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "keys/join.h"

namespace clump::mpiexec {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kShort{200}, kLong{60'000};

sockaddr_in at(const char* address, int port) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, address, &where.sin_addr);
  return where;
}

/// mpiexec's door on this host, for the hosts 1 and 2.
class AdmissionTest : public testing::Test {
 protected:
  void open(Admission& admission) {
    ASSERT_TRUE(admission.open({"127.0.0.1"}, {1, 2}).ok());
    where_ = admission.invitation();
  }
  /// A stranger's connection.
  int connect() const {
    const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in there = at("127.0.0.1", where_.port);
    EXPECT_EQ(::connect(made, reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
    return made;
  }
  /// What a stranger listens with at another address, at mpiexec's port.
  int listen(const char* address) {
    const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in here = at(address, where_.port);
    EXPECT_EQ(::bind(made, reinterpret_cast<const sockaddr*>(&here), sizeof here), 0);
    EXPECT_EQ(::listen(made, 8), 0);
    return made;
  }
  /// True: the other side has closed it.
  static bool is_closed(int socket) {
    char byte;
    const ssize_t got = ::recv(socket, &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
  }
  /// Lets the door work until there is a guest, or `until` says so.
  template <typename Until>
  static std::optional<Guest> serve(Admission& admission, Until until) {
    for (;;) {
      if (std::optional<Guest> guest = admission.next()) return guest;
      if (until()) return std::nullopt;
      tools::PollSet all;
      admission.add_to(all);
      all.wait(10);
    }
  }
  /// A proxy in a thread of its own.
  struct Proxy {
    std::optional<Joined> joined;
    std::string why;
    std::atomic<bool> is_over = false;
    std::thread thread;
    Proxy(const Invitation& where, const Key& key, std::uint32_t host, milliseconds patience)
        : thread([=, this] {
            const base::Status found = join(where, key, host, patience, joined);
            if (!found.ok()) why = base::message_of(found.code());
            is_over = true;
          }) {}
    void wait() {
      if (thread.joinable()) thread.join();
    }
    ~Proxy() {
      wait();
      if (joined) ::close(joined->socket);
    }
  };

  Admission admission_;
  Invitation where_;
};

TEST_F(AdmissionTest, AdmitsEachHostOnceAndListensNoMoreThen) {
  open(admission_);
  for (const std::uint32_t host : {2U, 1U}) {
    EXPECT_TRUE(admission_.is_open());
    Proxy proxy(where_, admission_.key(), host, kLong);
    std::optional<Guest> guest = serve(admission_, [&] { return false; });
    proxy.wait();
    ASSERT_TRUE(guest && proxy.joined) << proxy.why;
    EXPECT_EQ(guest->host, host);
    std::string records = guest->seal.seal("welcome"), bytes;
    EXPECT_TRUE(proxy.joined->seal.open(records, bytes));
    EXPECT_EQ(bytes, "welcome");
    ::close(guest->socket);
  }
  EXPECT_FALSE(admission_.is_open());
  Proxy late(where_, admission_.key(), 1, kShort);
  late.wait();
  EXPECT_FALSE(late.joined);
  EXPECT_NE(late.why.find("127.0.0.1 port"), std::string::npos);
  EXPECT_NE(late.why.find("Connection refused"), std::string::npos);
}

TEST_F(AdmissionTest, RefusesHostsThatItDoesNotExpect) {
  open(admission_);
  Proxy proxy(where_, admission_.key(), 3, kShort);
  EXPECT_FALSE(serve(admission_, [&] { return proxy.is_over.load(); }));
  EXPECT_FALSE(proxy.joined);
}

TEST_F(AdmissionTest, AProxyWithAnotherKeyIsToldAtOnceThatItIsWrong) {
  open(admission_);
  Proxy proxy(where_, Key::draw(), 1, kLong);
  EXPECT_FALSE(serve(admission_, [&] { return proxy.is_over.load(); }));
  EXPECT_NE(proxy.why.find("does not know the job's key"), std::string::npos) << proxy.why;
  EXPECT_TRUE(admission_.is_open());
}

/// A stranger listens at an address that both hosts have, as that of a bridge.
TEST_F(AdmissionTest, AProxyFindsMpiexecBesideFalseListeners) {
  open(admission_);
  const int silent = listen("127.0.0.2"), liar = listen("127.0.0.3");
  std::string heard;
  std::thread answers([&] {
    const int one = ::accept(liar, nullptr, nullptr);
    char bytes[1000];
    const std::string answer(Handshake::kAnswer, 'x');
    ssize_t got = ::recv(one, bytes, sizeof bytes, 0);
    (void)!::send(one, answer.data(), answer.size(), MSG_NOSIGNAL);
    for (; got > 0; got = ::recv(one, bytes, sizeof bytes, 0))
      heard.append(bytes, static_cast<std::size_t>(got));
    ::close(one);
  });
  Invitation where = where_;
  where.addresses = {"127.0.0.2", "127.0.0.3"};
  {
    // mpiexec is not among them yet: the liar is heard first.
    Proxy proxy(where, admission_.key(), 1, kShort);
    answers.join();
  }
  EXPECT_EQ(heard.size(), Handshake::kHello);
  where.addresses.emplace_back("127.0.0.1");
  Proxy proxy(where, admission_.key(), 1, kLong);
  const std::optional<Guest> guest = serve(admission_, [&] { return false; });
  proxy.wait();
  ASSERT_TRUE(guest && proxy.joined);
  sockaddr_in other{};
  socklen_t length = sizeof other;
  ASSERT_EQ(::getpeername(proxy.joined->socket, reinterpret_cast<sockaddr*>(&other), &length), 0);
  EXPECT_EQ(other.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
  for (const int one : {silent, liar, guest->socket}) ::close(one);
}

/// mpiexec has dropped the connection to make room, when the proxy had proved itself.
TEST_F(AdmissionTest, AProxyThatIsDroppedTriesAgain) {
  const int listener = listen("127.0.0.1");
  sockaddr_in own{};
  socklen_t length = sizeof own;
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&own), &length), 0);
  Invitation where;
  where.addresses = {"127.0.0.1"};
  where.port = ntohs(own.sin_port);
  Proxy proxy(where, admission_.key(), 1, kLong);
  for (const bool is_admitted : {false, true}) {
    const int one = ::accept(listener, nullptr, nullptr);
    const std::vector<std::uint32_t> hosts{1};
    Handshake mpiexec(admission_.key(), hosts);
    for (const std::size_t bytes : {Handshake::kHello, Handshake::kProof}) {
      std::string came(bytes, '\0');
      ASSERT_EQ(::recv(one, came.data(), bytes, MSG_WAITALL), static_cast<ssize_t>(bytes));
      ASSERT_TRUE(mpiexec.take(came));
      const std::string out = mpiexec.take_output();
      if (bytes == Handshake::kHello || is_admitted) (void)!::send(one, out.data(), out.size(), MSG_NOSIGNAL);
    }
    ::close(one);
  }
  proxy.wait();
  EXPECT_TRUE(proxy.joined) << proxy.why;
  ::close(listener);
}

/// It passes on all bytes, and knows no key.
TEST_F(AdmissionTest, AManInTheMiddleCannotTakeOverTheConnection) {
  open(admission_);
  const int middle = listen("127.0.0.2");
  Invitation where = where_;
  where.addresses = {"127.0.0.2"};
  Proxy proxy(where, admission_.key(), 1, kLong);
  int down = -1, up = -1;
  std::thread passes_on([&] {
    down = ::accept(middle, nullptr, nullptr);
    up = connect();
    char bytes[1000];
    for (const auto& [from, to] : {std::pair{down, up}, {up, down}, {down, up}, {up, down}}) {
      const ssize_t got = ::recv(from, bytes, sizeof bytes, 0);
      (void)!::send(to, bytes, static_cast<std::size_t>(std::max<ssize_t>(got, 0)), MSG_NOSIGNAL);
    }
  });
  std::optional<Guest> guest = serve(admission_, [&] { return false; });
  passes_on.join();
  proxy.wait();
  ASSERT_TRUE(guest && proxy.joined);
  std::string record = guest->seal.seal("end the ranks"), bytes;
  EXPECT_EQ(record.find("ranks"), std::string::npos);
  std::string own = "\x0d" + std::string(3, '\0') + "start a shell" + std::string(16, 'x');
  EXPECT_FALSE(proxy.joined->seal.open(own, bytes));
  std::string back = record;
  EXPECT_FALSE(guest->seal.open(back, bytes));
  EXPECT_EQ(bytes, "");
  for (const int one : {middle, down, up, guest->socket}) ::close(one);
}

TEST_F(AdmissionTest, DropsStrangersThatSayNothingOrTooLittle) {
  Admission admission{milliseconds(30)};
  open(admission);
  const int silent = connect(), slow = connect();
  (void)!::send(slow, "clump-join 1", 12, MSG_NOSIGNAL);
  serve(admission, [&] {
    (void)!::send(slow, "x", 1, MSG_NOSIGNAL);
    return is_closed(silent) && admission.waiting() == 0;
  });
  EXPECT_TRUE(admission.is_open());
  for (const int one : {silent, slow}) ::close(one);
}

TEST_F(AdmissionTest, DropsStrangersThatSpeakSomethingElse) {
  open(admission_);
  std::vector<int> strangers;
  for (const std::string& says :
       {std::string("GET / HTTP/1.1\r\nHost: this is a web browser, it seems\r\n\r\n"),
        std::string(1 << 20, 'x'), std::string("clump-join 1") + std::string(100, '\xff')}) {
    strangers.push_back(connect());
    (void)!::send(strangers.back(), says.data(), says.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  const int leaves = connect();
  ::close(leaves);
  serve(admission_, [&] { return std::ranges::all_of(strangers, is_closed); });
  EXPECT_EQ(admission_.waiting(), 0U);
  for (const int one : strangers) ::close(one);
}

TEST_F(AdmissionTest, AFloodOfSilentConnectionsKeepsNoProxyOut) {
  constexpr int kMany = 1500;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit more = before;
  more.rlim_cur = std::min<rlim_t>(before.rlim_max, 2 * kMany);
  if (more.rlim_cur < 2 * kMany) GTEST_SKIP() << "ulimit -Hn allows too few descriptors";
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &more), 0);
  open(admission_);
  std::vector<int> strangers;
  for (int i = 0; i < kMany; ++i) {
    strangers.push_back(connect());
    EXPECT_FALSE(admission_.next());
    EXPECT_LE(admission_.waiting(), Admission::kMostWaiting);
  }
  Proxy proxy(where_, admission_.key(), 1, kLong);
  const std::optional<Guest> guest = serve(admission_, [&] { return proxy.is_over.load() && !proxy.joined; });
  ASSERT_TRUE(guest);
  ::close(guest->socket);
  EXPECT_GE(std::ranges::count_if(strangers, is_closed), kMany - static_cast<int>(Admission::kMostWaiting));
  for (const int one : strangers) ::close(one);
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(AdmissionTest, DoesNotSpinWhenThereIsNoDescriptor) {
  open(admission_);
  const int stranger = connect();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_FALSE(admission_.next());
  EXPECT_EQ(admission_.waiting(), 0U);
  ::setrlimit(RLIMIT_NOFILE, &before);  // poll() needs it, too
  tools::PollSet all;
  admission_.add_to(all);
  EXPECT_FALSE(all.wait(0));  // the listener is ready, and is not looked at for a while
  std::this_thread::sleep_for(milliseconds(150));
  serve(admission_, [&] { return admission_.waiting() == 1; });
  ::close(stranger);
}

}  // namespace
}  // namespace clump::mpiexec
