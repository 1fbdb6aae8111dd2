#include "cluster/frame_stream.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace clump::mpiexec {

namespace {

struct Header {
  std::uint32_t host;
  Channel channel;
  Frame::Kind kind;
  std::uint16_t unused;
  std::uint32_t bytes;
};
static_assert(sizeof(Header) == 12);

/// Behind each frame: launchers that pass on whole lines pass on whole frames.
constexpr char kEndOfFrame = '\n';
constexpr std::string_view kGreeting = "\nclump-proxy ";
constexpr std::size_t kMostNoise = 16 << 10;      ///< is kept
constexpr std::size_t kMostInATurn = 1 << 20;     ///< bytes that are read: other work waits
constexpr std::uint32_t kMostControl = 1U << 30;  ///< the plan has the environment of all ranks
constexpr std::uint32_t kMostData = 1U << 20;

bool makes_sense(const Header& header) {
  return static_cast<int>(header.channel) < kChannels && header.kind <= Frame::Kind::kLost &&
         header.unused == 0 &&
         header.bytes <= (header.channel == Channel::kControl ? kMostControl : kMostData);
}

}  // namespace

void FrameStream::open(int in, int out) {
  in_ = in;
  out_descriptor_ = out;
  for (const int one : {in, out}) ::fcntl(one, F_SETFL, ::fcntl(one, F_GETFL) | O_NONBLOCK);
}

void FrameStream::close() {
  if (out_descriptor_ >= 0 && out_descriptor_ != in_) ::close(out_descriptor_);
  if (in_ >= 0) ::close(in_);
  in_ = out_descriptor_ = -1;
  out_.clear();
  written_ = 0;
  urgent_.clear();
  data_.clear();
}

void FrameStream::greet(std::string_view version, std::string_view path) {
  urgent_.append(kGreeting).append(version).append(" ").append(path).append("\n");
}

void FrameStream::send(const Frame& frame) {
  if (has_ended()) return;
  const Header header{frame.host, frame.channel, frame.kind, 0,
                      static_cast<std::uint32_t>(frame.bytes.size())};
  const bool is_data = frame.kind == Frame::Kind::kData || frame.kind == Frame::Kind::kClose;
  const bool keeps_order =
      (frame.channel != Channel::kControl && is_data) || frame.kind == Frame::Kind::kLost;
  std::string& text = keeps_order ? data_.emplace_back() : urgent_;
  text.append(reinterpret_cast<const char*>(&header), sizeof header);
  text.append(frame.bytes);
  text.push_back(kEndOfFrame);
}

void FrameStream::keep_alive(std::uint32_t host) {
  const auto now = Clock::now();
  if (next_ping_ != Clock::time_point{})  // it was called before
    silence_ += std::min<Clock::duration>(now - last_look_, 2 * kPingEvery);
  last_look_ = now;
  if (now < next_ping_) return;
  send({host, Channel::kControl, Frame::Kind::kPing, {}});
  next_ping_ = now + kPingEvery;
}

void FrameStream::add_to(tools::PollSet& all) const {
  if (in_ == out_descriptor_) return all.add(in_, static_cast<short>(is_idle() ? POLLIN : POLLIN | POLLOUT));
  all.add(in_);
  if (!is_idle()) all.add(out_descriptor_, POLLOUT);
}

void FrameStream::transfer() {
  flush();
  read();
}

void FrameStream::flush() {
  while (out_descriptor_ >= 0) {
    if (written_ == out_.size()) {
      out_.clear();
      written_ = 0;
      if (!urgent_.empty()) {
        out_.swap(urgent_);
      } else if (!data_.empty()) {
        out_ = std::move(data_.front());
        data_.pop_front();
      } else {
        return;
      }
      if (seal_) out_ = seal_->seal(out_);
    }
    const ssize_t got = ::write(out_descriptor_, out_.data() + written_, out_.size() - written_);
    if (got > 0) {
      written_ += static_cast<std::size_t>(got);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      // The other side reads no more; what it has written before may still be read.
      if (out_descriptor_ != in_) ::close(out_descriptor_);
      out_descriptor_ = -1;
      out_.clear();
      written_ = 0;
    }
  }
  urgent_.clear();
  data_.clear();
}

void FrameStream::read() {
  came_.erase(0, std::exchange(at_, 0));
  for (std::size_t sum = 0; in_ >= 0 && sum < kMostInATurn;) {
    char bytes[64 << 10];
    const ssize_t got = ::read(in_, bytes, sizeof bytes);
    if (got > 0) {
      (seal_ ? sealed_ : came_).append(bytes, static_cast<std::size_t>(got));
      sum += static_cast<std::size_t>(got);
    } else if (got < 0 && errno == EAGAIN) {
      break;
    } else if (got == 0 || errno != EINTR) {
      close();
    }
  }
  if (seal_ && !is_damaged_ && !seal_->open(sealed_, came_)) {
    is_damaged_ = true;
    close();
  }
  if (!is_greeted_) look_for_greeting();
}

void FrameStream::look_for_greeting() {
  // The greeting may also be the very first line.
  const std::string_view first = kGreeting.substr(1);
  std::size_t begin = came_.starts_with(first) && noise_.empty() ? 0 : came_.find(kGreeting);
  if (begin != came_.npos && begin + kGreeting.size() <= came_.size() && came_[begin] == '\n') ++begin;
  const std::size_t end = begin == came_.npos ? begin : came_.find('\n', begin);
  if (end != came_.npos) {
    const std::string line = came_.substr(begin + first.size(), end - begin - first.size());
    const std::size_t blank = line.find(' ');
    version_ = line.substr(0, blank);
    path_ = blank == line.npos ? std::string() : line.substr(blank + 1);
    noise_ += came_.substr(0, begin);
    at_ = end + 1;
    is_greeted_ = true;
  } else if (has_ended() || came_.size() > kMostNoise) {
    // A part of the greeting may be at the end of it.
    const std::size_t kept = has_ended() ? 0 : std::min(kMostNoise / 2, came_.size());
    noise_ += came_.substr(0, came_.size() - kept);
    came_.erase(0, came_.size() - kept);
  }
  if (noise_.size() > kMostNoise) noise_.erase(0, noise_.size() - kMostNoise);
}

bool FrameStream::receive(Frame& frame) {
  if (!is_greeted_ || is_damaged_) return false;
  Header header{};
  const std::size_t left = came_.size() - at_;
  if (left < sizeof header) return false;
  std::memcpy(&header, came_.data() + at_, sizeof header);
  is_damaged_ = !makes_sense(header) || (left > sizeof header + header.bytes &&
                                         came_[at_ + sizeof header + header.bytes] != kEndOfFrame);
  if (is_damaged_) close();
  if (is_damaged_ || left <= sizeof header + header.bytes) return false;
  frame = {header.host, header.channel, header.kind,
           std::string_view(came_).substr(at_ + sizeof header, header.bytes)};
  at_ += sizeof header + header.bytes + 1;
  excuse_silence();
  return true;
}

}  // namespace clump::mpiexec
