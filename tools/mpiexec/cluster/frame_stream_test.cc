#include "cluster/frame_stream.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>

namespace clump::mpiexec {
namespace {

/// A stream, and what a test has at its other end.
class FrameStreamTest : public testing::Test {
 protected:
  void SetUp() override {
    ::signal(SIGPIPE, SIG_IGN);
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    stream_.open(pair[0], pair[0]);
    other_ = pair[1];
  }
  void TearDown() override { ::close(other_); }

  void write(const std::string& bytes) {
    ASSERT_EQ(::write(other_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    stream_.transfer();
  }
  std::string next() {
    Frame frame;
    return stream_.receive(frame) ? std::string(frame.bytes) : "none";
  }
  /// What such a frame is on the stream.
  static std::string bytes_of(const Frame& frame) {
    FrameStream one;
    int pair[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    one.open(pair[0], pair[0]);
    one.send(frame);
    one.flush();
    char bytes[4096];
    const ssize_t got = ::read(pair[1], bytes, sizeof bytes);
    ::close(pair[1]);
    return {bytes, static_cast<std::size_t>(got)};
  }

  FrameStream stream_;
  int other_ = -1;
};

TEST_F(FrameStreamTest, PingsOnceASecondAndCountsSilence) {
  stream_.keep_alive(3);
  stream_.keep_alive(3);
  stream_.flush();
  const std::string ping = bytes_of({3, Channel::kControl, Frame::Kind::kPing, {}});
  char bytes[256];
  ASSERT_EQ(::read(other_, bytes, sizeof bytes), static_cast<ssize_t>(ping.size()));
  EXPECT_EQ(std::string(bytes, ping.size()), ping);
  ::usleep(2000);
  stream_.keep_alive(3);
  EXPECT_GE(stream_.silence(), std::chrono::milliseconds(2));
  write(ping);
  EXPECT_EQ(next(), "");
  EXPECT_EQ(stream_.silence().count(), 0);
}

TEST_F(FrameStreamTest, KeepsWhatStartFilesWriteBeforeTheGreeting) {
  stream_.expect_greeting();
  write("Welcome to h1\nclump-prox");
  write("y? no\n");
  EXPECT_FALSE(stream_.is_greeted());
  write("no end of line\nclump-proxy 1.2 /a b/mpi");
  EXPECT_FALSE(stream_.is_greeted());
  write("exec\n" + bytes_of({3, Channel::kControl, Frame::Kind::kData, "first"}));
  EXPECT_TRUE(stream_.is_greeted());
  EXPECT_EQ(stream_.version(), "1.2");
  EXPECT_EQ(stream_.path(), "/a b/mpiexec");
  EXPECT_EQ(stream_.noise(), "Welcome to h1\nclump-proxy? no\nno end of line\n");
  EXPECT_EQ(next(), "first");
}

TEST_F(FrameStreamTest, GreetsOnALineOfItsOwn) {
  FrameStream proxy;
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  proxy.open(pair[0], pair[0]);
  proxy.greet("1.2", "/bin/mpiexec");
  proxy.flush();
  char bytes[100];
  EXPECT_EQ(std::string(bytes, static_cast<std::size_t>(::read(pair[1], bytes, sizeof bytes))),
            "\nclump-proxy 1.2 /bin/mpiexec\n");
  ::close(pair[1]);
}

TEST_F(FrameStreamTest, BoundsWhatItKeepsOfNoise) {
  stream_.expect_greeting();
  for (int i = 0; i < 100; ++i) write(std::string(1 << 10, 'x'));
  write("the end\nclump-proxy 1.2 /a\n");
  EXPECT_TRUE(stream_.is_greeted());
  EXPECT_LE(stream_.noise().size(), std::size_t{16} << 10);
  EXPECT_TRUE(stream_.noise().ends_with("xthe end\n"));
}

TEST_F(FrameStreamTest, TakesFramesInAnyPieces) {
  const std::string all = bytes_of({3, Channel::kInput, Frame::Kind::kData, "a line\n"}) +
                          bytes_of({3, Channel::kControl, Frame::Kind::kPing, ""}) +
                          bytes_of({3, Channel::kControl, Frame::Kind::kData, "last"});
  std::string came;
  for (const char byte : all) {
    write(std::string(1, byte));
    for (std::string one = next(); one != "none"; one = next()) came += "[" + one + "]";
  }
  EXPECT_EQ(came, "[a line\n][][last]");
}

TEST_F(FrameStreamTest, SendsControlMessagesAheadOfDataThatWaits) {
  stream_.send({1, Channel::kOutput, Frame::Kind::kData, "data"});
  stream_.send({1, Channel::kOutput, Frame::Kind::kClose, ""});
  stream_.send({1, Channel::kControl, Frame::Kind::kData, "control"});
  stream_.flush();
  FrameStream receiver;
  receiver.open(::dup(other_), ::dup(other_));
  receiver.transfer();
  std::string came;
  for (Frame frame; receiver.receive(frame);)
    came += frame.kind == Frame::Kind::kClose ? "close" : std::string(frame.bytes) + " ";
  EXPECT_EQ(came, "control data close");
  EXPECT_TRUE(stream_.is_idle());
}

TEST_F(FrameStreamTest, EndsWithItsOtherSide) {
  write(bytes_of({3, Channel::kControl, Frame::Kind::kData, "last"}));
  ::shutdown(other_, SHUT_RDWR);
  stream_.transfer();
  EXPECT_TRUE(stream_.has_ended());
  EXPECT_EQ(next(), "last");
  EXPECT_EQ(next(), "none");
  EXPECT_FALSE(stream_.is_damaged());
  stream_.send({3, Channel::kControl, Frame::Kind::kData, "too late"});
  stream_.transfer();
}

TEST_F(FrameStreamTest, EndsAtBytesThatAreNoFrame) {
  std::string frame = bytes_of({3, Channel::kControl, Frame::Kind::kData, "four"});
  frame.back() = 'x';
  write(frame);
  EXPECT_EQ(next(), "none");
  EXPECT_TRUE(stream_.is_damaged());
  EXPECT_TRUE(stream_.has_ended());
}

TEST_F(FrameStreamTest, EndsAtAFrameThatIsTooLong) {
  std::string frame = bytes_of({3, Channel::kOutput, Frame::Kind::kData, "four"});
  frame[11] = '\x7f';  // the highest byte of its length
  write(frame);
  EXPECT_EQ(next(), "none");
  EXPECT_TRUE(stream_.is_damaged());
}

/// Two ends of a connection that is sealed, and what is on it.
class SealedStreamTest : public testing::Test {
 protected:
  void SetUp() override {
    ::signal(SIGPIPE, SIG_IGN);
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    Seal::DirectionKey one{}, other{};
    one.fill(1);
    other.fill(2);
    sender_.open(pair[0], pair[0]);
    sender_.protect(Seal(one, other));
    receiver_.open(pair[1], pair[1]);
    receiver_.protect(Seal(other, one));
    receiver_.expect_greeting();
    sender_.greet("1.2", "/bin/mpiexec");
    sender_.flush();
    receiver_.transfer();
    ASSERT_TRUE(receiver_.is_greeted());
  }
  void send(const char* bytes) {
    sender_.send({3, Channel::kControl, Frame::Kind::kData, bytes});
    sender_.flush();
  }
  std::string next() {
    Frame frame;
    receiver_.transfer();
    return receiver_.receive(frame) ? std::string(frame.bytes) : "none";
  }

  FrameStream sender_, receiver_;
};

TEST_F(SealedStreamTest, HidesFramesOnTheWire) {
  send("the environment of all ranks");
  char bytes[1000];
  const ssize_t there = ::recv(receiver_.in(), bytes, sizeof bytes, MSG_PEEK);
  ASSERT_GT(there, 0);
  EXPECT_EQ(std::string(bytes, static_cast<std::size_t>(there)).find("environment"), std::string::npos);
  EXPECT_EQ(next(), "the environment of all ranks");
}

TEST_F(SealedStreamTest, TakesFramesThatAreLongerThanARecord) {
  const std::string much(5 * Seal::kMost, 'x');
  sender_.send({3, Channel::kControl, Frame::Kind::kData, much});
  std::string came = "none";
  while (came == "none") {
    sender_.flush();
    came = next();
  }
  EXPECT_EQ(came, much);
  EXPECT_TRUE(sender_.is_idle());
}

/// What has taken over the connection knows no key.
TEST_F(SealedStreamTest, EndsAtAFrameThatIsNotSealed) {
  FrameStream stranger;
  stranger.open(::dup(sender_.in()), ::dup(sender_.in()));
  stranger.send({3, Channel::kControl, Frame::Kind::kData, "start a shell"});
  stranger.flush();
  EXPECT_EQ(next(), "none");
  EXPECT_TRUE(receiver_.is_damaged());
  EXPECT_TRUE(receiver_.has_ended());
  send("too late");
  EXPECT_EQ(next(), "none");
}

}  // namespace
}  // namespace clump::mpiexec
