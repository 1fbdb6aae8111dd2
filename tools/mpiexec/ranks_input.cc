#include "ranks_input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <string>
#include <thread>

namespace clump::mpiexec {

namespace {

constexpr std::size_t kBlock = 64 << 10;

int open_nothing() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

/// Whether everybody who opens it reads all of it: unlike a pipe or a terminal.
bool can_be_opened_again() {
  struct stat info {};
  return ::fstat(STDIN_FILENO, &info) == 0 &&
         (S_ISREG(info.st_mode) || (S_ISCHR(info.st_mode) && ::isatty(STDIN_FILENO) == 0));
}

/// Passes on what comes to several pipes. What one of them has no room for is kept, and nothing more is read
/// while none of them has got everything: so memory holds what the slowest reader is behind the fastest.
class Distribution {
 public:
  explicit Distribution(const std::vector<int>& pipes) {
    for (const int pipe : pipes) readers_.push_back({pipe});
  }

  void run() {
    while (!readers_.empty()) {
      std::vector<pollfd> all;
      for (const Reader& reader : readers_)
        all.push_back({reader.pipe, static_cast<short>(reader.at < end_ ? POLLOUT : 0), 0});
      const bool reads =
          !over_ && std::ranges::any_of(readers_, [&](const Reader& r) { return r.at == end_; });
      all.push_back({reads ? STDIN_FILENO : -1, POLLIN, 0});
      if (::poll(all.data(), all.size(), -1) < 0 && errno != EINTR) return;
      for (std::size_t i = 0; i < readers_.size(); ++i)
        if (all[i].revents != 0) feed(readers_[i]);
      if (all.back().revents != 0) read();
      let_go();
    }
  }

 private:
  struct Reader {
    int pipe;
    std::uint64_t at = 0;  ///< so much it has got
    bool gone = false;
  };

  void read() {
    std::string block(kBlock, '\0');
    const ssize_t got = ::read(STDIN_FILENO, block.data(), block.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    over_ = got <= 0;
    if (over_) return;
    block.resize(static_cast<std::size_t>(got));
    end_ += block.size();
    blocks_.push_back(std::move(block));
  }

  void feed(Reader& reader) {
    std::uint64_t begin = begin_;
    for (const std::string& block : blocks_) {
      const std::uint64_t after = begin + block.size();
      while (reader.at < after) {
        const auto from = static_cast<std::size_t>(reader.at - begin);
        const ssize_t got = ::write(reader.pipe, block.data() + from, block.size() - from);
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
    pollfd state{reader.pipe, 0, 0};
    if (::poll(&state, 1, 0) > 0 && (state.revents & POLLERR) != 0) reader.gone = true;
  }

  /// Of readers that are done, and of what all have got.
  void let_go() {
    std::erase_if(readers_, [&](const Reader& reader) {
      const bool done = reader.gone || (over_ && reader.at == end_);
      if (done) ::close(reader.pipe);
      return done;
    });
    const auto slowest = std::ranges::min_element(readers_, {}, &Reader::at);
    while (!blocks_.empty() && slowest != readers_.end() && begin_ + blocks_.front().size() <= slowest->at) {
      begin_ += blocks_.front().size();
      blocks_.pop_front();
    }
  }

  std::vector<Reader> readers_;
  std::deque<std::string> blocks_;  ///< what somebody has not got yet
  std::uint64_t begin_ = 0;         ///< where they begin in the input
  std::uint64_t end_ = 0;           ///< so much has been read
  bool over_ = false;
};

}  // namespace

long RanksInput::files(const pmi::Job& job) {
  return job.input == pmi::kInputForAll ? 2L * job.ranks(job.this_node()) : 0;
}

base::Status RanksInput::input_of_rank(int& end) {
  if (can_be_opened_again()) {
    end = ::open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
    if (end >= 0) ::lseek(end, ::lseek(STDIN_FILENO, 0, SEEK_CUR), SEEK_SET);
  } else {
    int pipe[2] = {-1, -1};
    if (::pipe2(pipe, O_CLOEXEC) == 0) {
      ::fcntl(pipe[1], F_SETFL, O_NONBLOCK);
      pipes_.push_back(pipe[1]);
    }
    end = pipe[0];
  }
  if (end < 0)
    return base::fail(MPI_ERR_SPAWN, "--stdin all: no standard input for each rank: {}",
                      std::strerror(errno));
  return {};
}

base::Status RanksInput::direct(int process, int& in, std::vector<int>& of_ranks) {
  const pmi::HostProcess& host = job_.processes[static_cast<std::size_t>(process)];
  if (job_.input >= 0 && job_.process_of(job_.input) == process) return {};
  if (job_.input == pmi::kInputForAll && host.plain) return input_of_rank(in);
  in = open_nothing();
  if (job_.input != pmi::kInputForAll) return {};
  for (int i = 0; i < host.ranks; ++i) {
    CLUMP_TRY(input_of_rank(of_ranks.emplace_back(-1)));
    given_.push_back(of_ranks.back());
  }
  return {};
}

void RanksInput::start() {
  for (const int given : given_) ::close(given);
  if (pipes_.empty()) return;
  std::thread([pipes = pipes_] {
    sigset_t broken_pipe;  // a reader that is gone
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    Distribution(pipes).run();
  }).detach();
}

}  // namespace clump::mpiexec
