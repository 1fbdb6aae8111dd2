#include "output/output_buffer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
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

enum class Kind { kPipe, kSocket, kSharedPipe };

/// A pipe, or two sockets.
class Stream {
 public:
  explicit Stream(Kind kind) {
    EXPECT_EQ(kind == Kind::kSocket ? ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_) : ::pipe(ends_), 0);
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

/// Of a shared pipe the buffer gets no open file description of its own, as there is no descriptor for it.
void begin(OutputBuffer& buffer, Kind kind) {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{3, before.rlim_max};
  if (kind == Kind::kSharedPipe) ::setrlimit(RLIMIT_NOFILE, &few);
  buffer.put("first\n");
  ::setrlimit(RLIMIT_NOFILE, &before);
}

class Buffers : public testing::TestWithParam<Kind> {};

// With a write() that waits this would not come to its end: nothing reads.
TEST_P(Buffers, NothingWaitsForAReader) {
  const Stream stream(GetParam());
  const int flags = ::fcntl(stream.in(), F_GETFL);
  OutputBuffer buffer(stream.in());
  begin(buffer, GetParam());
  std::string text = "first\n";
  for (std::size_t line = 0; text.size() < kMuch; ++line) text += "line " + std::to_string(line) + "\n";
  buffer.put(text.substr(6));
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
  begin(buffer, GetParam());
  buffer.put(std::string(kMuch, 'x'));
  std::size_t come = 0;
  std::thread reader([&] {
    while (come < kMuch + 6) come += stream.read_some().size();
  });
  SignalLine signals;
  EndRequests requests;
  EXPECT_EQ(flush({&buffer}, signals, requests, {}), FlushEnd::kWritten);
  EXPECT_EQ(buffer.kept(), 0);
  reader.join();
  EXPECT_EQ(come, kMuch + 6);
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

INSTANTIATE_TEST_SUITE_P(Kinds, Buffers, testing::Values(Kind::kPipe, Kind::kSocket, Kind::kSharedPipe));

TEST(OutputBuffer, LinesOfOthersBeginBehindALineBreak) {
  const Stream stream(Kind::kPipe);
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
