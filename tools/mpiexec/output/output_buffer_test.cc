#include "output/output_buffer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <thread>

#include "output/flush.h"

namespace clump::mpiexec {
namespace {

constexpr std::size_t kMuch = 3 << 20;  // more than a pipe, and than a buffer that is not full

/// A pipe, or two sockets.
class Stream {
 public:
  explicit Stream(bool is_socket) {
    EXPECT_EQ(is_socket ? ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_) : ::pipe(ends_), 0);
  }
  ~Stream() {
    for (const int end : ends_) ::close(end);
  }
  int in() const { return ends_[1]; }
  std::string read_some() const {
    std::string bytes(100'000, '\0');
    bytes.resize(
        static_cast<std::size_t>(std::max<ssize_t>(::read(ends_[0], bytes.data(), bytes.size()), 0)));
    return bytes;
  }

 private:
  int ends_[2];
};

class Buffers : public testing::TestWithParam<bool> {};

// With a write() that waits this would not come to its end: nothing reads.
TEST_P(Buffers, NothingWaitsForAReader) {
  const Stream stream(GetParam());
  const int flags = ::fcntl(stream.in(), F_GETFL);
  OutputBuffer buffer(stream.in());
  std::string text;
  for (std::size_t line = 0; text.size() < kMuch; ++line) text += "line " + std::to_string(line) + "\n";
  buffer.put(text);
  EXPECT_GT(buffer.kept(), OutputBuffer::kMost);
  EXPECT_TRUE(buffer.is_full());
  buffer.put("last\n");
  EXPECT_EQ(::fcntl(stream.in(), F_GETFL), flags) << "others have the same open file description";
  std::string come;
  while (come.size() < text.size() + 5) {
    come += stream.read_some();
    buffer.write();
  }
  EXPECT_EQ(buffer.kept(), 0);
  EXPECT_EQ(come, text + "last\n");
  EXPECT_EQ(write_failure(), nullptr);
}

TEST_P(Buffers, AFlushWaitsForASlowReader) {
  const Stream stream(GetParam());
  OutputBuffer buffer(stream.in());
  buffer.put(std::string(kMuch, 'x'));
  std::size_t come = 0;
  std::thread reader([&] {
    while (come < kMuch) come += stream.read_some().size();
  });
  SignalLine signals;
  EndRequests requests;
  EXPECT_EQ(flush({&buffer}, signals, requests, {}), FlushEnd::kWritten);
  EXPECT_EQ(buffer.kept(), 0);
  reader.join();
  EXPECT_EQ(come, kMuch);
}

TEST_P(Buffers, ASecondSignalEndsAFlush) {
  const Stream stream(GetParam());
  OutputBuffer buffer(stream.in());
  buffer.put(std::string(kMuch, 'x'));
  SignalLine signals;
  signals.begin(std::array{SIGHUP});
  EndRequests requests;
  requests.take(SIGTERM, false, EndRequests::Clock::now());
  ::kill(::getpid(), SIGHUP);
  EXPECT_EQ(flush({&buffer}, signals, requests, {}), FlushEnd::kSignal);
  EXPECT_GT(discard({&buffer}), OutputBuffer::kMost);
  EXPECT_EQ(buffer.kept(), 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Buffers, testing::Bool(),
                         [](const auto& info) { return info.param ? "Socket" : "Pipe"; });

TEST(OutputBuffer, LinesOfOthersBeginBehindALineBreak) {
  const Stream stream(false);
  OutputBuffer buffer(stream.in());
  const int first = 0, second = 0;
  buffer.put("name? ", &first);
  EXPECT_TRUE(buffer.has_open_line_of(&first));
  buffer.put("I am ", &first);
  buffer.put("word\n", &second);
  buffer.put("here\n", &first);
  buffer.put("more", &second);
  buffer.put("mpiexec: end\n");
  EXPECT_EQ(stream.read_some(), "name? I am \nword\nhere\nmore\nmpiexec: end\n");
}

}  // namespace
}  // namespace clump::mpiexec
