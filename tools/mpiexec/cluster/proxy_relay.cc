#include "cluster/proxy_relay.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string>
#include <utility>

#include "base/program_path.h"
#include "base/why_refused.h"
#include "common/poll_set.h"

namespace clump::mpiexec {

namespace {

base::Status refused(const char* call) {
  return base::fail(MPI_ERR_SPAWN, "cannot take over standard input and output: {}",
                    base::why_refused(call, errno));
}

}  // namespace

base::Status ProxyRelay::take_descriptors(std::optional<Joined> connection) {
  const int in = connection ? connection->socket : ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  const int out = connection ? connection->socket : ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  errors_ = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  if (in < 0 || out < 0 || errors_ < 0) return refused("fcntl");
  stream_.open(in, out);
  if (connection) stream_.protect(std::move(connection->seal));
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::close(nothing);
  for (const auto& [channel, target] :
       {std::pair{Channel::kOutput, STDOUT_FILENO}, {Channel::kErrors, STDERR_FILENO}}) {
    int pipe[2];
    if (::pipe2(pipe, O_CLOEXEC) != 0) return refused("pipe2");
    ::dup2(pipe[1], target);
    ::close(pipe[1]);
    channels_.attach(channel, pipe[0]);
  }
  for (const Channel channel : {Channel::kInput, Channel::kRecords, Channel::kGdb})
    CLUMP_TRY(channels_.open(channel, ends_[static_cast<std::size_t>(channel)]));
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return refused("socketpair");
  control_ = Connection(pair[0]);
  theirs_ = Connection(pair[1]);
  if ((finish_event_ = ::eventfd(0, EFD_CLOEXEC)) < 0) return refused("eventfd");
  own_ = channels_.descriptors();
  own_.insert(own_.end(), {in, out, errors_, pair[0], pair[1], finish_event_});
  for (const int end : ends_)
    if (end >= 0) own_.push_back(end);
  return {};
}

base::Status ProxyRelay::start(std::optional<Joined> connection) {
  if (base::Status taken = take_descriptors(std::move(connection)); !taken.ok()) {
    if (errors_ >= 0) ::dup2(errors_, STDERR_FILENO);  // the caller says why
    return taken;
  }
  stream_.greet(CLUMP_VERSION, base::program_path());
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return {};
}

Connection ProxyRelay::control() { return std::move(theirs_); }

void ProxyRelay::run() {
  while (!is_done()) {
    tools::PollSet all;
    stream_.add_to(all);
    channels_.add_to(all);
    branches_.add_to(all);
    control_.add_to(all);
    if (!is_finishing_) all.add(finish_event_);
    all.wait(static_cast<int>(std::chrono::milliseconds(kPingEvery).count()));
    stream_.transfer();
    stream_.keep_alive(host_);
    if (!take_frames() || !has_patience()) break;
    branches_.transfer(stream_);
    control_.transfer();
    for (std::string message; control_.receive(message);)
      stream_.send({host_, Channel::kControl, Frame::Kind::kData, message});
    if (is_finishing_) channels_.expect_no_more();
    channels_.transfer();
    stream_.flush();
  }
  for (int channel = 1; channel < kChannels; ++channel) channels_.close(static_cast<Channel>(channel));
  stream_.close();
  control_ = Connection();
  branches_.close();
  ::close(std::exchange(errors_, -1));
}

/// To the launcher's standard error, as the stream is no use: mpiexec may show it.
void ProxyRelay::complain(const std::string& why) const {
  const std::string line = fmt::format("mpiexec --proxy {}: {}\n", host_, why);
  (void)!::write(errors_, line.data(), line.size());
}

bool ProxyRelay::take_frames() {
  for (Frame frame; stream_.receive(frame);) {
    is_paused_ = frame.kind == Frame::Kind::kPause;
    if (is_paused_) branches_.pause();
    if (frame.host == host_ ? take(frame) : branches_.pass_down(frame)) continue;
    complain("what mpiexec has sent breaks the rules");
    return false;
  }
  if (stream_.is_damaged()) complain("what mpiexec has sent is no message");
  return !stream_.has_ended();
}

bool ProxyRelay::take(const Frame& frame) {
  if (frame.channel != Channel::kControl) return channels_.take(frame);
  if (frame.kind == Frame::Kind::kData) control_.send(frame.bytes);
  if (frame.kind == Frame::Kind::kClose) control_ = Connection();
  if (frame.kind != Frame::Kind::kLaunch) return true;
  const std::vector<int> before = own();
  const base::Status launched = branches_.launch(frame.bytes, before);
  if (!launched.ok()) {
    complain(base::message_of(launched.code()));
    stream_.close();  // which ends this proxy
    return true;
  }
  const std::lock_guard lock(mutex_);
  std::ranges::copy(branches_.descriptors(), std::back_inserter(own_));
  return true;
}

std::vector<int> ProxyRelay::own() {
  const std::lock_guard lock(mutex_);
  return own_;
}

bool ProxyRelay::has_patience() {
  if (is_paused_) stream_.excuse_silence();
  if (stream_.silence() < kPatience) return true;
  complain(fmt::format("nothing has come from mpiexec for {} s: its host or the network is gone",
                       kPatience.count()));
  return false;
}

bool ProxyRelay::is_done() {
  return is_finishing_ && !control_.is_open() && channels_.is_closed(Channel::kOutput) &&
         channels_.is_closed(Channel::kErrors) && branches_.are_over() && stream_.is_idle();
}

void ProxyRelay::finish() {
  if (!thread_.joinable()) return;
  const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  for (const int target : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, target);
  ::close(nothing);
  is_finishing_ = true;
  ::eventfd_write(finish_event_, 1);
  thread_.join();
}

ProxyRelay::~ProxyRelay() { finish(); }

}  // namespace clump::mpiexec
