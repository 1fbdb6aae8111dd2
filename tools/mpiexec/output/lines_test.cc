#include "output/lines.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

namespace clump::mpiexec {
namespace {

using Clock = LineForwarder::Clock;

class Lines : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::pipe2(ends_, O_NONBLOCK), 0); }
  void TearDown() override {
    for (const int end : ends_) ::close(end);
  }
  LineForwarder forwarder(const char* prefix, int rank = 0) {
    return LineForwarder({.descriptor = 1, .out = &buffer()}, {prefix, "h", 0}, rank);
  }
  OutputBuffer& buffer() {
    if (!buffer_) buffer_.emplace(ends_[1]);
    return *buffer_;
  }
  std::string shown() {
    std::string bytes(10'000, '\0');
    bytes.resize(
        static_cast<std::size_t>(std::max<ssize_t>(::read(ends_[0], bytes.data(), bytes.size()), 0)));
    return bytes;
  }
  Clock::time_point at(int milliseconds) const { return start_ + std::chrono::milliseconds(milliseconds); }

 private:
  int ends_[2]{};
  std::optional<OutputBuffer> buffer_;
  const Clock::time_point start_ = Clock::now();
};

TEST_F(Lines, APromptIsShownAfterAPause) {
  LineForwarder one = forwarder("[%r] "), other = forwarder("[%r] ", 1);
  one.add("hello\nname? ", at(0));
  EXPECT_EQ(shown(), "[0] hello\n");
  EXPECT_EQ(one.next(), at(100));
  one.show_beginning(at(99));
  EXPECT_EQ(shown(), "");
  one.show_beginning(at(100));
  EXPECT_EQ(shown(), "[0] name? ");
  EXPECT_FALSE(one.next());
  one.add("Anna\n", at(5000));
  EXPECT_EQ(shown(), "Anna\n");
  one.add("age? ", at(5001));
  one.show_beginning(at(5101));
  other.add("word\n", at(5102));
  one.add("7\nbye", at(5103));
  one.finish();
  EXPECT_EQ(shown(), "[0] age? \n[1] word\n[0] 7\n[0] bye\n");
}

TEST_F(Lines, AShownBeginningIsEndedWithTheStream) {
  LineForwarder with = forwarder("[%r] "), without = forwarder("");
  for (LineForwarder* one : {&with, &without}) {
    one->add("name? ", at(0));
    one->show_beginning(at(100));
    one->finish();
  }
  EXPECT_EQ(shown(), "[0] name? \nname? ");
}

// The buffer of a program ends in the middle of a line: its rest comes when the next one is full.
TEST_F(Lines, TheEndOfABufferIsNoPrompt) {
  LineForwarder one = forwarder("");
  one.add("begin\n" + std::string(LineForwarder::kBufferSize - 6, 'x'), at(0));
  EXPECT_FALSE(one.next());
  one.show_beginning(at(10'000));
  EXPECT_EQ(shown(), "begin\n");
  one.add("\nname? ", at(10'000));
  EXPECT_EQ(one.next(), at(10'100));
}

}  // namespace
}  // namespace clump::mpiexec
