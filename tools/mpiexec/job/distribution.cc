#include "job/distribution.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>

#include "common/poll_set.h"

namespace clump::mpiexec {

namespace {

constexpr std::size_t kBlock = 64 << 10;
constexpr std::chrono::milliseconds kBackground{200};  ///< so often, whether the terminal may be read again

class Distribution {
 public:
  Distribution(int source, const std::vector<int>& targets) : source_(source) {
    for (const int target : targets) readers_.push_back({target});
  }

  void run() {
    while (!readers_.empty()) {
      tools::PollSet all;
      for (const Reader& reader : readers_) all.add(reader.target, reader.at < end_ ? POLLOUT : 0);
      const bool reads =
          !over_ && std::ranges::any_of(readers_, [&](const Reader& r) { return r.at == end_; });
      if (reads) all.add(source_);
      all.wait(-1);
      if (all.failed()) return;
      for (Reader& reader : readers_)
        if (all.is_ready(reader.target)) feed(reader);
      if (reads && all.is_ready(source_)) read();
      let_go();
    }
  }

 private:
  struct Reader {
    int target;
    std::uint64_t at = 0;  ///< so much it has got
    bool gone = false;
  };

  void read() {
    std::string block(kBlock, '\0');
    const ssize_t got = ::read(source_, block.data(), block.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got < 0 && errno == EIO && is_in_background()) return std::this_thread::sleep_for(kBackground);
    over_ = got <= 0;
    if (over_) return;
    block.resize(static_cast<std::size_t>(got));
    end_ += block.size();
    blocks_.push_back(std::move(block));
  }

  /// Only the foreground job reads a terminal; this thread blocks the signal that would stop mpiexec for it.
  bool is_in_background() const { return ::isatty(source_) != 0 && ::tcgetpgrp(source_) != ::getpgrp(); }

  void feed(Reader& reader) {
    std::uint64_t begin = begin_;
    for (const std::string& block : blocks_) {
      const std::uint64_t after = begin + block.size();
      while (reader.at < after) {
        const auto from = static_cast<std::size_t>(reader.at - begin);
        const ssize_t got = ::write(reader.target, block.data() + from, block.size() - from);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
          reader.gone = errno != EAGAIN;
          return;
        }
        reader.at += static_cast<std::uint64_t>(got);
      }
      begin = after;
    }
    // Woken although it has got everything: it reads no more.
    tools::PollSet mine;
    mine.add(reader.target, 0);
    if (mine.wait(0)) reader.gone = true;
  }

  /// Of readers that are done, and of what all have got.
  void let_go() {
    std::erase_if(readers_, [&](const Reader& reader) {
      const bool done = reader.gone || (over_ && reader.at == end_);
      if (done) ::close(reader.target);
      return done;
    });
    const auto slowest = std::ranges::min_element(readers_, {}, &Reader::at);
    while (!blocks_.empty() && slowest != readers_.end() && begin_ + blocks_.front().size() <= slowest->at) {
      begin_ += blocks_.front().size();
      blocks_.pop_front();
    }
  }

  const int source_;
  std::vector<Reader> readers_;
  std::deque<std::string> blocks_;  ///< what not all readers have got
  std::uint64_t begin_ = 0;         ///< where they begin in the input
  std::uint64_t end_ = 0;           ///< so much has been read
  bool over_ = false;
};

}  // namespace

void distribute_input(int source, std::vector<int> targets) {
  for (const int target : targets) ::fcntl(target, F_SETFL, ::fcntl(target, F_GETFL) | O_NONBLOCK);
  std::thread([source, targets = std::move(targets)] {
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int number : {SIGPIPE, SIGTTIN}) sigaddset(&blocked, number);  // a reader that has gone
    ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
    Distribution(source, targets).run();
    if (source != STDIN_FILENO) ::close(source);
  }).detach();
}

}  // namespace clump::mpiexec
