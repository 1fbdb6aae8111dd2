#include "cluster/channels.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <string>

namespace clump::mpiexec {
namespace {

/// Both ends of a stream, with the channels of one host.
class ChannelsTest : public testing::Test {
 protected:
  ChannelsTest() : here_(7, near_), there_(7, far_) {}
  void SetUp() override {
    ::signal(SIGPIPE, SIG_IGN);
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    near_.open(pair[0], pair[0]);
    far_.open(pair[1], pair[1]);
  }

  /// Until nothing moves any more. Control messages are counted.
  void move() {
    for (int turn = 0; turn < 200; ++turn) {
      move(near_, here_);
      move(far_, there_);
    }
  }
  void move(FrameStream& stream, Channels& channels) {
    stream.transfer();
    for (Frame frame; stream.receive(frame);) {
      if (frame.channel == Channel::kControl)
        ++messages_;
      else
        keeps_rules_ = channels.take(frame) && keeps_rules_;
    }
    channels.transfer();
    stream.flush();
  }
  static int open(Channels& channels, Channel channel) {
    int end = -1;
    EXPECT_TRUE(channels.open(channel, end).ok());
    ::fcntl(end, F_SETFL, O_NONBLOCK);
    return end;
  }
  /// As much as is taken without waiting.
  std::size_t fill(int end) {
    std::size_t sum = 0;
    const std::string block(64 << 10, 'x');
    for (;;) {
      const ssize_t got = ::write(end, block.data(), block.size());
      if (got > 0) sum += static_cast<std::size_t>(got);
      if (got <= 0) return sum;
    }
  }
  std::size_t drain(int end) {
    std::size_t sum = 0;
    char block[64 << 10];
    for (ssize_t got; (got = ::read(end, block, sizeof block)) > 0;) sum += static_cast<std::size_t>(got);
    return sum;
  }

  FrameStream near_, far_;
  Channels here_, there_;
  int messages_ = 0;
  bool keeps_rules_ = true;
};

TEST_F(ChannelsTest, CarriesBytesBothWaysAndEnds) {
  const int one = open(here_, Channel::kGdb), other = open(there_, Channel::kGdb);
  ASSERT_EQ(::write(one, "question", 8), 8);
  ASSERT_EQ(::write(other, "answer", 6), 6);
  move();
  char text[16] = {};
  EXPECT_EQ(::read(other, text, sizeof text), 8);
  EXPECT_EQ(::read(one, text, sizeof text), 6);
  ASSERT_EQ(::write(one, "last", 4), 4);
  ::close(one);
  move();
  EXPECT_EQ(::read(other, text, sizeof text), 4);
  EXPECT_EQ(::read(other, text, sizeof text), 0);
  ::close(other);
}

TEST_F(ChannelsTest, AReaderThatTakesNothingStopsItsWriterOnly) {
  const int input = open(here_, Channel::kInput), reader = open(there_, Channel::kInput);
  const int records = open(here_, Channel::kRecords), taker = open(there_, Channel::kRecords);
  std::size_t written = 0;
  for (std::size_t more = 1; more > 0; move()) written += more = fill(input);
  // The window, and what the sockets at both ends hold.
  EXPECT_LT(written, 2 * Channels::kWindow + (std::size_t{2} << 20));
  EXPECT_GE(written, Channels::kWindow);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(::write(records, "record", 6), 6);
    move();
    EXPECT_EQ(drain(taker), 6U);
  }
  near_.send({7, Channel::kControl, Frame::Kind::kData, "signal"});
  move();
  EXPECT_EQ(messages_, 1);
  // The reader goes on, and gets all.
  std::size_t read = 0;
  for (std::size_t more = 1; more > 0; move()) read += more = drain(reader);
  EXPECT_EQ(read, written);
  EXPECT_TRUE(keeps_rules_);
  for (const int end : {input, reader, records, taker}) ::close(end);
}

TEST_F(ChannelsTest, TellsTheWriterThatTheReaderHasGone) {
  const int input = open(here_, Channel::kInput), reader = open(there_, Channel::kInput);
  ::close(reader);
  move();
  EXPECT_EQ(::write(input, "x", 1), -1);
  ::close(input);
}

TEST_F(ChannelsTest, KeepsWhatTheOwnerTakesItself) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  there_.attach(Channel::kOutput, pipe[0]);
  ASSERT_EQ(::write(pipe[1], "a line\n", 7), 7);
  move();
  EXPECT_EQ(here_.waiting(Channel::kOutput), "a line\n");
  ::close(pipe[1]);
  move();
  EXPECT_FALSE(here_.has_ended(Channel::kOutput));
  here_.note_taken(Channel::kOutput, 7);
  EXPECT_TRUE(here_.has_ended(Channel::kOutput));
}

TEST_F(ChannelsTest, EndsAPipeThatOthersKeepOpenWhenNoMoreIsExpected) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  there_.attach(Channel::kOutput, pipe[0]);
  ASSERT_EQ(::write(pipe[1], "last", 4), 4);
  there_.expect_no_more();
  move();
  EXPECT_EQ(here_.waiting(Channel::kOutput), "last");
  EXPECT_TRUE(there_.is_closed(Channel::kOutput));
  ::close(pipe[1]);
}

TEST_F(ChannelsTest, TakesNoMoreThanTheWindow) {
  const std::string block(64 << 10, 'x');
  std::size_t taken = 0;
  while (here_.take({7, Channel::kOutput, Frame::Kind::kData, block})) taken += block.size();
  EXPECT_EQ(taken, Channels::kWindow);
  const std::uint32_t credit = 1;
  EXPECT_FALSE(
      here_.take({7, Channel::kErrors, Frame::Kind::kCredit, {reinterpret_cast<const char*>(&credit), 4}}));
  EXPECT_FALSE(here_.take({7, Channel::kErrors, Frame::Kind::kCredit, "x"}));
  EXPECT_FALSE(here_.take({8, Channel::kErrors, Frame::Kind::kData, "of another host"}));
  EXPECT_TRUE(here_.take({7, Channel::kErrors, Frame::Kind::kClose, ""}));
  EXPECT_FALSE(here_.take({7, Channel::kErrors, Frame::Kind::kData, "behind the end"}));
}

}  // namespace
}  // namespace clump::mpiexec
