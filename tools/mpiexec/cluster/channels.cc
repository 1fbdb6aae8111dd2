#include "cluster/channels.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/why_refused.h"

namespace clump::mpiexec {

namespace {

constexpr int kMostPieces = 32;  ///< that are read in a turn: other work waits

}  // namespace

Channels::~Channels() {
  for (const End& end : ends_)
    if (end.descriptor >= 0) ::close(end.descriptor);
}

base::Status Channels::open(Channel channel, int& end) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return base::fail(MPI_ERR_OTHER, "cannot make a socket pair: {}", base::why_refused("socketpair", errno));
  attach(channel, pair[0]);
  end = pair[1];
  return {};
}

void Channels::attach(Channel channel, int descriptor) {
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  at(channel).descriptor = descriptor;
}

void Channels::close(Channel channel) {
  End& end = at(channel);
  if (end.descriptor >= 0) ::close(std::exchange(end.descriptor, -1));
  end.came.clear();
  if (std::exchange(end.ended_here, true)) return;
  stream_.send({host_, channel, Frame::Kind::kClose, {}});
}

std::vector<int> Channels::descriptors() const {
  std::vector<int> all;
  for (const End& end : ends_)
    if (end.descriptor >= 0) all.push_back(end.descriptor);
  return all;
}

void Channels::add_to(tools::PollSet& all) const {
  for (const End& end : ends_) {
    const bool reads = end.credit > 0 && stream_.has_room();
    const auto events = static_cast<short>((reads ? POLLIN : 0) | (end.came.empty() ? 0 : POLLOUT));
    if (events != 0) all.add(end.descriptor, events);
  }
}

void Channels::transfer() {
  for (int i = 0; i < kChannels; ++i) write(static_cast<Channel>(i));
  stream_.flush();
  for (int pieces = 0, idle = 0; pieces < kMostPieces && idle < kChannels && stream_.has_room(); ++pieces) {
    idle = read(static_cast<Channel>(next_)) ? 0 : idle + 1;
    next_ = (next_ + 1) % kChannels;
    stream_.flush();
  }
}

void Channels::write(Channel channel) {
  End& end = at(channel);
  while (end.descriptor >= 0 && !end.came.empty()) {
    const ssize_t got = ::write(end.descriptor, end.came.data(), end.came.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got < 0) return close(channel);  // who has read it has gone
    end.came.erase(0, static_cast<std::size_t>(got));
    note_taken(channel, static_cast<std::size_t>(got));
  }
  if (end.descriptor >= 0 && end.ended_there && end.came.empty()) close(channel);
}

void Channels::note_taken(Channel channel, std::size_t bytes) {
  End& end = at(channel);
  if (end.descriptor < 0) end.came.erase(0, bytes);
  end.taken += bytes;
  if (end.taken < kWindow / 2 || end.ended_there) return;
  const auto credit = static_cast<std::uint32_t>(std::exchange(end.taken, 0));
  stream_.send(
      {host_, channel, Frame::Kind::kCredit, {reinterpret_cast<const char*>(&credit), sizeof credit}});
}

bool Channels::read(Channel channel) {
  End& end = at(channel);
  if (end.descriptor < 0 || end.credit == 0) return false;
  char bytes[kPiece];
  const ssize_t got = ::read(end.descriptor, bytes, std::min(sizeof bytes, end.credit));
  if (got > 0) {
    end.credit -= static_cast<std::size_t>(got);
    stream_.send({host_, channel, Frame::Kind::kData, {bytes, static_cast<std::size_t>(got)}});
    return true;
  }
  const bool is_empty = got < 0 && (errno == EAGAIN || errno == EINTR);
  if (!is_empty || expects_no_more_) close(channel);
  return false;
}

bool Channels::take(const Frame& frame) {
  if (frame.host != host_ || frame.channel == Channel::kControl) return false;
  End& end = at(frame.channel);
  switch (frame.kind) {
    case Frame::Kind::kData:
      if (end.ended_there || end.came.size() + end.taken + frame.bytes.size() > kWindow) return false;
      if (!end.ended_here) end.came.append(frame.bytes);
      return true;
    case Frame::Kind::kCredit: {
      std::uint32_t credit = 0;
      if (frame.bytes.size() != sizeof credit) return false;
      std::memcpy(&credit, frame.bytes.data(), sizeof credit);
      end.credit += credit;
      return end.credit <= kWindow;
    }
    case Frame::Kind::kClose:
      end.ended_there = true;
      return true;
    case Frame::Kind::kPing:
    case Frame::Kind::kPause:
    case Frame::Kind::kLaunch:
    case Frame::Kind::kGreeting:
    case Frame::Kind::kLost:
      break;
  }
  return false;
}

}  // namespace clump::mpiexec
